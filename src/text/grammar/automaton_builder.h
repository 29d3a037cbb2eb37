// How a grammar becomes an Automaton: internal to it.
#pragma once

#include <map>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "text/grammar/automaton.h"

namespace mynah::grammar {

class AutomatonBuilder {
 public:
  explicit AutomatonBuilder(const Grammar& grammar) : grammar_(grammar) {}

  // Writes the states and edges of every rule.
  [[nodiscard]] Status build();

  // Gives each call of a rule that may be empty an empty step beside it.
  void step_over_empty_rules();

  [[nodiscard]] Status refuse_left_recursion() const;

  // Leaves out what no text ends from.
  [[nodiscard]] Result<Automaton> finish() const;

 private:
  static constexpr StateId kNoCall = -1;

  struct Edge {
    StateId from = 0;
    StateId target = 0;
    StateId start = kNoCall;  // of the rule that is called
    bool empty = false;
    uint8_t first = 0;
    uint8_t last = 0;
  };

  struct Times {
    int32_t count = 0;
    bool at_most = false;  // as few as one likes

    auto operator<=>(const Times&) const = default;
  };

  StateId add_state();
  void add_edge(const Edge& edge);
  void add_empty(StateId from, StateId to);
  void add_byte(StateId from, uint8_t first, uint8_t last, StateId to);
  void add_call(StateId from, StateId start, StateId to);

  // Each writes what leads from one state to the other. No edge leads into `from` or out of `to`
  // that was not asked for.
  void add(ExprId id, StateId from, StateId to);
  void add_literal(std::string_view bytes, StateId from, StateId to);
  void add_characters(const CodePoints& set, StateId from, StateId to);
  void add_sequence(std::span<const ExprId> parts, StateId from, StateId to);
  void add_choice(std::span<const ExprId> parts, StateId from, StateId to);
  void add_repeat(const Grammar::Expr& expr, StateId from, StateId to);
  void add_times(ExprId part, Times times, StateId from, StateId to);
  void write_out(ExprId part, Times times, StateId from, StateId to);
  void add_rule(RuleId rule, StateId from, StateId to);

  // The first state of a rule of its own for `part` so many times.
  StateId times_rule(ExprId part, Times times);

  // What a call of a rule that is not written where it is called means for a budget.
  enum class Calls : uint8_t {
    Cost,   // a state
    Refuse  // more than there is
  };

  // What is left of a budget of states when an expression has been written; below 0: it does not
  // fit. Takes as many steps as there are states in the budget.
  [[nodiscard]] int64_t left_of(int64_t budget, ExprId id, Calls calls) const;
  [[nodiscard]] bool fits(ExprId part, int64_t times, int64_t budget) const;

  [[nodiscard]] bool is_rule_end(StateId state) const {
    return accepts_[static_cast<size_t>(state)] != 0;
  }

  // States from which a rule's end is reached; where `by_bytes` is false, without a byte.
  [[nodiscard]] std::vector<uint8_t> states_that_end(bool by_bytes) const;
  // Of the graph of empty steps and calls' beginnings: the number of each state's component.
  [[nodiscard]] std::vector<int32_t> components_without_bytes() const;

  const Grammar& grammar_;
  std::vector<uint8_t> accepts_;
  std::vector<Edge> edges_;
  std::map<std::pair<ExprId, Times>, StateId> times_rules_;
  std::vector<bool> is_inline_;  // of each rule: it is written where it is called
  bool too_big_ = false;
};

}  // namespace mynah::grammar
