// What it costs that a reply keeps to a form.
#pragma once

#include <memory>
#include <string>

#include <nlohmann/json.hpp>

#include "base/result.h"
#include "chat/language_model.h"

namespace mynah::bench {

// The time of a token, of that of a plain one behind a prompt as long, in replies that keep to a
// schema, to JSON, to an expression, or to a tool's schema in a call: of one text and of eight side
// by side; of a form that is new (its masks are made meanwhile) and of one that was used before;
// without guesses, so that tokens are compared and not texts, and with them. Medians of `rounds`.
// `path`: the model's file, for its words.
[[nodiscard]] Result<nlohmann::ordered_json> measure_constraint(
    const std::string& path, const std::shared_ptr<const LanguageModel>& model, int rounds);

}  // namespace mynah::bench
