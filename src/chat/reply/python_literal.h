// Python's literals as JSON.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace mynah {

// Strings of every quoting (prefixes r, b, u and those that stand next to each other too), numbers,
// True, False, None (JSON's true, false and null too), lists, tuples and dictionaries, at most
// kMaxJsonDepth deep, as JSON text. Nothing where it is any other expression.
[[nodiscard]] std::optional<std::string> python_literal_as_json(std::string_view text);

// Where an expression ends in text that comes byte by byte: brackets and strings are looked at.
class PythonScan {
 public:
  enum class Step {
    Inside,  // the byte belongs to the expression
    Before,  // a comma or a closing bracket that is none of the expression's
    Broken,  // nested deeper than kMaxJsonDepth, or a control token
  };
  [[nodiscard]] Step next(char byte);

 private:
  Step outside(char byte);
  Step inside_string(char byte);

  int depth_ = 0;
  char quote_ = 0;        // of the string that is open
  bool opening_ = false;  // only quotes of it were seen
  bool triple_ = false;   // it ends with three of them
  bool escaped_ = false;
  int run_ = 0;  // quotes in a row
};

}  // namespace mynah
