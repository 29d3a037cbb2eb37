// What a GGUF file says of its tokenizer, checked.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "base/result.h"
#include "formats/tensor_file.h"
#include "text/tokenizer/text_tokenizer.h"
#include "text/tokenizer/token_table.h"

namespace mynah {

// How a file spells the bytes of a token that is text.
enum class TokenSpelling : uint8_t {
  Printable,  // GPT-2's printable letters (text/vocabulary.h)
  Spaced,     // UTF-8 with U+2581 for a space
};

// The bytes of a token that is text.
[[nodiscard]] std::string token_bytes(std::string_view spelled, TokenSpelling spelling);

struct GgufVocabulary {
  std::string model;  // tokenizer.ggml.model: gpt2, gemma4, llama or bert
  std::string pre;    // tokenizer.ggml.pre; "default" where the file has none
  TokenSpelling spelling = TokenSpelling::Spaced;
  // Bytes as texts have them (token_bytes, and the byte of <0x41>). Nothing is indexed yet.
  TokenTable tokens;
  SpecialTokens special;
  // What the file says; none where it does not.
  std::optional<bool> add_bos;
  std::optional<bool> add_eos;
  std::optional<bool> add_space_prefix;
  // White space behind a mark is left out (Phi-3's tokens have rstrip, which GGUF does not tell).
  bool strips_after_marks = false;
};

// InvalidInput where an array is missing, has another length or a wrong type, or where an id is
// none of the vocabulary; Unsupported for another model.
Result<GgufVocabulary> read_gguf_vocabulary(const TensorFile& file);

// A value of the file's metadata; null where it has none of that key. InvalidInput where it is of
// another type.
template <class T>
Result<const T*> metadata_value(const TensorFile& file, std::string_view key) {
  const auto found = file.metadata.find(key);
  if (found == file.metadata.end()) {
    return nullptr;
  }
  const auto* value = std::get_if<T>(&found->second);
  if (value == nullptr) {
    return fail(ErrorCode::InvalidInput,
                fmt::format("{}: {} is of another type than a tokenizer's; convert the model anew",
                            file.path, key));
  }
  return value;
}

}  // namespace mynah
