// Patterns of log lines: texts with {names} for what differs. Matching takes time that grows with
// the text alone, whatever the text is: it never goes back over more than a few hundred bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace mynah::doctor {

// The values that a text had where a pattern has {names}.
using Captures = std::map<std::string, std::string, std::less<>>;

// "Value 'sm_{arch}' is not defined for option": the text itself, capitals or not, where
//   a blank     is one blank or the end of a line, behind which the message goes on;
//   {sm}, {number}, or any name that begins so, are digits;
//   {name}      is letters, digits and the marks ._+- at least one and at most 100;
//   *           is anything on the same line, at most 300 bytes, as little as may be;
//   $           at the pattern's end is the end of a line.
// What is taken for {name} is thus safe inside a shell's command.
class Pattern {
 public:
  // A match ends here in the text.
  struct Match {
    size_t end = 0;
    Captures captures;
  };

  // Refuses patterns that do not begin with four bytes of text at least, end with '*', or have two
  // of {} and * side by side.
  [[nodiscard]] static Result<Pattern> parse(std::string_view text);

  // Whether the text matches from `at` on. The text's blanks are as LogText leaves them.
  [[nodiscard]] std::optional<Match> match(std::string_view text, size_t at) const;

  // The bytes that the pattern begins with, in small letters, blanks as ' '.
  [[nodiscard]] std::string_view beginning() const { return pieces_.front().text; }

  // How many bytes of a text it spells out: the more, the surer a match is.
  [[nodiscard]] size_t weight() const { return weight_; }

  // The names in it.
  [[nodiscard]] std::vector<std::string> names() const;

 private:
  enum class Kind : uint8_t { Text, Capture, Gap };

  struct Piece {
    Kind kind = Kind::Text;
    std::string text;  // what it spells out, or the name
  };

  [[nodiscard]] Status add(Kind kind, std::string piece);

  std::vector<Piece> pieces_;
  size_t weight_ = 0;
  bool ends_line_ = false;
};

// A byte as patterns see it: capitals are small letters, the end of a line is a blank.
[[nodiscard]] char folded(char c);

// The names in braces of a text: "gcc-{number}" has "number".
[[nodiscard]] std::vector<std::string> names_in(std::string_view text);

// The text with its {names} filled in; none where a name has no value.
[[nodiscard]] std::optional<std::string> filled(std::string_view text, const Captures& captures);

}  // namespace mynah::doctor
