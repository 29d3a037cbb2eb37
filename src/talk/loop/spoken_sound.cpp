#include "talk/loop/spoken_sound.h"

#include <algorithm>
#include <cmath>
#include <string_view>

namespace mynah::talk {

namespace {

// Sound that is held fades out in this time, and fades in again: no click.
constexpr double kFade_s = 0.008;
// Sound that was played is kept so long, for a word that begins anew; no word is longer.
constexpr double kKept_s = 3;

// A word of a text that is written there.
struct WrittenWord {
  size_t end = 0;
  double start_s = 0;
  double end_s = 0;
};

// The words where the voice does not tell them: each takes time by its letters.
std::vector<WrittenWord> by_length(std::string_view text, double start_s, double end_s) {
  std::vector<WrittenWord> words;
  size_t at = text.find_first_not_of(" \n\t");
  while (at < text.size()) {
    const size_t end = std::min(text.find_first_of(" \n\t", at), text.size());
    const auto time_at = [&](size_t byte) {
      return start_s +
             (end_s - start_s) * static_cast<double>(byte) / static_cast<double>(text.size());
    };
    words.push_back({.end = end, .start_s = time_at(at), .end_s = time_at(end)});
    at = text.find_first_not_of(" \n\t", end);
  }
  return words;
}

std::vector<WrittenWord> words_of(const SpokenClause& clause) {
  if (clause.words.empty()) {
    return by_length(clause.text, clause.start_s, clause.end_s);
  }
  std::vector<WrittenWord> words;
  size_t at = 0;
  for (const SpokenWord& word : clause.words) {
    const size_t begin = clause.text.find(word.text, at);
    at = begin == std::string::npos ? at : begin + word.text.size();
    words.push_back({.end = at, .start_s = word.start_s, .end_s = word.end_s});
  }
  // What stands behind the last word is said with it.
  words.back().end = clause.text.size();
  return words;
}

}  // namespace

void SpokenSound::add(const SpokenClause& clause, size_t text_begin) {
  add_words(clause, text_begin + clause.begin);
  samples_.insert(samples_.end(), clause.samples.begin(), clause.samples.end());
}

void SpokenSound::add_words(const SpokenClause& clause, size_t text_begin) {
  // The clause's sound ends where the clause does: times count from the text's begin.
  const double clause_s = static_cast<double>(clause.samples.size()) / rate_hz_;
  const double offset_s = clause.end_s - clause_s;
  const auto sample_at = [&](double seconds) {
    return end() + std::clamp<int64_t>(std::llround((seconds - offset_s) * rate_hz_), 0,
                                       static_cast<int64_t>(clause.samples.size()));
  };
  for (const WrittenWord& word : words_of(clause)) {
    words_.push_back({.begin = sample_at(word.start_s),
                      .end = sample_at(word.end_s),
                      .text_end = text_begin + word.end});
  }
}

void SpokenSound::add_silence(double seconds) {
  samples_.insert(samples_.end(), static_cast<size_t>(std::llround(seconds * rate_hz_)), 0.0F);
}

void SpokenSound::play(std::span<float> out) {
  const float step = 1.0F / static_cast<float>(std::max(1.0, kFade_s * rate_hz_));
  for (float& sample : out) {
    gain_ = std::clamp(gain_ + (held_ ? -step : step), 0.0F, 1.0F);
    const bool silent = at_ == end() || (held_ && gain_ == 0);
    sample = silent ? 0.0F : gain_ * samples_[static_cast<size_t>(at_ - begin_)];
    at_ += silent ? 0 : 1;
  }
  heard_until_ = std::max(heard_until_, at_);
  const auto kept = static_cast<int64_t>(kKept_s * rate_hz_);
  if (at_ - begin_ > 2 * kept) {
    samples_.erase(samples_.begin(), samples_.begin() + static_cast<ptrdiff_t>(kept));
    begin_ += kept;
  }
}

void SpokenSound::go_on() {
  held_ = false;
  const auto next = std::ranges::upper_bound(words_, at_, {}, &Word::begin);
  if (next != words_.begin() && std::prev(next)->end > at_) {
    at_ = std::max(begin_, std::prev(next)->begin);
  }
  gain_ = 0;
}

size_t SpokenSound::text_played() const {
  size_t bytes = 0;
  for (const Word& word : words_) {
    if (heard_until_ <= word.begin || 2 * heard_until_ < word.begin + word.end) {
      break;
    }
    bytes = word.text_end;
  }
  return bytes;
}

}  // namespace mynah::talk
