// The port of a satellite: Home Assistant connects to it, what it sends and what the microphone
// hears goes through a Satellite.
#pragma once

#include <functional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "base/result.h"
#include "server/wyoming/satellite.h"

namespace mynah::server {

// A microphone and a loudspeaker as a satellite needs them; devices or files. All functions are
// called from the thread of run_satellite().
class SatelliteSound {
 public:
  virtual ~SatelliteSound() = default;

  // Waits for the next samples at 16 kHz, 10 ms or so; none: nothing is heard any more. Cancelled
  // once stop is requested.
  virtual Result<std::vector<float>> hear(const std::stop_token& stop) = 0;

  // Appends samples, at SatelliteOptions::play_rate_hz, to what is played.
  virtual void play(std::span<const float> samples) = 0;

  // Nothing of what was to be played is wanted any more.
  virtual void stop_playing() = 0;

  // Whether something of it is not played yet.
  [[nodiscard]] virtual bool is_playing() const = 0;
};

struct SatellitePort {
  std::string host = "127.0.0.1";  // a numeric address, such as 0.0.0.0
  int port = 10700;                // 0: any that is free
  // Told where it listens ("tcp://127.0.0.1:10700"), once it does, and what happens there.
  std::function<void(const std::string& text)> tell = {};
};

// Serves until stop is requested or nothing is heard any more. The first client that says
// run-satellite is the server until it leaves; others may ask who this is. A client that sends what
// is no message, or takes its messages too slowly, is shown the door. Environment where the address
// cannot be had; the sound's errors.
[[nodiscard]] Status run_satellite(Satellite& satellite, SatelliteSound& sound,
                                   const SatellitePort& port, const std::stop_token& stop);

}  // namespace mynah::server
