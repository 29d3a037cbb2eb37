#include "speech/whisper/window_text.h"

#include <optional>
#include <string>
#include <utility>

namespace mynah {
namespace {

std::vector<Segment> segments_of(const WhisperTokenizer& tokenizer, const WindowText& text) {
  const whisper::Generated& generated = text.generated;
  const auto timestamp = [&](const std::optional<size_t>& index) {
    return index.transform([&](size_t i) {
      const int32_t token = generated.tokens[i];
      return TimestampToken{.token = token,
                            .log_probability = generated.log_probabilities[i],
                            .position = token - tokenizer.special().timestamp_begin};
    });
  };
  std::vector<Segment> segments;
  for (const WindowSegment& cut : text.cut.segments) {
    Segment segment;
    segment.start_s = cut.start_s;
    segment.end_s = cut.end_s;
    segment.tokens = cut.tokens;
    for (const size_t i : cut.token_indices) {
      segment.token_log_probabilities.push_back(generated.log_probabilities[i]);
    }
    segment.opening = timestamp(cut.opening_index);
    segment.closing = timestamp(cut.closing_index);
    segment.text = tokenizer.decode(cut.tokens);
    segment.temperature = text.temperature;
    segment.mean_log_probability = generated.mean_log_probability();
    segment.compression_ratio = text.compression_ratio;
    segment.no_speech_probability = generated.no_speech_probability;
    segments.push_back(std::move(segment));
  }
  return segments;
}

}  // namespace

HeardWindow heard_window(const WhisperTokenizer& tokenizer, WindowText text) {
  constexpr float kUnreliable = 0.5F;  // openai/whisper transcribe.py
  return {.segments = segments_of(tokenizer, text),
          .words = std::move(text.words),
          .language = std::string(tokenizer.language_code(text.language_token)),
          .language_probability = text.language_probability,
          .doubt = {.mean_log_probability = text.generated.mean_log_probability(),
                    .no_speech_probability = text.generated.no_speech_probability,
                    .compression_ratio = text.compression_ratio,
                    .temperature = text.temperature},
          .next_s = text.cut.next_s,
          .nothing_after = text.cut.single_timestamp_ending,
          .silent = text.silent,
          .reliable = text.temperature <= kUnreliable,
          .decoded_again = text.decoded_again};
}

}  // namespace mynah
