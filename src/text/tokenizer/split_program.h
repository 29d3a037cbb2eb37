// A pattern of a pre-tokenizer, read: the program that a matcher runs.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "text/tokenizer/code_point_set.h"

namespace mynah {

enum class SplitStep : uint8_t {
  Set,        // takes one code point of set `first` and goes on at `second`
  Fork,       // goes on at `first`, and where that fails at `second`
  BeforeGap,  // goes on at `first` where white space or the end of the text follows: (?!\S)
  AtEnd,      // goes on at `first` at the end of the text: $
  Match,      // what was taken is a piece
  Skip,       // what was taken is none, and no piece begins in it
};

struct SplitInstruction {
  SplitStep step = SplitStep::Match;
  uint32_t first = 0;
  uint32_t second = 0;
};

struct SplitProgram {
  std::vector<SplitInstruction> instructions;
  uint32_t start = 0;
  std::vector<CodePointSet> sets;
};

// Reads a pattern in the syntax of the regular expressions that tokenizer.json files have, as far
// as they use it: | (?:) (?i:) of ASCII letters, [] with ranges and ^, \p{} of general categories,
// \s \S \r \n \t \x{1F600}, the quantifiers ? * + {m} {m,n}, (?!\S) and $. Of two ways to match the
// one that is written first counts, a longer repetition before a shorter one (Perl's order). `skip`
// is a pattern of what no piece begins in where `pattern` finds nothing; "" for none. InvalidInput
// where it is none of this.
Result<SplitProgram> read_split_pattern(std::string_view pattern, std::string_view skip);

}  // namespace mynah
