#include "webrtc_filter.h"

#include <algorithm>
#include <array>

#include <webrtc/modules/audio_processing/include/audio_processing.h>

#include "base/check.h"

namespace mynah::bench {

namespace {

using echo::kFrame;

class WebrtcFilter final : public echo::EchoFilter {
 public:
  WebrtcFilter() { reset(); }

  void process(std::span<const float> captured, std::span<const float> played,
               std::span<float> cleaned, std::span<float> quieted) override {
    const webrtc::StreamConfig mono(16000, 1);
    std::array<float, kFrame> frame{};
    std::ranges::copy(played, frame.begin());
    float* channel = frame.data();
    processing_->ProcessReverseStream(&channel, mono, mono, &channel);
    // What is played is aligned to what is heard of it.
    processing_->set_stream_delay_ms(0);
    std::ranges::copy(captured, frame.begin());
    processing_->ProcessStream(&channel, mono, mono, &channel);
    std::ranges::copy(frame, cleaned.begin());
    std::ranges::copy(frame, quieted.begin());
  }

  void reset() override {
    webrtc::Config config;
    config.Set<webrtc::ExtendedFilter>(new webrtc::ExtendedFilter(true));
    config.Set<webrtc::DelayAgnostic>(new webrtc::DelayAgnostic(true));
    processing_.reset(webrtc::AudioProcessing::Create(config));
    MYNAH_CHECK(processing_ != nullptr);
    processing_->Initialize(16000, 16000, 16000, webrtc::AudioProcessing::kMono,
                            webrtc::AudioProcessing::kMono, webrtc::AudioProcessing::kMono);
    processing_->high_pass_filter()->Enable(true);
    processing_->echo_cancellation()->set_suppression_level(
        webrtc::EchoCancellation::kModerateSuppression);
    processing_->echo_cancellation()->Enable(true);
    processing_->noise_suppression()->set_level(webrtc::NoiseSuppression::kLow);
    processing_->noise_suppression()->Enable(true);
  }

 private:
  std::unique_ptr<webrtc::AudioProcessing> processing_;
};

}  // namespace

std::unique_ptr<echo::EchoFilter> make_webrtc_filter() {
  return std::make_unique<WebrtcFilter>();
}

}  // namespace mynah::bench
