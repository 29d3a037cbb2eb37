// SpeechChunker: spans of speech put together to windows that Whisper hears at once.
#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "speech/voice_detector.h"

namespace mynah {

// A stretch of a recording, in samples.
struct SampleRange {
  int64_t begin = 0;
  int64_t end = 0;

  bool operator==(const SampleRange&) const = default;
};

// What is heard at once, and how far speech goes in it.
struct SpeechChunk {
  SampleRange range;   // with padding
  SampleRange speech;  // where a text of it may begin and end: about where its speech does

  bool operator==(const SpeechChunk&) const = default;
};

// Detectors notice a soft sound this much late, and let go of one as early.
inline constexpr double kSoftSound_s = 0.1;

// How spans become chunks. A chunk is one stretch of the recording, pauses included, so that times
// in it map back by one addition.
struct ChunkOptions {
  double max_s = 30.0;     // Whisper's window
  double max_gap_s = 3.0;  // a longer pause ends a chunk: what nobody says costs nothing
  double edge_s = 2.0;     // a shorter pause at either end of the recording is kept whole: Whisper
                           // hears a recording better from its own beginning to its own end
  double pad_s = 0.4;      // kept before and after the speech, as faster-whisper does
  double span_pad_s = kSoftSound_s;  // what the spans have before and after their speech
  // Somebody waits for the chunks: past half of max_s an ever shorter pause ends one, so that what
  // was shown of the speech behind it need not be taken back.
  bool live = false;
};

// Takes spans in rising order; hands out a chunk as soon as no later span can join it. Which chunks
// come does not hang on how soon it is told of what.
class SpeechChunker {
 public:
  SpeechChunker(const ChunkOptions& options, int rate_hz) : options_(options), rate_hz_(rate_hz) {}

  // `heard_s`: how far the recording is known; no later span begins before it.
  std::vector<SpeechChunk> push(std::span<const SpeechSpan> spans, double heard_s);
  // The recording ends here.
  std::vector<SpeechChunk> flush(double duration_s);

  // Whether a chunk has begun that may still grow.
  [[nodiscard]] bool open() const { return !open_.empty(); }

  // Where the chunk will begin that is open, or else the one of a span that goes on from `next_s`
  // to `now_s`; in samples.
  [[nodiscard]] int64_t begin_of(double next_s, double now_s) const;

  // No chunk that is still to come begins before, in samples, where no span that is still to come
  // begins before `next_s`.
  [[nodiscard]] int64_t earliest_begin(double next_s) const;
  // Whether with a span until now_s there is no more room in the chunk.
  [[nodiscard]] bool is_full(double next_s, double now_s) const;

 private:
  // Hands out what cannot be in one chunk with `next`, the span that comes after those pushed.
  std::vector<SpeechChunk> make_room(const SpeechSpan& next);
  // The longest pause inside of the chunk that is open.
  [[nodiscard]] double longest_gap_s() const;
  // The chunk with its padding; `after_s` is wanted after it, and nothing past limit_s.
  [[nodiscard]] SpeechChunk padded(const SpeechSpan& chunk, double after_s, double limit_s) const;

  // The first `count` open spans as a chunk that ends at limit_s at the latest.
  SpeechChunk close(size_t count, double limit_s);
  [[nodiscard]] size_t best_cut(const SpeechSpan& next) const;

  ChunkOptions options_;
  int rate_hz_;
  std::vector<SpeechSpan> open_;  // of the chunk that may still grow
  double last_end_s_ = 0;         // of the chunk handed out last, its padding included
};

// Which chunks have speech in them that is long enough to be taken for it whatever the recogniser
// says: what a detector finds of knocks and barks is shorter.
class LongSpeech {
 public:
  explicit LongSpeech(int rate_hz) : rate_hz_(rate_hz) {}

  // In rising order.
  void add(std::span<const SpeechSpan> spans);
  // Of a chunk no later than those before it, which are forgotten.
  [[nodiscard]] bool in(const SampleRange& chunk);

 private:
  int rate_hz_;
  std::deque<SpeechSpan> spans_;
};

}  // namespace mynah
