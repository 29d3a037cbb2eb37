// What a GGUF file says of a BERT-like encoder: its sizes, and how its states become one vector.
// Keys: ggml-org/ggml docs/gguf.md and llama.cpp's gguf-py/gguf/constants.py.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/result.h"
#include "formats/tensor_file.h"

namespace mynah::bert {

// The one architecture of them that is done: general.architecture of its files.
inline constexpr std::string_view kArchitecture = "bert";

// Keys of mynah's own, for what GGUF has no key for: the tokens of a text at most, and whether
// vectors are made as long as one.
inline constexpr std::string_view kLongestKey = "mynah.embedding.longest";
inline constexpr std::string_view kNormalKey = "mynah.embedding.normalized";

// How the states of a text's tokens become one vector; the numbers are GGUF's.
enum class Pooling : uint8_t { Mean = 1, First = 2 };

struct Config {
  int64_t vocabulary = 0;  // rows of the embedding table
  int64_t positions = 0;   // that the model has
  int64_t longest = 0;     // tokens of a text, its marks counted: no more than positions
  int64_t layers = 0;
  int64_t width = 0;         // columns of a hidden state, and of a vector
  int64_t feed_forward = 0;  // columns between the two products of a feed-forward block
  int64_t heads = 0;         // divides width
  float norm_epsilon = 0.0F;
  Pooling pooling = Pooling::Mean;
  bool normalized = true;  // vectors are made as long as one

  // Unsupported, and named, for another architecture, a pooling that is not done or a rotary one;
  // InvalidInput where a size is missing, or none.
  static Result<Config> read(const TensorFile& file);
};

// Whether a GGUF file is of an encoder that makes vectors and writes no text, done here or not:
// "bert", "nomic-bert", "jina-bert-v2" ...
[[nodiscard]] bool is_encoder(const TensorFile& file);

}  // namespace mynah::bert
