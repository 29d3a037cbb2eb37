// Drop capitals: the first letter of a chapter, set large and apart from its word.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace mynah {

// Whether a text is one capital letter, with or without a quotation mark before it.
[[nodiscard]] bool is_lone_capital(std::string_view text);

// Whether a class attribute is of such a letter.
[[nodiscard]] bool is_capital_class(std::string_view classes);

// Whether the text behind such a letter goes on with its word: "inter came", "INTER CAME"; not
// "Winter came", which has its letter.
[[nodiscard]] bool continues_capital(std::string_view capital, std::string_view rest);

// Both as one text. A letter that is a word itself (A, I, O) is one where the text that follows
// says so: by its first word, and by the words that a document has elsewhere (`knows`, small
// letters).
[[nodiscard]] std::string join_capital(std::string_view capital, std::string_view rest,
                                       const std::function<bool(const std::string&)>& knows = {});

}  // namespace mynah
