#include "speech/speech_chunker.h"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace mynah {

SpeechChunk SpeechChunker::padded(const SpeechSpan& chunk, double after_s, double limit_s) const {
  double room_s = std::max(0.0, options_.max_s - (chunk.end_s - chunk.start_s));
  const bool first = last_end_s_ == 0 && chunk.start_s <= options_.edge_s;
  const double before_s =
      std::min({first ? chunk.start_s : options_.pad_s, chunk.start_s - last_end_s_, room_s / 2});
  room_s -= before_s;
  const double start_s = chunk.start_s - std::max(0.0, before_s);
  const double end_s = std::min(limit_s, chunk.end_s + std::min(after_s, room_s));
  const auto samples = [this](double from_s, double to_s) {
    return SampleRange{std::llround(from_s * rate_hz_), std::llround(to_s * rate_hz_)};
  };
  // A span has its padding where there is silence for it.
  const double inside_s = options_.span_pad_s - kSoftSound_s;
  double first_s = chunk.start_s;
  double last_s = std::min(chunk.end_s, end_s);
  if (2 * inside_s < last_s - first_s) {
    first_s = chunk.start_s > last_end_s_ ? std::max(start_s, first_s + inside_s) : first_s;
    last_s = chunk.end_s < limit_s ? std::min(end_s, last_s - inside_s) : last_s;
  }
  return {.range = samples(start_s, end_s), .speech = samples(first_s, last_s)};
}

SpeechChunk SpeechChunker::close(size_t count, double limit_s) {
  const SpeechSpan chunk{open_.front().start_s, open_[count - 1].end_s};
  const SpeechChunk closed = padded(chunk, options_.pad_s, limit_s);
  last_end_s_ = static_cast<double>(closed.range.end) / rate_hz_;
  open_.erase(open_.begin(), open_.begin() + static_cast<ptrdiff_t>(count));
  return closed;
}

// The first spans of `open_`, with `next` one too many, up to the longest pause of their second
// half: where a sentence is likeliest to end.
size_t SpeechChunker::best_cut(const SpeechSpan& next) const {
  const auto start_after = [&](size_t count) {
    return count < open_.size() ? open_[count].start_s : next.start_s;
  };
  size_t best = open_.size();
  for (size_t count = open_.size(); count > 0; --count) {
    const double end_s = open_[count - 1].end_s;
    if (end_s - open_.front().start_s < options_.max_s / 2) {
      break;
    }
    if (start_after(count) - end_s > start_after(best) - open_[best - 1].end_s) {
      best = count;
    }
  }
  return best;
}

double SpeechChunker::longest_gap_s() const {
  // From half of the longest chunk on, until at three quarters any pause ends it.
  const double length_s = open_.back().end_s - open_.front().start_s;
  const double left = 3.0 - 4.0 * length_s / options_.max_s;
  return options_.live ? options_.max_gap_s * std::clamp(left, 0.0, 1.0) : options_.max_gap_s;
}

int64_t SpeechChunker::begin_of(double next_s, double now_s) const {
  const SpeechSpan chunk{open_.empty() ? next_s : open_.front().start_s, now_s};
  return padded(chunk, 0, now_s).range.begin;
}

int64_t SpeechChunker::earliest_begin(double next_s) const {
  // A long chunk has less room for padding, until it is cut: a short one has room for all of it.
  const double start_s = open_.empty() ? next_s : open_.front().start_s;
  return padded({start_s, start_s}, 0, start_s).range.begin;
}

bool SpeechChunker::is_full(double next_s, double now_s) const {
  const double begin_s = open_.empty() ? next_s : open_.front().start_s;
  return now_s - begin_s >= options_.max_s - 2 * options_.pad_s;
}

std::vector<SpeechChunk> SpeechChunker::make_room(const SpeechSpan& next) {
  std::vector<SpeechChunk> chunks;
  while (!open_.empty()) {
    const bool long_pause = next.start_s - open_.back().end_s > longest_gap_s();
    if (!long_pause && next.end_s - open_.front().start_s <= options_.max_s) {
      break;
    }
    const size_t count = long_pause ? open_.size() : best_cut(next);
    const double next_s = count < open_.size() ? open_[count].start_s : next.start_s;
    // Two chunks share the pause between them.
    chunks.push_back(close(count, (open_[count - 1].end_s + next_s) / 2));
  }
  return chunks;
}

std::vector<SpeechChunk> SpeechChunker::push(std::span<const SpeechSpan> spans, double heard_s) {
  std::vector<SpeechChunk> chunks;
  for (const SpeechSpan& span : spans) {
    std::ranges::move(make_room(span), std::back_inserter(chunks));
    open_.push_back(span);
    if (options_.live && is_full(span.start_s, span.end_s)) {
      chunks.push_back(close(open_.size(), span.end_s));
      continue;
    }
    // Speech without a pause is cut where the window ends.
    while (open_.front().end_s - open_.front().start_s > options_.max_s) {
      const SpeechSpan rest{open_.front().start_s + options_.max_s, open_.front().end_s};
      open_.front().end_s = rest.start_s;
      chunks.push_back(close(1, rest.start_s));
      open_.push_back(rest);
    }
  }
  if (!open_.empty() && heard_s - open_.back().end_s > longest_gap_s()) {
    chunks.push_back(close(open_.size(), heard_s));
  }
  return chunks;
}

std::vector<SpeechChunk> SpeechChunker::flush(double duration_s) {
  if (open_.empty()) {
    return {};
  }
  const SpeechSpan chunk{open_.front().start_s, open_.back().end_s};
  const double rest_s = duration_s - chunk.end_s;
  open_.clear();
  return {padded(chunk, rest_s <= options_.edge_s ? rest_s : options_.pad_s, duration_s)};
}

void LongSpeech::add(std::span<const SpeechSpan> spans) {
  constexpr double kLong_s = 0.6;
  std::ranges::copy_if(spans, std::back_inserter(spans_),
                       [](const SpeechSpan& span) { return span.end_s - span.start_s >= kLong_s; });
}

bool LongSpeech::in(const SampleRange& chunk) {
  while (!spans_.empty() && spans_.front().end_s * rate_hz_ <= static_cast<double>(chunk.begin)) {
    spans_.pop_front();
  }
  return !spans_.empty() && spans_.front().start_s * rate_hz_ < static_cast<double>(chunk.end);
}

}  // namespace mynah
