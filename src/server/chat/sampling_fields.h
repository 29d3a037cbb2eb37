// How the tokens of a reply are chosen, as clients say it: the fields that OpenAI's API, llama.cpp
// and ollama have the same names for.
#pragma once

#include <array>
#include <cstddef>
#include <expected>
#include <string_view>

#include "chat/chat_request.h"
#include "chat/choice_ranges.h"
#include "server/http/fields.h"

namespace mynah::server {

inline constexpr std::array<Field, 11> kSamplingFields = {
    {{.name = "temperature",
      .type = FieldType::Number,
      .help = "0.7: how freely words are chosen; 0: always the likeliest.",
      .least = choice::kTemperature.least,
      .most = choice::kTemperature.most},
     {.name = "top_k",
      .type = FieldType::Whole,
      .help = "40: of so many likeliest alone; 0 and -1: of all.",
      .least = choice::kTopK.least,
      .most = choice::kTopK.most},
     {.name = "top_p",
      .type = FieldType::Number,
      .help = "0.95: of the fewest that are together as likely as this; 1: of all.",
      .least = choice::kShare.least,
      .most = choice::kShare.most},
     {.name = "min_p",
      .type = FieldType::Number,
      .help = "0.05: none less likely than this share of the likeliest.",
      .least = choice::kShare.least,
      .most = choice::kShare.most},
     {.name = "typical_p",
      .type = FieldType::Number,
      .help = "1: of those whose surprise is the usual one (locally typical sampling).",
      .least = choice::kShare.least,
      .most = choice::kShare.most},
     {.name = "repeat_penalty",
      .type = FieldType::Number,
      .help = "1: how much less likely what was said becomes.",
      .least = choice::kRepeatPenalty.least,
      .most = choice::kRepeatPenalty.most},
     {.name = "repeat_last_n",
      .type = FieldType::Whole,
      .help = "64: tokens of the prompt that penalties are for, too; -1: all of it.",
      .least = -1,
      .most = 1e6},
     {.name = "presence_penalty",
      .type = FieldType::Number,
      .help = "0: taken off what was said at all.",
      .least = choice::kSaidPenalty.least,
      .most = choice::kSaidPenalty.most},
     {.name = "frequency_penalty",
      .type = FieldType::Number,
      .help = "0: taken off what was said, each time.",
      .least = choice::kSaidPenalty.least,
      .most = choice::kSaidPenalty.most},
     {.name = "seed",
      .type = FieldType::Whole,
      .help = "Same seed, same text; none and -1: another each time.",
      .least = -9e18,
      .most = 9e18},
     {.name = "stop",
      .type = FieldType::Any,
      .help = "A text, or a list of 16 at most: the reply ends before it."}}};

inline constexpr double kMostTokens = choice::kTokens.most;

// A field that is understood, and does nothing here.
constexpr Field ignored_field(std::string_view name) {
  return {.name = name, .type = FieldType::Any, .help = "Ignored.", .ignored = true};
}

// One table behind the other.
template <size_t A, size_t B>
constexpr std::array<Field, A + B> joined(const std::array<Field, A>& first,
                                          const std::array<Field, B>& second) {
  std::array<Field, A + B> all{};
  for (size_t i = 0; i < A; ++i) {
    all[i] = first[i];
  }
  for (size_t i = 0; i < B; ++i) {
    all[A + i] = second[i];
  }
  return all;
}

// What stands in a table with kSamplingFields among its fields; what does not is as mynah's own
// chat has it, and the seed a new one.
[[nodiscard]] std::expected<ReplyChoice, FieldError> read_choice(const FieldValues& values);

}  // namespace mynah::server
