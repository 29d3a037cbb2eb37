// Text that every JSON string takes as it is, so that most of a vocabulary needs no walk there.
#pragma once

#include <cstdint>
#include <string_view>
#include <unordered_map>

#include "text/grammar/configs.h"

namespace mynah::grammar {

// Bytes of a plain token, at most: longer ones are few.
inline constexpr size_t kMostPlainBytes = 16;

// Whether it is whole UTF-8 without quotes, backslashes and control characters (below U+0020, and
// U+007F), and no longer than kMostPlainBytes.
[[nodiscard]] bool is_plain(std::string_view bytes);

// Whether configs take every plain text.
class PlainText {
 public:
  // False also where there is no work left to find out. Requires one `configs` for all calls.
  [[nodiscard]] bool is_taken(Configs& configs, const Automaton& automaton, ConfigId config) {
    return is_taken(configs, automaton, config, 0, kMostPlainBytes);
  }

  [[nodiscard]] size_t bytes_kept() const;

 private:
  // `inside`: how the code point that has been begun goes on (plain_text.cpp).
  [[nodiscard]] bool is_taken(Configs& configs, const Automaton& automaton, ConfigId config,
                              uint32_t inside, size_t bytes);

  // Bytes that are known to be taken, by config and place in a code point.
  std::unordered_map<uint64_t, size_t> taken_;
};

}  // namespace mynah::grammar
