// A grammar as automata over bytes that call each other.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"
#include "text/grammar/grammar.h"

namespace mynah::grammar {

using StateId = int32_t;

// States of an automaton, at most, and a quarter of its edges: what an answer's grammar has is
// hundreds to ten thousands.
inline constexpr size_t kMostStates = size_t{1} << 19;

// All rules' states in one table. A rule that is called last is not called: its first state is
// reached by an empty step, and its end is the caller's. Small rules stand where they are called,
// long repeats are halved into rules of their own (X{1000} = X{500} X{500}).
class Automaton {
 public:
  struct ByteEdge {
    uint8_t first = 0;
    uint8_t last = 0;  // included
    StateId target = 0;
  };

  struct Call {
    StateId start = 0;   // of the rule
    StateId target = 0;  // behind it
  };

  // Refused as Unsupported: a rule that begins with itself (by name), more than kMostStates; as
  // InvalidInput: a grammar that no text fits. Requires rules that are all defined and expressions
  // that are nested at most kMostNesting deep.
  [[nodiscard]] static Result<Automaton> compile(const Grammar& grammar);

  [[nodiscard]] size_t size() const { return accepts_.size(); }

  [[nodiscard]] StateId start() const { return 0; }

  // Whether the rule may end here.
  [[nodiscard]] bool accepts(StateId state) const { return accepts_[index(state)] != 0; }

  [[nodiscard]] std::span<const ByteEdge> bytes(StateId state) const {
    return bytes_.of(index(state));
  }

  [[nodiscard]] std::span<const StateId> empties(StateId state) const {
    return empties_.of(index(state));
  }

  // A rule that may be empty is also stepped over by an empty step.
  [[nodiscard]] std::span<const Call> calls(StateId state) const { return calls_.of(index(state)); }

  // Bytes that no edge tells apart are of one class.
  [[nodiscard]] size_t classes() const { return members_.size(); }

  [[nodiscard]] uint8_t class_of(uint8_t byte) const { return class_of_[byte]; }

  // A byte of the class, and how many there are.
  [[nodiscard]] uint8_t member(size_t byte_class) const { return members_[byte_class]; }

  [[nodiscard]] int members(size_t byte_class) const { return counts_[byte_class]; }

  [[nodiscard]] size_t bytes_kept() const;

 private:
  friend class AutomatonBuilder;

  // A list a state, behind each other.
  template <class T>
  struct Lists {
    std::vector<uint32_t> firsts;  // one more than states
    std::vector<T> items;

    [[nodiscard]] std::span<const T> of(size_t state) const {
      return std::span(items).subspan(firsts[state], firsts[state + 1] - firsts[state]);
    }
  };

  static size_t index(StateId state) { return static_cast<size_t>(state); }

  Lists<ByteEdge> bytes_;
  Lists<StateId> empties_;
  Lists<Call> calls_;
  std::vector<uint8_t> accepts_;
  std::array<uint8_t, 256> class_of_{};
  std::vector<uint8_t> members_;
  std::vector<int> counts_;
};

}  // namespace mynah::grammar
