// SampleConverter: decoded frames of any sample format as interleaved floats of the first frame's
// rate and channels.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "audio/speakers.h"
#include "media/av_handles.h"

namespace mynah::media {

// Some streams change their rate or channels on the way (broadcasts, MP3s joined together); what
// they give stays as it began.
class SampleConverter {
 public:
  SampleConverter() = default;
  SampleConverter(const SampleConverter&) = delete;
  SampleConverter& operator=(const SampleConverter&) = delete;
  ~SampleConverter();

  // Takes the rate and channels of the first frame.
  bool begin(const AVFrame& frame);

  // The frame's samples, valid until the next call; empty where it cannot be converted.
  std::span<const float> convert(const AVFrame& frame);

  [[nodiscard]] int rate_hz() const { return out_rate_hz_; }

  [[nodiscard]] int channels() const { return out_layout_.nb_channels; }

  // The speaker of each channel; empty where the recording does not say.
  [[nodiscard]] std::vector<Speaker> speakers() const;

 private:
  bool follow(const AVFrame& frame);

  AVChannelLayout out_layout_{};
  int out_rate_hz_ = 0;
  AVChannelLayout in_layout_{};
  int in_rate_hz_ = 0;
  int in_format_ = -1;
  AvHandle<SwrContext> swr_;
  std::vector<float> samples_;
};

}  // namespace mynah::media
