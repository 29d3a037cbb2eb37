#include "text/grammar/regex.h"

#include <algorithm>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "base/ascii.h"
#include "text/grammar/cursor.h"

namespace mynah::grammar {
namespace {

CodePoints set_of(std::initializer_list<CodePointRange> ranges) {
  return CodePoints(std::vector<CodePointRange>(ranges));
}

// ECMA-262, 22.2.2.9 CharacterClassEscape: \d, \w and \s without the flag i.
CodePoints digits() {
  return set_of({{'0', '9'}});
}

CodePoints word_characters() {
  return set_of({{'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}});
}

// ECMA-262, 12.2 WhiteSpace and 12.3 LineTerminator.
CodePoints white_space() {
  return set_of({{0x09, 0x0D},
                 {0x20, 0x20},
                 {0xA0, 0xA0},
                 {0x1680, 0x1680},
                 {0x2000, 0x200A},
                 {0x2028, 0x2029},
                 {0x202F, 0x202F},
                 {0x205F, 0x205F},
                 {0x3000, 0x3000},
                 {0xFEFF, 0xFEFF}});
}

CodePoints line_ends() {
  return set_of({{'\n', '\n'}, {'\r', '\r'}, {0x2028, 0x2029}});
}

class RegexParser {
 public:
  RegexParser(Grammar& grammar, std::string_view pattern, const Spelling& spelling)
      : grammar_(grammar), cursor_(pattern), spelling_(spelling) {}

  Result<ExprId> parse(RegexFit fit) {
    std::vector<ExprId> parts;
    do {
      MYNAH_TRY(const ExprId part, parse_outer_sequence(fit));
      parts.push_back(part);
    } while (cursor_.take("|"));
    if (!cursor_.at_end()) {
      return refuse(ErrorCode::InvalidInput, "a \")\" that nothing opens");
    }
    return grammar_.choice(parts);
  }

 private:
  [[nodiscard]] std::unexpected<Error> refuse(ErrorCode code, std::string_view what) const {
    return fail(code,
                fmt::format("character {} of the expression: {}", cursor_.offset() + 1, what));
  }

  [[nodiscard]] std::unexpected<Error> refuse_anchor() const {
    return refuse(ErrorCode::Unsupported, "^ and $ are supported at its ends alone");
  }

  ExprId anything() {
    return grammar_.repeat(spelling_(grammar_, CodePoints::all()), 0, kUnbounded);
  }

  // An alternative of the whole, which may say by ^ and $ where it begins and ends.
  Result<ExprId> parse_outer_sequence(RegexFit fit) {
    std::vector<ExprId> parts;
    if (!cursor_.take("^") && fit == RegexFit::Part) {
      parts.push_back(anything());
    }
    MYNAH_TRY(const ExprId inner, parse_sequence(0));
    parts.push_back(inner);
    const bool has_end = cursor_.take("$");
    if (has_end && !cursor_.at_end() && cursor_.peek() != '|') {
      return refuse_anchor();
    }
    if (!has_end && fit == RegexFit::Part) {
      parts.push_back(anything());
    }
    return grammar_.sequence(parts);
  }

  Result<ExprId> parse_choice(int depth) {
    if (depth > kMostNesting) {
      return refuse(ErrorCode::Unsupported,
                    fmt::format("wanted at most {} groups in each other", kMostNesting));
    }
    std::vector<ExprId> parts;
    do {
      MYNAH_TRY(const ExprId part, parse_sequence(depth));
      parts.push_back(part);
    } while (cursor_.take("|"));
    return grammar_.choice(parts);
  }

  Result<ExprId> parse_sequence(int depth) {
    std::vector<ExprId> parts;
    for (;;) {
      const char next = cursor_.peek();
      if (cursor_.at_end() || next == '|' || next == ')' || (next == '$' && depth == 0)) {
        return grammar_.sequence(parts);
      }
      MYNAH_TRY(const ExprId atom, parse_atom(depth));
      MYNAH_TRY(const ExprId repeated, parse_repeat(atom));
      parts.push_back(repeated);
    }
  }

  Result<ExprId> parse_atom(int depth) {
    if (cursor_.take("(")) {
      if (cursor_.take("?") && !cursor_.take(":") && !take_group_name()) {
        return refuse(ErrorCode::Unsupported, "looking ahead or behind is not supported");
      }
      MYNAH_TRY(const ExprId inner, parse_choice(depth + 1));
      if (!cursor_.take(")")) {
        return refuse(ErrorCode::InvalidInput, "wanted \")\"");
      }
      return inner;
    }
    if (cursor_.take("[")) {
      MYNAH_TRY(const CodePoints set, parse_class());
      return spelling_(grammar_, set);
    }
    if (cursor_.take(".")) {
      return spelling_(grammar_, line_ends().complement());
    }
    if (cursor_.peek() == '^' || cursor_.peek() == '$') {
      return refuse_anchor();
    }
    if (std::string_view("*+?{").contains(cursor_.peek())) {
      return refuse(ErrorCode::InvalidInput, "a repeat of nothing");
    }
    MYNAH_TRY(const CodePoints set, parse_character());
    return spelling_(grammar_, set);
  }

  // "<name>" of "(?<name>", which is no look behind.
  bool take_group_name() {
    if (cursor_.peek() != '<' || cursor_.peek(1) == '=' || cursor_.peek(1) == '!') {
      return false;
    }
    (void)cursor_.take_while([](char c) { return c != '>'; });
    return cursor_.take(">");
  }

  Result<ExprId> parse_repeat(ExprId atom) {
    int min = 0;
    int max = kUnbounded;
    if (cursor_.take("+")) {
      min = 1;
    } else if (cursor_.take("?")) {
      max = 1;
    } else if (cursor_.take("{")) {
      const std::optional<int> least = cursor_.take_number(kMostRepeats);
      const bool has_comma = cursor_.take(",");
      const std::optional<int> most = has_comma ? cursor_.take_number(kMostRepeats) : least;
      if (!least || !cursor_.take("}")) {
        return refuse(
            ErrorCode::InvalidInput,
            fmt::format("wanted {{m}}, {{m,}} or {{m,n}} with numbers up to {}", kMostRepeats));
      }
      if (most && *most < *least) {
        return refuse(ErrorCode::InvalidInput, "a repeat's bounds fall");
      }
      min = *least;
      max = most.value_or(kUnbounded);
    } else if (!cursor_.take("*")) {
      return atom;
    }
    (void)cursor_.take("?");  // as few as possible: the texts that fit are the same
    if (!cursor_.at_end() && std::string_view("*+?{").contains(cursor_.peek())) {
      return refuse(ErrorCode::InvalidInput, "a repeat of a repeat");
    }
    return grammar_.repeat(atom, min, max);
  }

  // A character, or an escape that means one or many.
  Result<CodePoints> parse_character() {
    if (!cursor_.take("\\")) {
      const auto code_point = cursor_.take_code_point();
      return code_point ? Result<CodePoints>(CodePoints::one(*code_point))
                        : refuse(ErrorCode::InvalidInput, "wanted UTF-8");
    }
    const char letter = cursor_.peek();
    cursor_.skip(cursor_.at_end() ? 0 : 1);
    switch (letter) {
      case 'd':
        return digits();
      case 'D':
        return digits().complement();
      case 'w':
        return word_characters();
      case 'W':
        return word_characters().complement();
      case 's':
        return white_space();
      case 'S':
        return white_space().complement();
      case 'x':
        return parse_hex(2);
      case 'u':
        return cursor_.take("{") ? parse_braced_hex() : parse_hex(4);
      default:
        break;
    }
    constexpr std::string_view kLetters = "nrtfv0";
    constexpr std::u32string_view kMeant = std::u32string_view(U"\n\r\t\f\v\0", 6);
    if (const size_t place = kLetters.find(letter); place != std::string_view::npos) {
      return CodePoints::one(kMeant[place]);
    }
    if (letter == '\0' || is_ascii_alnum(letter) || static_cast<unsigned char>(letter) > 0x7F) {
      return refuse(ErrorCode::Unsupported,
                    fmt::format("\\{} is not supported", is_ascii_alnum(letter) ? letter : ' '));
    }
    return CodePoints::one(static_cast<char32_t>(letter));
  }

  Result<CodePoints> parse_hex(size_t digits) {
    const auto code_point = cursor_.take_hex(digits);
    return code_point ? Result<CodePoints>(CodePoints::one(*code_point))
                      : refuse(ErrorCode::InvalidInput,
                               fmt::format("wanted {} hexadecimal digits", digits));
  }

  Result<CodePoints> parse_braced_hex() {
    const size_t digits = cursor_.rest().find('}');
    if (digits == std::string_view::npos || digits == 0 || digits > 8) {
      return refuse(ErrorCode::InvalidInput, "wanted a code point in braces");
    }
    MYNAH_TRY(CodePoints set, parse_hex(digits));
    cursor_.skip(1);
    return set;
  }

  Result<CodePoints> parse_class() {
    const bool is_negated = cursor_.take("^");
    std::vector<CodePointRange> ranges;
    while (!cursor_.take("]")) {
      if (cursor_.at_end()) {
        return refuse(ErrorCode::InvalidInput, "wanted \"]\"");
      }
      MYNAH_TRY(const CodePoints first, parse_class_character());
      if (cursor_.peek() != '-' || cursor_.peek(1) == ']') {
        ranges.insert(ranges.end(), first.ranges().begin(), first.ranges().end());
        continue;
      }
      cursor_.skip(1);
      MYNAH_TRY(const CodePoints last, parse_class_character());
      const auto is_one = [](const CodePoints& set) {
        return set.ranges().size() == 1 && set.ranges()[0].first == set.ranges()[0].last;
      };
      if (!is_one(first) || !is_one(last) || last.ranges()[0].first < first.ranges()[0].first) {
        return refuse(ErrorCode::InvalidInput, "a range's bounds fall, or are no characters");
      }
      ranges.push_back({first.ranges()[0].first, last.ranges()[0].first});
    }
    const CodePoints set(ranges);
    return is_negated ? set.complement() : set;
  }

  Result<CodePoints> parse_class_character() {
    if (cursor_.take("\\b")) {
      return CodePoints::one('\b');
    }
    return parse_character();
  }

  Grammar& grammar_;
  Cursor cursor_;
  const Spelling& spelling_;
};

}  // namespace

Result<ExprId> parse_regex(Grammar& grammar, std::string_view pattern, RegexFit fit,
                           const Spelling& spelling) {
  return RegexParser(grammar, pattern, spelling).parse(fit);
}

Result<Grammar> grammar_of_regex(std::string_view pattern) {
  Grammar grammar;
  const RuleId root = grammar.add_rule("root");
  MYNAH_TRY(const ExprId expr,
            parse_regex(grammar, pattern, RegexFit::Whole,
                        [](Grammar& into, const CodePoints& set) { return into.characters(set); }));
  grammar.define(root, expr);
  return grammar;
}

}  // namespace mynah::grammar
