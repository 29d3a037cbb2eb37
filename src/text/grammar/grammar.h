// The one form in which every constraint is held: a context-free grammar over bytes of UTF-8.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "text/grammar/code_points.h"

namespace mynah::grammar {

// Indices into the grammar that made them.
using ExprId = int32_t;
using RuleId = int32_t;

// Of a repeat: as often as one likes.
inline constexpr int32_t kUnbounded = -1;

// A bound of a repeat, at most.
inline constexpr int32_t kMostRepeats = 1'000'000;

// Expressions inside each other, at most, so that no reader or compiler runs out of stack.
inline constexpr int kMostNesting = 200;

// Rules that are named, and expressions that they are made of. Grows only; an expression may stand
// in several others. Rule 0 is the start.
class Grammar {
 public:
  enum class Kind : uint8_t {
    Literal,     // bytes, in their order; none: the empty text
    Characters,  // one code point of a set, in UTF-8
    Sequence,    // parts behind each other
    Choice,      // one of the parts; none: no text at all
    Repeat,      // the part, min to max times
    Rule         // what the rule says
  };

  struct Expr {
    Kind kind = Kind::Literal;
    int32_t first = 0;  // Literal: of bytes(); Sequence, Choice, Repeat: of parts(); Characters: of
                        // sets(); Rule: its id
    int32_t count = 0;  // Literal: bytes; Sequence, Choice, Repeat: parts
    int32_t min = 0;    // Repeat
    int32_t max = 0;    // Repeat: at least min, or kUnbounded
  };

  struct Rule {
    std::string name;
    ExprId expr = -1;  // -1: not defined yet
  };

  [[nodiscard]] ExprId literal(std::string_view bytes);
  [[nodiscard]] ExprId characters(const CodePoints& set);
  [[nodiscard]] ExprId sequence(std::span<const ExprId> parts);
  [[nodiscard]] ExprId choice(std::span<const ExprId> parts);
  // Requires 0 <= min, and min <= max or max == kUnbounded.
  [[nodiscard]] ExprId repeat(ExprId part, int32_t min, int32_t max);

  [[nodiscard]] ExprId optional(ExprId part) { return repeat(part, 0, 1); }

  [[nodiscard]] ExprId rule(RuleId id);

  // What another grammar takes: its rules become rules of this one.
  [[nodiscard]] ExprId include(const Grammar& other);

  // A rule to be defined later; the first one is the start.
  [[nodiscard]] RuleId add_rule(std::string name);
  void define(RuleId id, ExprId expr);

  [[nodiscard]] std::span<const Rule> rules() const { return rules_; }

  [[nodiscard]] std::span<const Expr> exprs() const { return exprs_; }

  [[nodiscard]] const Expr& expr(ExprId id) const { return exprs_[static_cast<size_t>(id)]; }

  // Of a Sequence, a Choice or a Repeat.
  [[nodiscard]] std::span<const ExprId> parts(const Expr& expr) const;
  // Of a Literal.
  [[nodiscard]] std::string_view bytes(const Expr& expr) const;
  // Of Characters.
  [[nodiscard]] const CodePoints& set(const Expr& expr) const;

 private:
  [[nodiscard]] ExprId add(const Expr& expr);
  [[nodiscard]] ExprId add_parts(Kind kind, std::span<const ExprId> parts);

  std::vector<Rule> rules_;
  std::vector<Expr> exprs_;
  std::vector<ExprId> parts_;
  std::vector<CodePoints> sets_;
  std::string bytes_;
};

// One of these texts, whole.
[[nodiscard]] Grammar grammar_of_choices(std::span<const std::string> choices);

}  // namespace mynah::grammar
