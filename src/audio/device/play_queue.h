// PlayQueue: the voice on its way to a loudspeaker, and which of it was played.
#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <vector>

namespace mynah {

// A loudspeaker's stream never stops: where no voice is to be said it gets silence, so that one
// count of samples, the *position*, goes through all of it. The voice's own samples have numbers of
// their own, from 0, in the order in which they are played and without gaps. Not thread-safe.
class PlayQueue {
 public:
  explicit PlayQueue(int rate_hz);

  // Appends voice; returns the number that its first sample has, or will have when all before it is
  // played.
  int64_t add(std::span<const float> voice);

  // Voice waits, silence goes out; what is on its way to the loudspeaker still sounds.
  void pause() { paused_ = true; }

  void resume() { paused_ = false; }

  [[nodiscard]] bool paused() const { return paused_; }

  // Forgets voice that is not on its way yet. What is added next takes up its numbers.
  void drop() { waiting_.clear(); }

  // Fills `out` with what the loudspeaker is to play next.
  void pull(std::span<float> out);

  // A stream of the loudspeaker begins: the position that its first sample has.
  [[nodiscard]] int64_t begin_stream() const { return position_; }

  // The stream is gone, which had played what stands before `position`: voice beyond was never
  // heard and waits again, before all else.
  void lost(double position);

  // How many samples of the voice were played when the loudspeaker stood at `position`.
  [[nodiscard]] int64_t said_at(double position) const;

  // What was or will be played at a position; silence where that is not known any more (four
  // seconds later) or yet.
  [[nodiscard]] float at(int64_t position) const;

  // Samples of the voice that wait here, and that were handed out.
  [[nodiscard]] size_t waiting() const { return waiting_.size(); }

  [[nodiscard]] int64_t handed_out() const { return voice_; }

 private:
  // Voice that went out in one piece.
  struct Run {
    int64_t position = 0;
    int64_t voice = 0;
    int64_t length = 0;
  };

  void note_run(int64_t length);

  std::deque<float> waiting_;
  bool paused_ = false;
  int64_t position_ = 0;  // of the next sample to go out
  int64_t voice_ = 0;     // number of the next sample of the voice to go out
  std::deque<Run> runs_;
  std::vector<float> played_;  // by position, modulo its size
};

}  // namespace mynah
