#include <algorithm>
#include <array>
#include <cmath>

#include <speex/speex_echo.h>
#include <speex/speex_preprocess.h>

#include "audio/echo/echo_filter.h"
#include "base/check.h"

namespace mynah::echo {

namespace {

constexpr float kFullScale = 32768;

// What the filter can be long: 0.2 s holds the first 15 dB of a room that takes 0.8 s for 60.
constexpr int kTaps = 3200;

// How far what is left of an echo is turned down, where the far end speaks alone and where the near
// end does too, and noise.
constexpr spx_int32_t kSuppress_db = -50;
constexpr spx_int32_t kSuppressBeside_db = -20;
constexpr spx_int32_t kNoise_db = -9;

using Shorts = std::array<spx_int16_t, kFrame>;

Shorts shorts(std::span<const float> samples) {
  Shorts out{};
  std::ranges::transform(samples, out.begin(), [](float sample) {
    return static_cast<spx_int16_t>(std::clamp(std::lround(sample * kFullScale), -32768L, 32767L));
  });
  return out;
}

void floats(const Shorts& samples, std::span<float> out) {
  std::ranges::transform(samples, out.begin(), [](spx_int16_t sample) {
    return static_cast<float>(sample) / kFullScale;
  });
}

class SpeexFilter final : public EchoFilter {
 public:
  SpeexFilter()
      : echo_(speex_echo_state_init(kFrame, kTaps)),
        preprocess_(speex_preprocess_state_init(kFrame, 16000)) {
    MYNAH_CHECK(echo_ != nullptr && preprocess_ != nullptr);
    spx_int32_t rate_hz = 16000;
    speex_echo_ctl(echo_.get(), SPEEX_ECHO_SET_SAMPLING_RATE, &rate_hz);
    set_up();
  }

  void process(std::span<const float> captured, std::span<const float> played,
               std::span<float> cleaned, std::span<float> quieted) override {
    const Shorts microphone = shorts(captured);
    const Shorts loudspeaker = shorts(played);
    Shorts out{};
    speex_echo_cancellation(echo_.get(), microphone.data(), loudspeaker.data(), out.data());
    floats(out, cleaned);
    speex_preprocess_run(preprocess_.get(), out.data());
    floats(out, quieted);
  }

  void reset() override {
    speex_echo_state_reset(echo_.get());
    preprocess_.reset(speex_preprocess_state_init(kFrame, 16000));
    MYNAH_CHECK(preprocess_ != nullptr);
    set_up();
  }

 private:
  struct Deleter {
    void operator()(SpeexEchoState* state) const { speex_echo_state_destroy(state); }

    void operator()(SpeexPreprocessState* state) const { speex_preprocess_state_destroy(state); }
  };

  void set_up() {
    speex_preprocess_ctl(preprocess_.get(), SPEEX_PREPROCESS_SET_ECHO_STATE, echo_.get());
    const auto set = [&](int what, spx_int32_t value) {
      speex_preprocess_ctl(preprocess_.get(), what, &value);
    };
    set(SPEEX_PREPROCESS_SET_ECHO_SUPPRESS, kSuppress_db);
    set(SPEEX_PREPROCESS_SET_ECHO_SUPPRESS_ACTIVE, kSuppressBeside_db);
    set(SPEEX_PREPROCESS_SET_NOISE_SUPPRESS, kNoise_db);
  }

  std::unique_ptr<SpeexEchoState, Deleter> echo_;
  std::unique_ptr<SpeexPreprocessState, Deleter> preprocess_;
};

}  // namespace

std::unique_ptr<EchoFilter> make_speex_filter() {
  return std::make_unique<SpeexFilter>();
}

}  // namespace mynah::echo
