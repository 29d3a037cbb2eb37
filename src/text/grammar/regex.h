// Regular expressions as grammars.
#pragma once

#include <functional>
#include <string_view>

#include "base/result.h"
#include "text/grammar/code_points.h"
#include "text/grammar/grammar.h"

namespace mynah::grammar {

// How a set of code points is written: by itself, or as JSON strings have it.
using Spelling = std::function<ExprId(Grammar&, const CodePoints&)>;

// What of the text an expression has to fit where it says nothing by ^ and $.
enum class RegexFit : uint8_t {
  Whole,  // as if it stood between ^ and $
  Part    // anything may stand before and behind it, as in JSON Schema
};

// Reads an expression in the syntax of ECMA-262 with the flag u, as far as it is regular: literals,
// escapes (\d \w \s ASCII and Unicode as there, \n \t \xHH \uHHHH \u{H}), ., classes, groups,
// alternatives, * + ? {m,n} and their lazy forms, ^ and $ at the ends. Refused as Unsupported with
// the place: back references, look around, \b, \p, ^ and $ elsewhere.
[[nodiscard]] Result<ExprId> parse_regex(Grammar& grammar, std::string_view pattern, RegexFit fit,
                                         const Spelling& spelling);

[[nodiscard]] Result<Grammar> grammar_of_regex(std::string_view pattern);

}  // namespace mynah::grammar
