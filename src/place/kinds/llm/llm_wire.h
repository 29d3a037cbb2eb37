// What passes between mynah and a worker of a language model: its fields, and which answers are
// possible.
#pragma once

#include <vector>

#include "chat/language_model.h"
#include "place/wire/wire_types.h"

namespace mynah::place {

// A field that is added to one of these structs must be added here: a test counts them.
template <class Archive>
void wire(Archive& a, LanguageFile& v) {
  a(v.path, v.precision, v.cache_folder, v.context, v.least_context, v.lower_layers);
}

template <class Archive>
void wire(Archive& a, LanguageFacts& v) {
  a(v.architecture, v.vocabulary, v.trained_context, v.context, v.position_bytes, v.rewinds,
    v.window, v.window_bytes, v.state_bytes);
}

template <class Archive>
void wire(Archive& a, TokenPenalty& v) {
  a(v.token, v.factor, v.offset, v.bias);
}

template <class Archive>
void wire(Archive& a, TokenWish& v) {
  a(v.temperature, v.uniform, v.top_k, v.top_p, v.min_p, v.typical_p, v.penalties, v.allowed,
    v.alternatives);
}

template <class Archive>
void wire(Archive& a, TextStep& v) {
  a(v.text, v.begin, v.tokens, v.wishes);
}

template <class Archive>
void wire(Archive& a, TextFork& v) {
  a(v.from, v.to, v.length);
}

template <class Archive>
void wire(Archive& a, StepRequest& v) {
  a(v.forks, v.forgotten, v.steps);
}

template <class Archive>
void wire(Archive& a, LikelyToken& v) {
  a(v.token, v.log_probability);
}

template <class Archive>
void wire(Archive& a, ChosenToken& v) {
  a(v.token, v.log_probability, v.alternatives);
}

[[nodiscard]] bool is_possible(const LanguageFacts& facts);

// Tokens that the model has, where they were asked for.
[[nodiscard]] bool is_possible(const std::vector<ChosenToken>& chosen, const StepRequest& request,
                               const LanguageFacts& facts);

}  // namespace mynah::place
