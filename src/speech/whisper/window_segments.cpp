#include "speech/whisper/window_segments.h"

namespace mynah {
namespace {

// Tokens [begin, end) as a segment; the first and last may be timestamps.
WindowSegment segment_of(const WhisperTokenizer& tokenizer, std::span<const int32_t> tokens,
                         size_t begin, size_t end, double start_s, double end_s) {
  WindowSegment segment;
  segment.start_s = start_s;
  segment.end_s = end_s;
  if (begin < end && tokenizer.is_timestamp(tokens[begin])) {
    segment.opening_index = begin;
  }
  if (begin + 1 < end && tokenizer.is_timestamp(tokens[end - 1])) {
    segment.closing_index = end - 1;
  }
  for (size_t i = begin; i < end; ++i) {
    if (tokens[i] < tokenizer.special().eot) {
      segment.tokens.push_back(tokens[i]);
      segment.token_indices.push_back(i);
    }
  }
  return segment;
}

}  // namespace

WindowSegments cut_into_segments(const WhisperTokenizer& tokenizer, std::span<const int32_t> tokens,
                                 double duration_s, LastWords last_words) {
  const auto is_timestamp = [&](size_t i) { return tokenizer.is_timestamp(tokens[i]); };
  const size_t n = tokens.size();
  WindowSegments result;
  result.next_s = duration_s;
  result.single_timestamp_ending = n >= 2 && !is_timestamp(n - 2) && is_timestamp(n - 1);

  // A segment ends where two timestamps meet.
  std::vector<size_t> cuts;
  for (size_t i = 1; i < n; ++i) {
    if (is_timestamp(i - 1) && is_timestamp(i)) {
      cuts.push_back(i);
    }
  }
  if (cuts.empty()) {
    double end_s = duration_s;
    for (size_t i = 0; i < n; ++i) {
      if (is_timestamp(i) && tokenizer.timestamp_s(tokens[i]) > 0) {
        end_s = tokenizer.timestamp_s(tokens[i]);
      }
    }
    const double start_s = n > 0 && is_timestamp(0) && result.single_timestamp_ending
                               ? tokenizer.timestamp_s(tokens[0])
                               : 0.0;
    result.segments.push_back(segment_of(tokenizer, tokens, 0, n, start_s, end_s));
    return result;
  }
  if (result.single_timestamp_ending) {
    cuts.push_back(n);
  }
  size_t begin = 0;
  for (const size_t cut : cuts) {
    result.segments.push_back(segment_of(tokenizer, tokens, begin, cut,
                                         tokenizer.timestamp_s(tokens[begin]),
                                         tokenizer.timestamp_s(tokens[cut - 1])));
    begin = cut;
  }
  if (!result.single_timestamp_ending && last_words == LastWords::Kept) {
    result.segments.push_back(
        segment_of(tokenizer, tokens, begin, n, tokenizer.timestamp_s(tokens[begin]), duration_s));
  } else if (!result.single_timestamp_ending) {
    // What follows the last pair is unfinished: the next window hears it whole.
    result.next_s = tokenizer.timestamp_s(tokens[begin - 1]);
  }
  return result;
}

}  // namespace mynah
