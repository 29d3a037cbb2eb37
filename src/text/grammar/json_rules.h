// JSON's own rules, within a grammar.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "text/grammar/grammar.h"

namespace mynah::grammar {

// A number that a value may not pass.
struct NumberBound {
  int64_t value = 0;
  bool is_exclusive = false;
};

struct NumberBounds {
  std::optional<NumberBound> low;
  std::optional<NumberBound> high;

  // Whether no whole number lies between; or no number at all.
  [[nodiscard]] bool have_no_integer() const;
  [[nodiscard]] bool have_no_number() const;
};

// Expressions of JSON texts, each made once and shared. What is free is bounded: white space is
// a blank, or a line break with at most kMostIndent blanks, or nothing; of digits there are at most
// those below.
class JsonRules {
 public:
  static constexpr int kMostIndent = 32;
  // Those of 2^64, of a double written in full (repr: 17, and 4 zeros in front), and of its
  // exponent.
  static constexpr int kMostWholeDigits = 20;
  static constexpr int kMostFractionDigits = 24;
  static constexpr int kMostExponentDigits = 3;

  explicit JsonRules(Grammar& grammar) : grammar_(grammar) {}

  [[nodiscard]] ExprId space();
  [[nodiscard]] ExprId value();
  [[nodiscard]] ExprId object();
  [[nodiscard]] ExprId array();
  [[nodiscard]] ExprId number();
  [[nodiscard]] ExprId integer();
  // Of so many code points; `max` may be kUnbounded.
  [[nodiscard]] ExprId string(int32_t min = 0, int32_t max = kUnbounded);

  // No text where nothing lies between the bounds.
  [[nodiscard]] ExprId integer(const NumberBounds& bounds);
  // The same, without an exponent.
  [[nodiscard]] ExprId number(const NumberBounds& bounds);

  // A character of a set as a JSON string has it: itself, by its escape of two characters, or, of
  // what is not printable ASCII, as \uXXXX. So json.dumps writes it, with ensure_ascii or without.
  [[nodiscard]] ExprId spelled(const CodePoints& set);

  // A string of these characters.
  [[nodiscard]] ExprId text(std::string_view utf8);
  // Exactly this value, with white space as it is everywhere.
  [[nodiscard]] ExprId constant(const nlohmann::ordered_json& value);
  // Any string that is none of these.
  [[nodiscard]] ExprId text_except(std::span<const std::string> names);

  // What stands between the quotes.
  [[nodiscard]] ExprId quoted(ExprId inner);
  // "KEY": VALUE, as texts and objects have them.
  [[nodiscard]] ExprId member(ExprId key, ExprId value);
  // "," and white space, then the item.
  [[nodiscard]] ExprId comma_then(ExprId item);
  // From a bracket to the other: the item so many times; `max` may be kUnbounded.
  [[nodiscard]] ExprId list(std::string_view open, ExprId item, std::string_view close, int32_t min,
                            int32_t max);

  [[nodiscard]] ExprId sequence(std::initializer_list<ExprId> parts) {
    return grammar_.sequence(std::span(parts.begin(), parts.size()));
  }

  [[nodiscard]] ExprId choice(std::initializer_list<ExprId> parts) {
    return grammar_.choice(std::span(parts.begin(), parts.size()));
  }

 private:
  // A rule of that name, made by `expression` the first time.
  template <class Expression>
  [[nodiscard]] ExprId shared(const std::string& name, Expression expression);

  [[nodiscard]] ExprId characters(std::string_view set);
  [[nodiscard]] ExprId string_character();
  [[nodiscard]] ExprId hex_range(char32_t first, char32_t last);
  [[nodiscard]] ExprId surrogate_range(char32_t first, char32_t last);

  // Numbers without a sign.
  struct Magnitudes {
    uint64_t low = 0;
    std::optional<uint64_t> high = std::nullopt;
    bool is_low_exclusive = false;
    bool is_high_exclusive = false;
    bool has_fraction = false;
  };

  [[nodiscard]] ExprId magnitudes(const Magnitudes& range);
  [[nodiscard]] ExprId signed_range(const NumberBounds& bounds, bool has_fraction);

  Grammar& grammar_;
  std::map<std::string, RuleId> rules_;
  ExprId space_ = -1;
};

}  // namespace mynah::grammar
