#include "speech/speech_chunker.h"

#include <algorithm>
#include <cmath>

namespace mynah {

SampleRange SpeechChunker::padded(const SpeechSpan& chunk, double after_s, double limit_s) const {
  double room_s = std::max(0.0, options_.max_s - (chunk.end_s - chunk.start_s));
  const bool first = last_end_s_ == 0 && chunk.start_s <= options_.edge_s;
  const double before_s =
      std::min({first ? chunk.start_s : options_.pad_s, chunk.start_s - last_end_s_, room_s / 2});
  room_s -= before_s;
  const double start_s = chunk.start_s - std::max(0.0, before_s);
  const double end_s = std::min(limit_s, chunk.end_s + std::min(after_s, room_s));
  return {std::llround(start_s * rate_hz_), std::llround(end_s * rate_hz_)};
}

std::vector<SampleRange> SpeechChunker::push(std::span<const SpeechSpan> spans, double heard_s) {
  std::vector<SampleRange> chunks;
  const auto close = [&](double limit_s) {
    chunks.push_back(padded(*open_, options_.pad_s, limit_s));
    last_end_s_ = static_cast<double>(chunks.back().end) / rate_hz_;
    open_.reset();
  };
  for (SpeechSpan span : spans) {
    if (open_ && (span.start_s - open_->end_s > options_.max_gap_s ||
                  span.end_s - open_->start_s > options_.max_s)) {
      // Two chunks share the pause between them.
      close((open_->end_s + span.start_s) / 2);
    }
    if (open_) {
      open_->end_s = std::max(open_->end_s, span.end_s);
    } else {
      open_ = span;
    }
    // Speech without a pause is cut where the window ends.
    while (open_->end_s - open_->start_s > options_.max_s) {
      const SpeechSpan rest{open_->start_s + options_.max_s, open_->end_s};
      open_->end_s = rest.start_s;
      close(rest.start_s);
      open_ = rest;
    }
  }
  if (open_ && heard_s - open_->end_s > options_.max_gap_s) {
    close(heard_s);
  }
  return chunks;
}

std::vector<SampleRange> SpeechChunker::flush(double duration_s) {
  if (!open_) {
    return {};
  }
  const double rest_s = duration_s - open_->end_s;
  const SampleRange last =
      padded(*open_, rest_s <= options_.edge_s ? rest_s : options_.pad_s, duration_s);
  open_.reset();
  return {last};
}

}  // namespace mynah
