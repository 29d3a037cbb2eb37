// `mynah talk --satellite`: this machine's microphone and loudspeaker for Home Assistant.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "audio/device/open_device.h"
#include "audio/echo/echo_canceller.h"
#include "base/result.h"
#include "cli/command/verb.h"
#include "engine/recognizer.h"
#include "server/wyoming/satellite_port.h"

namespace mynah::cli {

// A microphone and a loudspeaker as a satellite takes them: what is heard is without what is
// played.
class DeskSound final : public server::SatelliteSound {
 public:
  // `tell`: what happens to the device.
  DeskSound(SoundDevice& device, echo::EchoCanceller canceller,
            std::function<void(const std::string& text)> tell);

  Result<std::vector<float>> hear(const std::stop_token& stop) override;
  void play(std::span<const float> samples) override;
  void stop_playing() override;
  [[nodiscard]] bool is_playing() const override;

 private:
  SoundDevice& device_;
  echo::EchoCanceller canceller_;
  std::function<void(const std::string& text)> tell_;
};

struct SatelliteChoice {
  bool wanted = false;
  std::string host = server::SatellitePort{}.host;
  int64_t port = server::SatellitePort{}.port;

  void fields(Fields& fields);
  // `given`: options of the command line; `wakes`: the word is heard here. Usage for one that a
  // satellite has no use for.
  [[nodiscard]] Status check(const std::vector<std::string>& given, bool wakes) const;
};

// Serves until stop is requested. `word`: a model's, which is listened for here; "": the server is
// sent everything. Refused as open_sound_device(), engine::open_wake_words() and run_satellite()
// refuse.
[[nodiscard]] Result<int> talk_as_satellite(Context& context, const SatelliteChoice& choice,
                                            const std::string& word,
                                            const engine::RecognizerWish& hears,
                                            const mynah::SoundOptions& sound);

}  // namespace mynah::cli
