#include "server/chat/sampling_fields.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace mynah::server {
namespace {

constexpr size_t kMostStops = 16;

uint64_t new_seed() {
  constexpr unsigned kHalf = 32;
  std::random_device random;
  return uint64_t{random()} << kHalf | random();
}

std::expected<std::vector<std::string>, FieldError> read_stops(const FieldValues& values) {
  std::vector<std::string> stops;
  const auto* const stop = values.find("stop");
  if (stop == nullptr) {
    return stops;
  }
  const auto wrong = [stop] {
    return wrong_field("stop", fmt::format("stop: wanted a text, or a list of {} at most, found {}",
                                           kMostStops, shortened(*stop)));
  };
  if (stop->is_string()) {
    stops.push_back(stop->get<std::string>());
    return stops;
  }
  if (!stop->is_array() || stop->size() > kMostStops) {
    return wrong();
  }
  for (const auto& one : *stop) {
    if (!one.is_string()) {
      return wrong();
    }
    stops.push_back(one.get<std::string>());
  }
  return stops;
}

}  // namespace

std::expected<ReplyChoice, FieldError> read_choice(const FieldValues& values) {
  ReplyChoice choice;
  const auto number = [&values](std::string_view name, float initial) {
    return static_cast<float>(values.number(name, initial));
  };
  choice.sampling = {.temperature = number("temperature", 0.7F),
                     .top_k = std::max(0, static_cast<int>(values.number("top_k", 40))),
                     .typical_p = number("typical_p", 1),
                     .top_p = number("top_p", 0.95F),
                     .min_p = number("min_p", 0.05F),
                     .repetition_penalty = number("repeat_penalty", 1),
                     .presence_penalty = number("presence_penalty", 0),
                     .frequency_penalty = number("frequency_penalty", 0),
                     .no_repeat_ngram_size = 0};
  constexpr double kUsual = 64;
  const auto remembered = static_cast<int64_t>(values.number("repeat_last_n", kUsual));
  choice.remembered = remembered < 0 ? std::numeric_limits<int64_t>::max() : remembered;
  const auto* const seed = values.find("seed");
  // As llama.cpp has it: -1 is none.
  choice.seed = seed == nullptr || *seed == -1 ? new_seed()
                : seed->is_number_integer()
                    ? seed->get<uint64_t>()
                    : static_cast<uint64_t>(static_cast<int64_t>(seed->get<double>()));
  MYNAH_TRY(choice.stops, read_stops(values));
  return choice;
}

}  // namespace mynah::server
