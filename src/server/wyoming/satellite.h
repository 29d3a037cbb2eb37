// Satellite: a microphone and a loudspeaker as a satellite of Home Assistant (OHF-Voice/wyoming,
// wyoming/satellite.py; the order of messages as wyoming-satellite has it). It knows neither
// sockets nor devices: what comes from both goes in, what is to be sent and played comes out.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "server/wyoming/message.h"
#include "server/wyoming/mono_reader.h"
#include "speech/wake/wake_spotter.h"

namespace mynah::server {

struct SatelliteOptions {
  std::string name = "mynah";  // as Home Assistant shows it
  std::string area;            // the room that it proposes; "": none
  int play_rate_hz = 16000;    // of what is played
  // Words that are listened for here; none: the server is sent everything and listens itself.
  std::vector<std::shared_ptr<const WakeWord>> words;
  std::shared_ptr<WakeCheck> check;  // looks again at what may be one; null: nobody does
};

// What is to be done.
struct SatelliteStep {
  std::vector<std::string> messages;  // for the server, as they are sent
  std::vector<float> sound;           // to play behind what is played, at play_rate_hz
  bool stop_sound = false;  // what is played or waits for it is not wanted any more; before `sound`
  bool sound_ends = false;  // call played() once all of it was played
  std::string fault;        // what went wrong here meanwhile; "": nothing
};

// One at a time is the server; one thread at a time.
class Satellite {
 public:
  enum class State : uint8_t {
    Paused,     // no server wants anything
    Waiting,    // for a word
    Streaming,  // what is heard goes to the server
  };

  explicit Satellite(SatelliteOptions options);

  [[nodiscard]] State state() const { return state_; }

  // Who it is, for "describe": from a server or from whoever looks.
  [[nodiscard]] WyomingMessage info() const;

  // A message of the server. InvalidInput for sound in a format that nobody has.
  [[nodiscard]] Result<SatelliteStep> take(const WyomingMessage& message);

  // What the microphone heard, at 16 kHz in [-1, 1].
  [[nodiscard]] SatelliteStep hear(std::span<const float> samples);

  // The sound that ended was played, or stopped.
  [[nodiscard]] SatelliteStep played();

  // The server is gone: nothing is streamed or played until another comes.
  [[nodiscard]] SatelliteStep leave();

 private:
  void begin_stream(const std::string& word, SatelliteStep& step);
  void end_stream(SatelliteStep& step);
  void stop_playing(SatelliteStep& step);
  void stream(std::span<const float> samples, SatelliteStep& step);
  [[nodiscard]] Status play(const WyomingMessage& message, SatelliteStep& step);

  SatelliteOptions options_;
  State state_ = State::Paused;
  WakeSpotter spotter_;
  std::string chunk_;     // samples that are no whole message yet, as they are sent
  int64_t streamed_ = 0;  // samples of this stream
  std::optional<MonoReader> reply_;
  bool playing_ = false;  // something of a reply may still sound
};

}  // namespace mynah::server
