// A vocabulary that writes every text: the bytes, and longer tokens that cross the borders of
// rules.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "text/grammar/vocabulary.h"

namespace mynah::grammar {

inline constexpr int32_t kByteEnd = 256;  // the end token; the bytes are tokens of their value

inline std::shared_ptr<const TokenVocabulary> byte_vocabulary() {
  std::vector<std::string> tokens;
  for (int byte = 0; byte < 256; ++byte) {
    tokens.emplace_back(1, static_cast<char>(byte));
  }
  tokens.emplace_back("</s>");
  for (const char* token :
       {"{\"",    "\":", "\": ", "\",",      "\", ",     "\"}",  "},",        "}}",
        "]]",     "],",  ", ",   "[[",       "[]",       "{}",   "\": \"",    "\",\"",
        "\", \"", "\"]", "true", "false",    "null",     "12",   "123",       "0.",
        ".5",     "e1",  "  ",   "\n  ",     "\n    ",   "abc",  "ab",        "a\"",
        "\\\"",   "\\n", "\\u",  "\xC3\xA9", "\xE4\xB8", "\xAD", "e\xCC\x81", "\xF0\x9F\x98\x80",
        "foo",    "bar", "ing",  " the",     "1, ",      "-1",   "(",         "()",
        "ab",     "\xC3"}) {
    tokens.emplace_back(token);
  }
  const std::vector<int32_t> ends = {kByteEnd};
  return TokenVocabulary::create({.bytes = tokens, .ends = ends}).value();
}

}  // namespace mynah::grammar
