// StreamClock: where a stream of samples stands at a time, from what its server told lately.
#pragma once

#include <deque>

namespace mynah {

// A card's clock against this machine's. What is told comes at its own times, and late by what a
// busy machine makes its server wait; the line through what the last half minute told, near its
// upper edge, has little of both, and its slope is the card's true rate. Not thread-safe.
class StreamClock {
 public:
  // The rate that the stream was opened with, samples a second.
  explicit StreamClock(double rate_hz) : rate_hz_(rate_hz) {}

  // Notes that the stream stood at `position` (samples since its begin) at `time_s` (seconds of a
  // clock that never goes back). What is 30 ms off the line is left out; two in a row that are
  // ahead, or eight that are late, are a break (the stream was moved, starved, suspended): the line
  // begins anew with them.
  void observe(double time_s, double position);

  // The stream was starved or moved: the next observation begins a line, whose slope is held near
  // the last one's until more is known.
  void broke();

  // Forgets all: another stream.
  void restart();

  // Whether anything was told yet. The functions below ask for it.
  [[nodiscard]] bool known() const { return !seen_.empty(); }

  [[nodiscard]] double position_at(double time_s) const;
  [[nodiscard]] double time_of(double position) const;

  // Samples a second by this machine's clock.
  [[nodiscard]] double true_rate_hz() const { return rate_hz_ * (1 + slope_); }

 private:
  // `ahead_s`: the stream's own seconds less this machine's.
  struct Seen {
    double time_s = 0;
    double ahead_s = 0;
  };

  [[nodiscard]] double ahead_at(double time_s) const;
  void fit();

  double rate_hz_;
  std::deque<Seen> seen_;
  std::deque<Seen> strays_;  // the last ones, where they were off the line
  bool fitted_ = false;
  double middle_s_ = 0;  // of the line, where its ahead is `ahead_s_`
  double ahead_s_ = 0;
  double slope_ = 0;
  double usual_slope_ = 0;  // before this line told its own
};

}  // namespace mynah
