// GPT-2's pre-tokenizer: cuts text into the pieces within which byte pairs merge.
#pragma once

#include <string_view>
#include <vector>

namespace mynah {

// The pieces that this pattern finds, in order; together they are the whole text:
//   's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
// (openai/whisper tokenizer.py, get_encoding). A byte that is not UTF-8 counts as a symbol.
[[nodiscard]] std::vector<std::string_view> split_gpt2(std::string_view text);

}  // namespace mynah
