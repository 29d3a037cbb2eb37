// Facts for the doctor's actions: gathered, or written down.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/verb.h"
#include "doctor/facts.h"
#include "doctor/gather.h"
#include "doctor/knowledge/knowledge.h"

namespace mynah::cli {

// Of places, or of this machine where there are none. Where this machine shows a card, what its
// driver says of it is among them, unless another machine is meant.
[[nodiscard]] Result<doctor::Facts> gathered_facts(
    Context& context, const std::vector<std::string>& places, const doctor::Knowledge& knowledge,
    std::optional<doctor::OtherMachine> other = std::nullopt);

// As --facts wrote them; "-": from standard input.
[[nodiscard]] Result<doctor::Facts> written_facts(Context& context, const std::string& file);

}  // namespace mynah::cli
