#include "text/grammar/gbnf.h"

#include <map>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "base/ascii.h"
#include "text/grammar/automaton.h"
#include "text/grammar/cursor.h"
#include "text/utf8.h"

namespace mynah::grammar {
namespace {

constexpr std::string_view kRoot = "root";

// Where a line break ends a rule, and where it is a blank.
enum class LineBreaks : uint8_t { End, Blank };

bool is_name_character(char c) {
  return is_ascii_alnum(c) || c == '-' || c == '_';
}

class GbnfParser {
 public:
  explicit GbnfParser(std::string_view text) : cursor_(text) { (void)rule_of(kRoot); }

  Result<Grammar> parse() && {
    skip_blanks(LineBreaks::Blank);
    while (!cursor_.at_end()) {
      MYNAH_TRY_STATUS(parse_rule());
      skip_blanks(LineBreaks::Blank);
    }
    for (const auto& [name, known] : known_) {
      if (!known.is_defined) {
        return fail(ErrorCode::InvalidInput,
                    name == kRoot ? "the grammar has no rule \"root\", which it starts with"
                                  : fmt::format("line {}: there is no rule \"{}\"",
                                                cursor_.line_of(known.offset), name));
      }
    }
    return std::move(grammar_);
  }

 private:
  struct Known {
    RuleId id = 0;
    size_t offset = 0;  // of the first mention
    bool is_defined = false;
  };

  [[nodiscard]] std::unexpected<Error> refuse(const std::string& what) const {
    return fail(ErrorCode::InvalidInput, fmt::format("line {}: {}", cursor_.line(), what));
  }

  [[nodiscard]] std::unexpected<Error> refuse_here(std::string_view wanted) const {
    const std::string_view rest = cursor_.rest().substr(0, cursor_.rest().find('\n')).substr(0, 20);
    return refuse(cursor_.at_end()
                      ? fmt::format("wanted {}, found the end", wanted)
                      : fmt::format("wanted {}, found \"{}\"", wanted, replace_invalid_utf8(rest)));
  }

  Known& rule_of(std::string_view name) {
    const auto [place, is_new] = known_.try_emplace(std::string(name));
    if (is_new) {
      place->second = {.id = grammar_.add_rule(std::string(name)), .offset = cursor_.offset()};
    }
    return place->second;
  }

  void skip_blanks(LineBreaks breaks) {
    for (;;) {
      (void)cursor_.take_while([&](char c) {
        return c == ' ' || c == '\t' || (breaks == LineBreaks::Blank && (c == '\n' || c == '\r'));
      });
      if (cursor_.peek() != '#') {
        return;
      }
      (void)cursor_.take_while([](char c) { return c != '\n'; });
    }
  }

  Status parse_rule() {
    const std::string_view name = cursor_.take_while(is_name_character);
    if (name.empty()) {
      return refuse_here("a rule's name");
    }
    skip_blanks(LineBreaks::End);
    if (!cursor_.take("::=")) {
      return refuse_here(fmt::format("\"::=\" behind \"{}\"", name));
    }
    Known& known = rule_of(name);
    if (known.is_defined) {
      return refuse(fmt::format("rule \"{}\" is there twice", name));
    }
    known.is_defined = true;
    const RuleId id = known.id;
    skip_blanks(LineBreaks::Blank);
    MYNAH_TRY(const ExprId expr, parse_choice(LineBreaks::End, 0));
    grammar_.define(id, expr);
    if (!cursor_.at_end() && cursor_.peek() != '\n' && cursor_.peek() != '\r') {
      return refuse_here("the rule's end");
    }
    return {};
  }

  Result<ExprId> parse_choice(LineBreaks breaks, int depth) {
    if (depth > kMostNesting) {
      return refuse(fmt::format("wanted at most {} brackets in each other", kMostNesting));
    }
    std::vector<ExprId> parts;
    do {
      MYNAH_TRY(const ExprId part, parse_sequence(breaks, depth));
      parts.push_back(part);
    } while (take_bar(breaks));
    return grammar_.choice(parts);
  }

  // A "|" may also begin the next line.
  bool take_bar(LineBreaks breaks) {
    const Cursor before = cursor_;
    skip_blanks(LineBreaks::Blank);
    if (cursor_.take("|")) {
      skip_blanks(LineBreaks::Blank);
      return true;
    }
    if (breaks == LineBreaks::End) {
      cursor_ = before;
    }
    return false;
  }

  Result<ExprId> parse_sequence(LineBreaks breaks, int depth) {
    std::vector<ExprId> parts;
    for (;;) {
      skip_blanks(breaks);
      MYNAH_TRY(const std::optional<ExprId> part, parse_symbol(depth));
      if (!part) {
        return grammar_.sequence(parts);
      }
      MYNAH_TRY(const ExprId repeated, parse_repeats(*part, breaks));
      parts.push_back(repeated);
    }
  }

  // Nothing where no symbol begins.
  Result<std::optional<ExprId>> parse_symbol(int depth) {
    if (cursor_.take("\"")) {
      return parse_literal();
    }
    if (cursor_.take("[")) {
      return parse_class();
    }
    if (cursor_.take("(")) {
      MYNAH_TRY(const ExprId inner, parse_choice(LineBreaks::Blank, depth + 1));
      skip_blanks(LineBreaks::Blank);
      if (!cursor_.take(")")) {
        return refuse_here("\")\"");
      }
      return inner;
    }
    if (cursor_.take(".")) {
      return grammar_.characters(CodePoints::all());
    }
    if (cursor_.peek() == '<' || cursor_.peek() == '!') {
      return fail(ErrorCode::Unsupported,
                  fmt::format("line {}: tokens (<name>, <[id]>, !<name>) are not supported: write "
                              "what they spell, or leave special tokens to the chat template",
                              cursor_.line()));
    }
    if (is_name_character(cursor_.peek())) {
      return grammar_.rule(rule_of(cursor_.take_while(is_name_character)).id);
    }
    return std::optional<ExprId>();
  }

  Result<ExprId> parse_repeats(ExprId part, LineBreaks breaks) {
    for (int count = 0;; ++count) {
      const Cursor before = cursor_;
      skip_blanks(breaks);
      if (count > kMostNesting) {
        return refuse("wanted fewer repeats of repeats");
      }
      if (cursor_.take("*")) {
        part = grammar_.repeat(part, 0, kUnbounded);
      } else if (cursor_.take("+")) {
        part = grammar_.repeat(part, 1, kUnbounded);
      } else if (cursor_.take("?")) {
        part = grammar_.optional(part);
      } else if (cursor_.take("{")) {
        MYNAH_TRY(part, parse_bounds(part, breaks));
      } else {
        cursor_ = before;
        return part;
      }
    }
  }

  Result<ExprId> parse_bounds(ExprId part, LineBreaks breaks) {
    const auto number = [&] {
      skip_blanks(breaks);
      const std::optional<int> value = cursor_.take_number(kMostRepeats);
      skip_blanks(breaks);
      return value;
    };
    const std::optional<int> min = number();
    const bool has_comma = cursor_.take(",");
    const std::optional<int> max = has_comma ? number() : min;
    if ((!min && !has_comma) || (!max && cursor_.peek() != '}') || !cursor_.take("}")) {
      return refuse_here(
          fmt::format("{{m}}, {{m,}} or {{m,n}} with numbers up to {}", kMostRepeats));
    }
    if (max && *max < min.value_or(0)) {
      return refuse(fmt::format("a repeat of at least {} and at most {} fits nothing",
                                min.value_or(0), *max));
    }
    return grammar_.repeat(part, min.value_or(0), max.value_or(kUnbounded));
  }

  Result<char32_t> parse_character() {
    if (!cursor_.take("\\")) {
      const auto code_point = cursor_.take_code_point();
      return code_point ? Result<char32_t>(*code_point) : refuse_here("UTF-8");
    }

    struct Hex {
      char letter;
      size_t digits;
    };

    for (const Hex hex : {Hex{'x', 2}, Hex{'u', 4}, Hex{'U', 8}}) {
      if (cursor_.peek() == hex.letter) {
        cursor_.skip(1);
        const auto code_point = cursor_.take_hex(hex.digits);
        return code_point
                   ? Result<char32_t>(*code_point)
                   : refuse_here(fmt::format("{} hexadecimal digits of a code point", hex.digits));
      }
    }
    constexpr std::string_view kLetters = "nrt\\\"[]";
    constexpr std::u32string_view kMeant = U"\n\r\t\\\"[]";
    const size_t letter = kLetters.find(cursor_.peek());
    if (cursor_.at_end() || letter == std::string_view::npos) {
      return refuse_here("an escape: \\n \\r \\t \\\\ \\\" \\[ \\] \\xXX \\uXXXX or \\UXXXXXXXX");
    }
    cursor_.skip(1);
    return kMeant[letter];
  }

  Result<ExprId> parse_literal() {
    std::string bytes;
    while (!cursor_.take("\"")) {
      if (cursor_.at_end()) {
        return refuse_here("\" at the end of a literal");
      }
      MYNAH_TRY(const char32_t character, parse_character());
      append_utf8(bytes, character);
    }
    return grammar_.literal(bytes);
  }

  Result<ExprId> parse_class() {
    const bool is_negated = cursor_.take("^");
    std::vector<CodePointRange> ranges;
    while (!cursor_.take("]")) {
      if (cursor_.at_end()) {
        return refuse_here("] at the end of a class");
      }
      MYNAH_TRY(const char32_t first, parse_character());
      char32_t last = first;
      if (cursor_.peek() == '-' && cursor_.peek(1) != ']') {
        cursor_.skip(1);
        MYNAH_TRY(last, parse_character());
      }
      if (last < first) {
        return refuse("a range of a class ends before it begins");
      }
      ranges.push_back({first, last});
    }
    const CodePoints set(ranges);
    return grammar_.characters(is_negated ? set.complement() : set);
  }

  Cursor cursor_;
  Grammar grammar_;
  std::map<std::string, Known, std::less<>> known_;
};

}  // namespace

Result<Grammar> parse_gbnf(std::string_view text) {
  return GbnfParser(text).parse();
}

}  // namespace mynah::grammar
