// The text that a verb is given: words of the command line, a file, standard input as it comes.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/fields.h"
#include "cli/verb.h"

namespace mynah::cli {

struct TextInput {
  std::vector<std::string> words;  // "-" alone: standard input
  std::string file;                // "-": standard input

  // `verb` is what is done with it: "say", "read".
  void fields(Fields& fields, const std::string& verb);

  // Usage where there is nothing, or both. Where standard input is no terminal, it is the text when
  // nothing else is.
  [[nodiscard]] Status check(std::string_view verb, const Context& context) const;

  // Gives the text in pieces, as it comes.
  Status read(const Context& context, const std::function<Status(std::string_view)>& take) const;
};

}  // namespace mynah::cli
