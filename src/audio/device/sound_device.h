// SoundDevice: a microphone and a loudspeaker with one clock.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "base/result.h"

namespace mynah {

// What is heard, and what an echo canceller is told, at this rate.
inline constexpr int kHeardHz = 16000;
// Samples of a frame: 10 ms.
inline constexpr size_t kSoundFrame = 160;

// Where a frame's sound comes from.
enum class Listening {
  Microphone,
  Muted,  // the microphone is closed, as was asked
  Away,   // it is not there: the device or its server is gone, suspended or silent
};

// 10 ms of both sides. Frames come at every time, one after the other, so that who counts them has
// a clock; while there is no microphone they come by this machine's clock and are silent.
struct SoundFrame {
  int64_t number = 0;  // from 0, without gaps
  Listening listening = Listening::Microphone;
  std::array<float, kSoundFrame> heard{};   // by the microphone
  std::array<float, kSoundFrame> played{};  // by the loudspeaker meanwhile, at kHeardHz
  // Samples of the voice (numbered as play() numbers them) that were played when the frame ended.
  int64_t said = 0;
};

// What happened to a device beside its sound.
struct SoundNews {
  enum class Kind {
    Opened,    // `text` names the devices
    Waiting,   // the sound is away; `text` says why, and what is waited for
    Returned,  // it is back
    Moved,     // the server put a stream on another device, which `text` names
    NoSignal,  // the microphone gives digital silence
    Signal,    // it gives sound again
    Slow,      // samples were lost or late (xruns): this machine or the device did not keep up
  };
  Kind kind = Kind::Opened;
  int64_t frame = 0;  // the next one's number then
  std::string text;
};

// One of both ends, as it is now.
struct SoundEnd {
  std::string system;       // "pulse", "alsa"
  std::string name;         // as the system knows it; empty while it is away
  std::string title;        // for people
  double latency_s = 0;     // between the air and this program
  int64_t xruns = 0;        // times that samples were lost or late since the begin
  double true_rate_hz = 0;  // by this machine's clock; 0: not known yet
};

struct SoundState {
  SoundEnd microphone;
  SoundEnd loudspeaker;
  Listening listening = Listening::Away;
  double drift_ppm = 0;  // how much faster the loudspeaker's clock is, in millionths
  int64_t said = 0;      // samples of the voice that were played by now
  int64_t waiting = 0;   // samples of the voice that are not played yet
  bool paused = false;
};

// A microphone and a loudspeaker, open. Every function from any thread, next() from one.
class SoundDevice {
 public:
  virtual ~SoundDevice() = default;

  // Waits for the next 10 ms. Cancelled once stop is requested. A device that goes away is no
  // error: frames are silent until it is back. Who takes no frames for 30 s loses the oldest, which
  // counts as the microphone's xruns.
  virtual Result<SoundFrame> next(std::stop_token stop) = 0;

  // What happened since the last call.
  virtual std::vector<SoundNews> take_news() = 0;

  // Appends voice, samples at playback_hz(), to what is to be played; returns the number of its
  // first sample. Numbers go by the order of playing, from 0, without gaps.
  virtual int64_t play(std::span<const float> voice) = 0;

  // Voice pauses or goes on; the pause is heard as soon as what is on its way was played (the
  // loudspeaker's latency).
  virtual void pause(bool paused) = 0;

  // Forgets what is not on its way to the loudspeaker. Returns the number that the next sample of
  // play() gets: what stands below was or will be played.
  virtual int64_t drop() = 0;

  // Closes the microphone for good measure, so that the system shows it as unused, or opens it
  // again.
  virtual void mute(bool muted) = 0;

  [[nodiscard]] virtual SoundState state() const = 0;

  [[nodiscard]] virtual int playback_hz() const = 0;
};

}  // namespace mynah
