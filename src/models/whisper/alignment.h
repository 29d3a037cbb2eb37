// When each word was said: cross-attention of the alignment heads, aligned with the text by dynamic
// time warping. Follows openai/whisper timing.py find_alignment.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "models/whisper/model.h"

namespace mynah::whisper {

// A word with its times from the start of the window.
struct WordTiming {
  std::string word;
  std::vector<int32_t> tokens;
  double start_s = 0;
  double end_s = 0;
  float probability = 0;  // mean of its tokens'
};

struct AlignmentRequest {
  int64_t utterance = 0;  // of the CrossCache
  int64_t positions = 0;  // the utterance's own, 20 ms each, at most its length there
  std::vector<int32_t> sot_sequence;
  std::vector<int32_t> text_tokens;  // no timestamps, no special tokens
  std::string language;              // code: says where words end
};

// The words of each request's text, in order; empty where there is no text.
[[nodiscard]] std::vector<std::vector<WordTiming>> align_words(
    const Model& model, const CrossCache& cross, std::span<const AlignmentRequest> requests);

// The path of least cost through cost (rows, columns) from one corner to the other by steps of one
// down, right or both: for each of its points the row and the column.
struct WarpingPath {
  std::vector<int64_t> rows;
  std::vector<int64_t> columns;
};

[[nodiscard]] WarpingPath warp(std::span<const float> cost, int64_t rows, int64_t columns);

}  // namespace mynah::whisper
