// Duplex: what every sound system shares: frames with one clock, the voice's queue, what was
// played.
#pragma once

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "audio/device/play_queue.h"
#include "audio/device/sound_device.h"
#include "audio/device/stream_clock.h"
#include "audio/sinc_reader.h"

namespace mynah {

// Seconds of the clock that never goes back: what Duplex's times are of.
[[nodiscard]] double steady_s();

// Between a thread that serves a sound system (SoundTransport) and who takes frames. The thread
// hands in what was captured and takes what is to be played, and tells when where each stream
// stood; times are seconds of the steady clock, positions samples since a stream's begin.
// Every function from any thread.
class Duplex {
 public:
  explicit Duplex(int playback_hz);

  // For who takes frames: see SoundDevice.
  Result<SoundFrame> next(std::stop_token stop);
  std::vector<SoundNews> take_news();
  int64_t play(std::span<const float> voice);
  void pause(bool paused);
  int64_t drop();
  [[nodiscard]] SoundState state(double now_s) const;

  [[nodiscard]] int playback_hz() const { return playback_hz_; }

  // The loudspeaker's stream.
  void playback_begins(SoundEnd end);
  void pull(std::span<float> out);
  void playback_stood(double time_s, double position, double latency_s);
  // It played what stood before `position` and is gone; none: as the clock says.
  void playback_ends(double now_s);
  // It ran dry.
  void playback_late(double now_s);
  // Milliseconds of sound that are to wait at the loudspeaker: 40, and twice as many, 160 at most,
  // for each second in which it ran dry. What keeps up once is never asked for less again.
  [[nodiscard]] int playback_ms() const;
  // It stands still (suspended), or goes on with what it was given.
  void playback_held(bool held, double now_s);
  void playback_named(std::string name, std::string title);

  // The microphone's stream. `listening` is what frames are until it begins again.
  void capture_begins(SoundEnd end, double now_s);
  void captured(std::span<const float> samples, double now_s);
  void capture_stood(double time_s, double position, double latency_s);
  void capture_ends(Listening listening, double now_s);
  void capture_late();
  // The server put the stream elsewhere: what was told of its time holds no more.
  void capture_moved();
  void capture_named(std::string name, std::string title);

  // Makes the silent frames that are due while there is no microphone. A stream that gives nothing
  // for half a second counts as away, one that has not begun for three seconds is told as that.
  void time_is(double now_s);

  void tell(SoundNews::Kind kind, std::string text);
  // The server says that the microphone is muted there: what NoSignal says.
  void muted_at_server(bool muted);

 private:
  // Where the loudspeaker stands; none while that is not known.
  [[nodiscard]] std::optional<double> position_at(double time_s) const;
  void emit(std::span<const float> heard, Listening listening, double end_s);
  void fill_played(SoundFrame& frame, double end_s);
  void watch_signal(std::span<const float> heard);
  void tell_locked(SoundNews::Kind kind, std::string text);

  const int playback_hz_;
  const SincReader reader_;
  mutable std::mutex mutex_;
  std::condition_variable_any arrived_;
  std::deque<SoundFrame> frames_;
  std::vector<SoundNews> news_;
  int64_t next_number_ = 0;

  PlayQueue queue_;
  StreamClock playback_clock_;
  int64_t playback_origin_ = 0;  // of the stream in the queue's positions
  bool playing_ = false;
  int playback_ms_;
  double grown_s_ = 0;               // when that grew last
  std::optional<double> held_at_;    // the position where it stands still
  double stood_at_ = 0;              // the last position that was told
  std::optional<double> played_to_;  // the position that the last frame's reference ended at
  int64_t said_ = 0;
  SoundEnd loudspeaker_;

  StreamClock capture_clock_;
  Listening listening_ = Listening::Away;
  double began_s_ = 0;  // when the stream was made
  bool stalled_ = false;
  bool stall_told_ = false;
  std::vector<float> pending_;  // less than a frame
  int64_t captured_ = 0;        // samples of the stream
  double last_heard_s_ = 0;     // when samples came, or when the last silent frame ended
  SoundEnd microphone_;
  int silent_frames_ = 0;
  bool no_signal_ = false;
  bool server_mute_ = false;
};

}  // namespace mynah
