// SpokenSound: the sound of one reply, played sample by sample, with the words that were played.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "speech/synthesizer.h"

namespace mynah::talk {

// One thread at a time.
class SpokenSound {
 public:
  explicit SpokenSound(int rate_hz) : rate_hz_(rate_hz) {}

  // More sound, spoken of a text that begins at that byte of the whole one.
  void add(const SpokenClause& clause, size_t text_begin);

  // Silence behind what there is.
  void add_silence(double seconds);

  // The next samples, silence where there are none: less than all of them sounded, or it is held.
  void play(std::span<float> out);

  // Falls silent, within a few milliseconds, at the next play().
  void hold() { held_ = true; }

  // Plays on, from the begin of the word that it was held in.
  void go_on();

  // Whether all that was added was played.
  [[nodiscard]] bool at_end() const { return at_ == end(); }

  // Whether any of it was played.
  [[nodiscard]] bool begun() const { return heard_until_ > 0; }

  // Seconds that are still to be played.
  [[nodiscard]] double left_s() const { return static_cast<double>(end() - at_) / rate_hz_; }

  // Bytes of the text up to the last word of which more than half was played.
  [[nodiscard]] size_t text_played() const;

 private:
  // A word, by the samples of the whole sound.
  struct Word {
    int64_t begin = 0;
    int64_t end = 0;
    size_t text_end = 0;
  };

  void add_words(const SpokenClause& clause, size_t text_begin);

  [[nodiscard]] int64_t end() const { return begin_ + static_cast<int64_t>(samples_.size()); }

  int rate_hz_;
  std::deque<float> samples_;  // from begin_ on
  int64_t begin_ = 0;
  int64_t at_ = 0;           // the next to be played
  int64_t heard_until_ = 0;  // the furthest that was played
  std::vector<Word> words_;
  bool held_ = false;
  float gain_ = 1;  // that the last sample was played with
};

}  // namespace mynah::talk
