// The vocabulary of a GGUF file, as a constraint wants it.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "base/mapped_file.h"
#include "formats/gguf.h"
#include "text/grammar/vocabulary.h"
#include "text/vocabulary.h"

namespace mynah::grammar {

// llama.cpp's tokenizer.ggml.token_type (gguf.md).
inline constexpr int64_t kControlToken = 3;
inline constexpr int64_t kByteToken = 6;

// SentencePiece's spelling: U+2581 is a space, <0xAB> a byte.
inline std::string bytes_of_piece(const std::string& piece, int64_t type) {
  if (type == kByteToken) {
    return std::string(1, static_cast<char>(std::stoi(piece.substr(3, 2), nullptr, 16)));
  }
  std::string bytes;
  for (size_t at = 0; at < piece.size();) {
    const bool is_space = piece.compare(at, 3, "\xE2\x96\x81") == 0;
    bytes += is_space ? ' ' : piece[at];
    at += is_space ? 3 : 1;
  }
  return bytes;
}

inline Result<std::shared_ptr<const TokenVocabulary>> gguf_vocabulary(const std::string& path) {
  MYNAH_TRY(const auto mapped, MappedFile::open(path));
  MYNAH_TRY(const TensorFile file, read_gguf(mapped));
  const auto texts = [&](const char* key) {
    return std::get<std::vector<std::string>>(file.metadata.at(key));
  };
  const std::vector<std::string> tokens = texts("tokenizer.ggml.tokens");
  const auto types = std::get<std::vector<int64_t>>(file.metadata.at("tokenizer.ggml.token_type"));
  const bool is_bpe = std::get<std::string>(file.metadata.at("tokenizer.ggml.model")) == "gpt2";
  std::vector<std::string> bytes;
  std::vector<int32_t> control;
  for (size_t id = 0; id < tokens.size(); ++id) {
    bytes.push_back(is_bpe ? bytes_of_printable(tokens[id])
                           : bytes_of_piece(tokens[id], types[id]));
    if (types[id] == kControlToken) {
      control.push_back(static_cast<int32_t>(id));
    }
  }
  const std::vector<int32_t> ends = {
      static_cast<int32_t>(std::get<int64_t>(file.metadata.at("tokenizer.ggml.eos_token_id")))};
  return TokenVocabulary::create({.bytes = bytes, .control = control, .ends = ends});
}

}  // namespace mynah::grammar
