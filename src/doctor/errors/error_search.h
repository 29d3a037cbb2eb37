// Where a text shows which known errors.
#pragma once

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "doctor/errors/patterns.h"
#include "doctor/knowledge/knowledge.h"

namespace mynah::doctor {

// A place of a text that shows an error.
struct Hit {
  static constexpr size_t kLibrary = SIZE_MAX;  // no known error, but a missing library of CUDA

  size_t begin = 0;
  size_t end = 0;
  size_t error = 0;   // index in Knowledge::errors, or kLibrary
  size_t weight = 0;  // bytes that were spelled out
  Captures captures;
};

// All patterns of a knowledge base, found in one pass over a text.
class ErrorSearch {
 public:
  explicit ErrorSearch(const Knowledge& knowledge);

  // Calls found(hit) for each place in the order of the text. Where places overlap, the one that
  // spells out most is called, and no other. The text is as plain_log makes it.
  template <class Found>
  void run(std::string_view text, const Found& found) const {
    Hit pending;
    uint32_t key = 0;
    for (size_t i = 0; i < text.size(); ++i) {
      key = key << 8U | static_cast<unsigned char>(folded(text[i]));
      if (i + 1 < kKeyBytes || !known_.test(slot(key))) {
        continue;
      }
      if (Hit hit = best_at(text, i + 1 - kKeyBytes, key); hit.weight > 0) {
        if (pending.weight > 0 && hit.begin >= pending.end) {
          found(pending);
          pending = {};
        }
        if (hit.weight > pending.weight) {
          pending = std::move(hit);
        }
      }
    }
    if (pending.weight > 0) {
      found(pending);
    }
  }

 private:
  struct Entry {
    Pattern pattern;
    size_t error;
  };

  static constexpr size_t kKeyBytes = 4;
  static constexpr size_t kSlotBits = 14;

  [[nodiscard]] static size_t slot(uint32_t key) { return (key * 2654435761U) >> (32 - kSlotBits); }

  void add(Pattern pattern, size_t error);

  // The heaviest hit whose first four bytes are at `at`; of weight 0 where there is none.
  [[nodiscard]] Hit best_at(std::string_view text, size_t at, uint32_t key) const;

  std::unordered_set<std::string> sonames_;  // of CUDA's libraries
  std::vector<Entry> entries_;
  std::unordered_map<uint32_t, std::vector<size_t>> by_key_;  // by the first four bytes
  std::bitset<size_t{1} << kSlotBits> known_;                 // slots of keys that are in by_key_
};

}  // namespace mynah::doctor
