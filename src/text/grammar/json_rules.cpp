#include "text/grammar/json_rules.h"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "text/grammar/digit_ranges.h"
#include "text/utf8.h"

namespace mynah::grammar {
namespace {

// RFC 8259, section 7: what has to be escaped, and the escapes of two characters.
constexpr std::u32string_view kEscaped = U"\"\\\b\f\n\r\t";
constexpr std::string_view kEscapes = "\"\\bfnrt";
constexpr char32_t kLastControl = 0x1F;

CodePoints range(char32_t first, char32_t last) {
  const CodePointRange one = {first, last};
  return CodePoints(std::span(&one, 1));
}

// What may stand in a string as it is.
CodePoints unescaped() {
  return range(kLastControl + 1, kLastCodePoint)
      .without(CodePoints::one(U'"').united(CodePoints::one(U'\\')));
}

bool is_plain_ascii(char32_t c) {
  return c >= 0x20 && c < 0x7F && c != U'"' && c != U'\\';
}

// Size of a number without its sign. std::abs has no value for the least one.
uint64_t magnitude(int64_t value) {
  return value < 0 ? uint64_t{0} - static_cast<uint64_t>(value) : static_cast<uint64_t>(value);
}

}  // namespace

bool NumberBounds::have_no_integer() const {
  if (!low || !high) {
    return false;
  }
  if ((low->is_exclusive && low->value == std::numeric_limits<int64_t>::max()) ||
      (high->is_exclusive && high->value == std::numeric_limits<int64_t>::min())) {
    return true;
  }
  return low->value + (low->is_exclusive ? 1 : 0) > high->value - (high->is_exclusive ? 1 : 0);
}

bool NumberBounds::have_no_number() const {
  return low && high &&
         (low->value > high->value ||
          (low->value == high->value && (low->is_exclusive || high->is_exclusive)));
}

template <class Expression>
ExprId JsonRules::shared(const std::string& name, Expression expression) {
  const auto [place, is_new] = rules_.try_emplace(name, 0);
  if (is_new) {
    const RuleId id = grammar_.add_rule(name);
    place->second = id;
    grammar_.define(id, expression());
    return grammar_.rule(id);
  }
  return grammar_.rule(place->second);
}

ExprId JsonRules::characters(std::string_view set) {
  CodePoints points;
  for (const char c : set) {
    points = points.united(CodePoints::one(static_cast<unsigned char>(c)));
  }
  return grammar_.characters(points);
}

ExprId JsonRules::space() {
  if (space_ < 0) {
    const ExprId indent = grammar_.repeat(characters(" \t"), 0, kMostIndent);
    space_ = grammar_.optional(
        choice({grammar_.literal(" "), sequence({grammar_.literal("\n"), indent})}));
  }
  return space_;
}

ExprId JsonRules::quoted(ExprId inner) {
  return sequence({grammar_.literal("\""), inner, grammar_.literal("\"")});
}

ExprId JsonRules::member(ExprId key, ExprId value) {
  return sequence({key, grammar_.literal(":"), space(), value});
}

ExprId JsonRules::comma_then(ExprId item) {
  return sequence({grammar_.literal(","), space(), item});
}

ExprId JsonRules::list(std::string_view open, ExprId item, std::string_view close, int32_t min,
                       int32_t max) {
  ExprId items = grammar_.literal("");
  if (max != 0) {
    items = sequence({item,
                      grammar_.repeat(comma_then(item), std::max(min - 1, 0),
                                      max == kUnbounded ? kUnbounded : max - 1),
                      space()});
    items = min == 0 ? grammar_.optional(items) : items;
  }
  return sequence({grammar_.literal(open), space(), items, grammar_.literal(close)});
}

ExprId JsonRules::value() {
  return shared("value", [&] {
    return choice({object(), array(), string(), number(), grammar_.literal("true"),
                   grammar_.literal("false"), grammar_.literal("null")});
  });
}

ExprId JsonRules::object() {
  return shared("object", [&] { return list("{", member(string(), value()), "}", 0, kUnbounded); });
}

ExprId JsonRules::array() {
  return shared("array", [&] { return list("[", value(), "]", 0, kUnbounded); });
}

ExprId JsonRules::string_character() {
  const ExprId hex = characters("0123456789abcdefABCDEF");
  // A surrogate comes with its other half or not at all: alone it is no text.
  const ExprId unit = choice({sequence({characters("0123456789abcefABCEF"), hex}),
                              sequence({characters("dD"), characters("01234567")})});
  const ExprId pair = sequence({characters("dD"), characters("89abAB"), hex, hex,
                                grammar_.literal("\\u"), characters("dD"), characters("cdefCDEF")});
  const ExprId coded = sequence({grammar_.literal("u"), choice({unit, pair}), hex, hex});
  const ExprId escape =
      sequence({grammar_.literal("\\"), choice({characters("\"\\/bfnrt"), coded})});
  return choice({grammar_.characters(unescaped()), escape});
}

ExprId JsonRules::string(int32_t min, int32_t max) {
  const std::string name = min == 0 && max == kUnbounded ? "string"
                           : max == kUnbounded           ? fmt::format("string{{{},}}", min)
                                                         : fmt::format("string{{{},{}}}", min, max);
  return shared(name, [&] { return quoted(grammar_.repeat(string_character(), min, max)); });
}

ExprId JsonRules::integer() {
  return shared("integer", [&] { return integer(NumberBounds()); });
}

ExprId JsonRules::number() {
  return shared("number", [&] {
    const ExprId digit = characters("0123456789");
    const ExprId fraction =
        sequence({grammar_.literal("."), grammar_.repeat(digit, 1, kMostFractionDigits)});
    const ExprId exponent = sequence({characters("eE"), grammar_.optional(characters("+-")),
                                      grammar_.repeat(digit, 1, kMostExponentDigits)});
    return sequence({grammar_.optional(grammar_.literal("-")),
                     decimals_from(grammar_, 0, kMostWholeDigits), grammar_.optional(fraction),
                     grammar_.optional(exponent)});
  });
}

ExprId JsonRules::integer(const NumberBounds& bounds) {
  return signed_range(bounds, false);
}

ExprId JsonRules::number(const NumberBounds& bounds) {
  return signed_range(bounds, true);
}

// Each sign is a range of magnitudes; 0 stands with the positive ones.
ExprId JsonRules::signed_range(const NumberBounds& bounds, bool has_fraction) {
  std::vector<ExprId> parts;
  if (!bounds.high || bounds.high->value >= 0) {
    Magnitudes range = {.has_fraction = has_fraction};
    if (bounds.low && bounds.low->value >= 0) {
      range.low = magnitude(bounds.low->value);
      range.is_low_exclusive = bounds.low->is_exclusive;
    }
    if (bounds.high) {
      range.high = magnitude(bounds.high->value);
      range.is_high_exclusive = bounds.high->is_exclusive;
    }
    parts.push_back(magnitudes(range));
  }
  if (!bounds.low || bounds.low->value < 0) {
    Magnitudes range = {.is_low_exclusive = true, .has_fraction = has_fraction};
    if (bounds.high && bounds.high->value < 0) {
      range.low = magnitude(bounds.high->value);
      range.is_low_exclusive = bounds.high->is_exclusive;
    }
    if (bounds.low) {
      range.high = magnitude(bounds.low->value);
      range.is_high_exclusive = bounds.low->is_exclusive;
    }
    parts.push_back(sequence({grammar_.literal("-"), magnitudes(range)}));
  }
  return grammar_.choice(parts);
}

ExprId JsonRules::magnitudes(const Magnitudes& range) {
  std::vector<ExprId> parts;
  const ExprId digit = characters("0123456789");
  const ExprId point = grammar_.literal(".");
  const ExprId zeros = grammar_.repeat(grammar_.literal("0"), 0, kMostFractionDigits - 1);
  const bool may_have_low = !range.high || range.low < *range.high;
  uint64_t first = range.low;
  if (range.is_low_exclusive) {
    if (range.has_fraction && may_have_low) {
      parts.push_back(
          sequence({decimal_range(grammar_, first, first), point, zeros, characters("123456789"),
                    grammar_.repeat(digit, 0, kMostFractionDigits - 1)}));
    }
    ++first;
  }
  // Those below the high bound, with any fraction.
  const ExprId fraction =
      range.has_fraction
          ? grammar_.optional(sequence({point, grammar_.repeat(digit, 1, kMostFractionDigits)}))
          : grammar_.literal("");
  if (!range.high) {
    parts.push_back(sequence({decimals_from(grammar_, first, kMostWholeDigits), fraction}));
  } else if (first < *range.high) {
    parts.push_back(sequence({decimal_range(grammar_, first, *range.high - 1), fraction}));
  }
  if (range.high && !range.is_high_exclusive && first <= *range.high) {
    const ExprId nothing_more =
        range.has_fraction ? grammar_.optional(sequence({point, grammar_.literal("0"), zeros}))
                           : grammar_.literal("");
    parts.push_back(sequence({decimal_range(grammar_, *range.high, *range.high), nothing_more}));
  }
  return grammar_.choice(parts);
}

ExprId JsonRules::hex_range(char32_t first, char32_t last) {
  return sequence(
      {grammar_.literal("\\u"), digit_range(grammar_, first, last, {.base = 16, .count = 4})});
}

// RFC 2781, section 2.1: a code point from U+10000 on as two units with 10 bits each.
ExprId JsonRules::surrogate_range(char32_t first, char32_t last) {
  constexpr char32_t kFirst = 0x10000;
  constexpr char32_t kLeading = 0xD800;
  constexpr char32_t kTrailing = 0xDC00;
  constexpr char32_t kUnits = 0x400;
  std::vector<ExprId> parts;
  const auto add = [&](char32_t from, char32_t to, char32_t low, char32_t high) {
    parts.push_back(sequence(
        {hex_range(kLeading + from, kLeading + to), hex_range(kTrailing + low, kTrailing + high)}));
  };
  char32_t from = (first - kFirst) / kUnits;
  char32_t to = (last - kFirst) / kUnits;
  const char32_t low = (first - kFirst) % kUnits;
  const char32_t high = (last - kFirst) % kUnits;
  if (from == to) {
    add(from, to, low, high);
    return parts.front();
  }
  if (low != 0) {
    add(from, from, low, kUnits - 1);
    ++from;
  }
  if (high != kUnits - 1) {
    add(to, to, 0, high);
    --to;
  }
  if (from <= to) {
    add(from, to, 0, kUnits - 1);
  }
  return grammar_.choice(parts);
}

ExprId JsonRules::spelled(const CodePoints& set) {
  std::vector<ExprId> parts = {grammar_.characters(set.common(unescaped()))};
  for (size_t i = 0; i < kEscaped.size(); ++i) {
    if (set.contains(kEscaped[i])) {
      parts.push_back(grammar_.literal(std::string("\\") + kEscapes[i]));
    }
  }
  const CodePoints coded = set.without(range(kLastControl + 1, 0x7E));
  for (const CodePointRange one : coded.ranges()) {
    constexpr char32_t kLastOfUnit = 0xFFFF;
    constexpr char32_t kFirstOfPairs = 0x10000;
    if (one.first <= kLastOfUnit) {
      parts.push_back(hex_range(one.first, std::min(one.last, kLastOfUnit)));
    }
    if (one.last > kLastOfUnit) {
      parts.push_back(surrogate_range(std::max(one.first, kFirstOfPairs), one.last));
    }
  }
  return grammar_.choice(parts);
}

ExprId JsonRules::text(std::string_view utf8) {
  std::vector<ExprId> parts;
  std::string plain = "\"";
  for (const char32_t c : to_code_points(utf8)) {
    if (is_plain_ascii(c)) {
      plain.push_back(static_cast<char>(c));
    } else {
      parts.push_back(grammar_.literal(plain));
      parts.push_back(spelled(CodePoints::one(c)));
      plain.clear();
    }
  }
  parts.push_back(grammar_.literal(plain + "\""));
  return grammar_.sequence(parts);
}

ExprId JsonRules::constant(const nlohmann::ordered_json& value) {
  if (value.is_string()) {
    return text(value.get_ref<const std::string&>());
  }
  if (!value.is_structured()) {
    return grammar_.literal(value.dump());
  }
  std::vector<ExprId> parts = {grammar_.literal(value.is_object() ? "{" : "["), space()};
  bool is_first = true;
  for (const auto& [key, item] : value.items()) {
    const ExprId made = value.is_object() ? member(text(key), constant(item)) : constant(item);
    parts.push_back(is_first ? made : comma_then(made));
    is_first = false;
  }
  if (!is_first) {
    parts.push_back(space());
  }
  parts.push_back(grammar_.literal(value.is_object() ? "}" : "]"));
  return grammar_.sequence(parts);
}

ExprId JsonRules::text_except(std::span<const std::string> names) {
  struct Node {
    std::map<char32_t, size_t> next;
    bool is_name = false;
  };

  std::vector<Node> nodes(1);
  for (const std::string& name : names) {
    size_t at = 0;
    for (const char32_t c : to_code_points(name)) {
      const auto [place, is_new] = nodes[at].next.try_emplace(c, nodes.size());
      at = place->second;
      if (is_new) {
        nodes.emplace_back();
      }
    }
    nodes[at].is_name = true;
  }
  const ExprId end = grammar_.literal("\"");
  const ExprId rest = shared("rest-of-key", [&] {
    return sequence({grammar_.repeat(spelled(CodePoints::all()), 0, kUnbounded), end});
  });
  std::vector<RuleId> rules;
  rules.reserve(nodes.size());
  for (size_t i = 0; i < nodes.size(); ++i) {
    rules.push_back(grammar_.add_rule("other-key"));
  }
  for (size_t i = 0; i < nodes.size(); ++i) {
    std::vector<ExprId> parts;
    if (!nodes[i].is_name) {
      parts.push_back(end);
    }
    std::vector<CodePointRange> taken;
    for (const auto& [c, node] : nodes[i].next) {
      taken.push_back({c, c});
      parts.push_back(sequence({spelled(CodePoints::one(c)), grammar_.rule(rules[node])}));
    }
    parts.push_back(sequence({spelled(CodePoints(taken).complement()), rest}));
    grammar_.define(rules[i], grammar_.choice(parts));
  }
  return sequence({grammar_.literal("\""), grammar_.rule(rules.front())});
}

}  // namespace mynah::grammar
