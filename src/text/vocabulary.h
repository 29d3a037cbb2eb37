// Vocabularies as model files carry them: the bytes of each token, by id.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace mynah {

// tokens[id] are the token's bytes. Special tokens (<|endoftext|> ...) may be among them.
using Vocabulary = std::vector<std::string>;

// GPT-2's printable spelling of bytes, which JSON and GGUF files use: a byte that is a visible
// Latin-1 character stands for itself, the n-th other one is U+0100 + n (so a space is "Ġ").
// Text with a character that is no byte's spelling, as some special tokens have, is returned as it
// is.
[[nodiscard]] std::string bytes_of_printable(std::string_view text);
[[nodiscard]] std::string printable_of_bytes(std::string_view bytes);

// Reads a vocabulary by what it looks like; `name` is for messages. Knows
//   tokenizer.json (Hugging Face tokenizers: model.vocab and added_tokens),
//   vocab.json (an object of token to id), vocabulary.json (a list of tokens: CTranslate2),
//   vocabulary.txt (a token a line: CTranslate2), NAME.tiktoken (base64 and id a line: openai).
Result<Vocabulary> parse_vocabulary(std::string_view content, const std::string& name);

// Reads a file, or the first vocabulary file found in a folder.
Result<Vocabulary> load_vocabulary(const std::string& path);

// Takes a list of printable tokens: GGUF's tokenizer.ggml.tokens.
Vocabulary vocabulary_of_printable(std::span<const std::string> tokens);

}  // namespace mynah
