// Splitter: cuts a text into the pieces that a pattern finds, in time linear in the text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "text/tokenizer/code_point_set.h"
#include "text/tokenizer/split_program.h"
#include "text/utf8.h"

namespace mynah {

// A pattern as a table of states by classes of code points (a deterministic automaton; Russ Cox,
// "Regular Expression Matching: the Virtual Machine Approach", on the order of threads).
class Splitter {
 public:
  // read_split_pattern says what patterns there are. InvalidInput for others, and for one that
  // makes more than 10,000 states.
  static Result<Splitter> create(std::string_view pattern, std::string_view skip = "");

  // Calls found(piece) with every match, the leftmost first, and with what lies between two: all
  // pieces joined are the text. A byte that is not UTF-8 counts as U+FFFD. Returns how many code
  // points were looked at, those that were looked at again included.
  template <class Found>
  size_t split(std::string_view text, const Found& found) const {
    size_t steps = 0;
    size_t gap = 0;
    for (size_t at = 0; at < text.size();) {
      const Match match = match_at(text, at);
      steps += match.steps;
      if (match.is_piece) {
        if (gap < at) {
          found(text.substr(gap, at - gap));
        }
        found(text.substr(at, match.end - at));
        gap = match.end;
      }
      at = match.end;
    }
    if (gap < text.size()) {
      found(text.substr(gap));
    }
    return steps;
  }

 private:
  struct Match {
    size_t end = 0;
    bool is_piece = false;
    size_t steps = 0;
  };

  // What a state does before a code point of a class.
  struct Transition {
    uint16_t next = kNowhere;
    bool matches = false;  // what was taken so far is a piece
    bool skips = false;
  };

  static constexpr uint16_t kNowhere = UINT16_MAX;

  explicit Splitter(const SplitProgram& program);

  // The class of the code point at `at`, and its bytes.
  [[nodiscard]] uint8_t class_at(std::string_view text, size_t at, size_t& bytes) const {
    if (static_cast<unsigned char>(text[at]) < 0x80) {
      bytes = 1;
      return classes_.of(static_cast<unsigned char>(text[at]));
    }
    const Utf8Step step = next_code_point(text.substr(at));
    bytes = step.bytes;
    return classes_.of(step.code_point);
  }

  // The match that begins at `at`, or a code point that begins none.
  [[nodiscard]] Match match_at(std::string_view text, size_t at) const {
    Match match;
    uint16_t state = 0;
    size_t bytes = 0;
    for (size_t next = at;; next += bytes) {
      const bool is_end = next == text.size();
      const size_t of_class = is_end ? classes_.size() : class_at(text, next, bytes);
      const Transition& transition = transitions_[state * (classes_.size() + 1) + of_class];
      ++match.steps;
      if (next > at && (transition.matches || transition.skips)) {
        match.end = next;
        match.is_piece = transition.matches;
      } else if (next == at) {
        match.end = at + bytes;
      }
      if (transition.next == kNowhere) {
        return match;
      }
      state = transition.next;
    }
  }

  CodePointClasses classes_;
  std::vector<Transition> transitions_;  // (states, classes_.size() + 1): the last is the end
};

}  // namespace mynah
