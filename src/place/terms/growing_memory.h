// GrowingMemory: what a model needs where it computes beside what a proof measured there, since it
// grows with what is asked of it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "chat/language_model.h"

namespace mynah::place {

// Of a language model it grows with the tokens of texts.
struct GrowingMemory {
  uint64_t work_bytes = 0;        // of the largest piece of work, beside a probe's
  uint64_t unmeasured_bytes = 0;  // of all that does not grow, where nobody measured it
  uint64_t unit_bytes = 0;        // of each unit: a token
  uint64_t first_unit_bytes = 0;  // of each of the first units besides
  int64_t first_units = 0;
  // Units that there is to be room for, the most wanted first: what comes later is taken where
  // memory does not suffice for that. One at least.
  std::vector<int64_t> units;

  [[nodiscard]] bool grows() const { return unit_bytes > 0 || first_unit_bytes > 0; }

  // Of that many units.
  [[nodiscard]] uint64_t grown_bytes(int64_t count) const {
    return unit_bytes * static_cast<uint64_t>(count) +
           first_unit_bytes * static_cast<uint64_t>(std::min(count, first_units));
  }

  // How many units so many bytes have room for, `most` at most.
  [[nodiscard]] int64_t units_in(uint64_t bytes, int64_t most) const {
    const auto in = [](uint64_t room, uint64_t each, int64_t at_most) {
      const auto limit = static_cast<uint64_t>(at_most);
      return static_cast<int64_t>(each > 0 ? std::min(room / each, limit) : limit);
    };
    const int64_t first = std::min(first_units, most);
    const int64_t found = in(bytes, unit_bytes + first_unit_bytes, first);
    return found < first ? found : found + in(bytes - grown_bytes(first), unit_bytes, most - first);
  }

  bool operator==(const GrowingMemory&) const = default;
};

// Of a language model with room for so many tokens of all its texts, the most wanted first.
[[nodiscard]] inline GrowingMemory memory_of_texts(const LanguageMemory& memory,
                                                   std::vector<int64_t> tokens) {
  // Of four texts that rest at least, of one that is written and of one that is copied
  // (GenerationQueue::Limits::kept_state_bytes).
  constexpr uint64_t kStates = 6;
  const uint64_t work =
      static_cast<uint64_t>(kPromptPiece) * memory.token_bytes + kStates * memory.state_bytes;
  return {.work_bytes = work,
          .unmeasured_bytes = memory.weight_bytes + work,
          // While pages grow those that were there stay until they are copied: half of all
          // (KvCache).
          .unit_bytes = memory.position_bytes + memory.position_bytes / 2,
          .first_unit_bytes = memory.window_bytes + memory.window_bytes / 2,
          .first_units = memory.window_positions,
          .units = std::move(tokens)};
}

}  // namespace mynah::place
