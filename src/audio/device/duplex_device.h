// DuplexDevice: what a sound system's device hands on to its Duplex, whatever moves the samples.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <stop_token>
#include <utility>
#include <vector>

#include "audio/device/duplex.h"
#include "audio/device/sound_device.h"

namespace mynah {

// Who derives from it moves samples between duplex() and the system, on a thread that ends before
// it does.
class DuplexDevice : public SoundDevice {
 public:
  explicit DuplexDevice(int playback_hz) : duplex_(playback_hz) {}

  Result<SoundFrame> next(std::stop_token stop) override { return duplex_.next(std::move(stop)); }

  std::vector<SoundNews> take_news() override { return duplex_.take_news(); }

  int64_t play(std::span<const float> voice) override { return duplex_.play(voice); }

  void pause(bool paused) override { duplex_.pause(paused); }

  int64_t drop() override { return duplex_.drop(); }

  void mute(bool muted) override { muted_ = muted; }

  [[nodiscard]] SoundState state() const override { return duplex_.state(steady_s()); }

  [[nodiscard]] int playback_hz() const override { return duplex_.playback_hz(); }

 protected:
  [[nodiscard]] Duplex& duplex() { return duplex_; }

  // Whether the microphone is to be closed.
  [[nodiscard]] bool is_muted() const { return muted_; }

 private:
  Duplex duplex_;
  std::atomic<bool> muted_ = false;
};

}  // namespace mynah
