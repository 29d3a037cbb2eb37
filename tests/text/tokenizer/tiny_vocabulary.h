// Vocabularies of a few tokens, as a GGUF file's metadata has them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "formats/tensor_file.h"
#include "text/vocabulary.h"

namespace mynah::test {

// token_type of GGUF.
inline constexpr int64_t kNormal = 1;
inline constexpr int64_t kUnknown = 2;
inline constexpr int64_t kControl = 3;
inline constexpr int64_t kUserDefined = 4;
inline constexpr int64_t kByte = 6;

struct TinyVocabulary {
  std::string model = "gpt2";
  std::string pre = "gpt-2";
  std::vector<std::string> tokens{};
  std::vector<int64_t> types{};
  std::vector<double> scores{};
  std::vector<std::string> merges{};

  void add(std::string token, int64_t type = kNormal, double score = 0) {
    tokens.push_back(std::move(token));
    types.push_back(type);
    scores.push_back(score);
  }

  [[nodiscard]] TensorFile file() const {
    TensorFile file;
    file.format = "gguf";
    file.path = "tiny.gguf";
    file.metadata.emplace("tokenizer.ggml.model", model);
    file.metadata.emplace("tokenizer.ggml.pre", pre);
    file.metadata.emplace("tokenizer.ggml.tokens", tokens);
    file.metadata.emplace("tokenizer.ggml.token_type", types);
    if (model == "llama") {
      file.metadata.emplace("tokenizer.ggml.scores", scores);
    } else if (model != "bert") {
      file.metadata.emplace("tokenizer.ggml.merges", merges);
    }
    return file;
  }
};

// Every byte, "ab", " ab" and two marks: <|end|> is 258, <think> 259; then a user-defined run.
inline TinyVocabulary tiny_byte_level() {
  TinyVocabulary vocabulary;
  for (int byte = 0; byte < 256; ++byte) {
    const auto character = static_cast<char>(byte);
    vocabulary.add(printable_of_bytes({&character, 1}));
  }
  vocabulary.add("ab");
  vocabulary.add("\u0120ab");
  vocabulary.add("<|end|>", kControl);
  vocabulary.add("<think>", kUserDefined);
  vocabulary.add("    ", kUserDefined);
  vocabulary.merges = {"a b", "\u0120 ab"};
  return vocabulary;
}

// <unk>, <s>, </s>, the 256 bytes from id 3, then letters, words and what would be joined to a
// mark.
inline TinyVocabulary tiny_pieces() {
  TinyVocabulary vocabulary{.model = "llama", .pre = "default"};
  vocabulary.add("<unk>", kUnknown);
  vocabulary.add("<s>", kControl);
  vocabulary.add("</s>", kControl);
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  for (size_t byte = 0; byte < 256; ++byte) {
    vocabulary.add({'<', '0', 'x', kDigits[byte / 16], kDigits[byte % 16], '>'}, kByte);
  }
  vocabulary.add("\u2581", kNormal, -10);   // 259
  vocabulary.add("a", kNormal, -11);        // 260
  vocabulary.add("b", kNormal, -12);        // 261
  vocabulary.add("ab", kNormal, -2);        // 262
  vocabulary.add("\u2581a", kNormal, -1);   // 263
  vocabulary.add("\u2581ab", kNormal, -3);  // 264
  vocabulary.add("<", kNormal, -13);        // 265
  vocabulary.add("s>", kNormal, -4);        // 266
  vocabulary.add("s", kNormal, -14);        // 267
  vocabulary.add(">", kNormal, -15);        // 268
  return vocabulary;
}

}  // namespace mynah::test
