// GBNF, llama.cpp's notation of grammars.
#pragma once

#include <string_view>

#include "base/result.h"
#include "text/grammar/grammar.h"

namespace mynah::grammar {

// Reads a grammar whose start is the rule `root` (format: llama.cpp, grammars/README.md): rules
// "name ::= ...", "literals" and [classes] with \n \r \t \\ \" \[ \] \xXX \uXXXX \UXXXXXXXX,
// ".", | ( ) * + ? {m} {m,} {m,n}, # comments. Refused with the line: what is none of that, a rule
// that is missing or written twice, and tokens (<name>, <[id]>), which this form does not have.
[[nodiscard]] Result<Grammar> parse_gbnf(std::string_view text);

}  // namespace mynah::grammar
