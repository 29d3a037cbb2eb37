#include "media/sample_converter.h"

namespace mynah::media {
namespace {

constexpr int kMostSpeakers = 64;  // bits of a channel mask

}  // namespace

SampleConverter::~SampleConverter() {
  av_channel_layout_uninit(&out_layout_);
  av_channel_layout_uninit(&in_layout_);
}

bool SampleConverter::begin(const AVFrame& frame) {
  out_rate_hz_ = frame.sample_rate;
  return av_channel_layout_copy(&out_layout_, &frame.ch_layout) >= 0;
}

std::vector<Speaker> SampleConverter::speakers() const {
  std::vector<Speaker> found;
  if (out_layout_.order == AV_CHANNEL_ORDER_UNSPEC) {
    // Films with six channels of plain samples have 5.1 in this order.
    constexpr int kFilm = 6;
    if (channels() == kFilm) {
      found = {kFrontLeft, kFrontRight, kFrontCentre, kLowFrequency, kBackLeft, kBackRight};
    }
    return found;
  }
  for (unsigned i = 0; i < static_cast<unsigned>(channels()); ++i) {
    const int channel = av_channel_layout_channel_from_index(&out_layout_, i);
    if (channel >= AV_CHAN_AMBISONIC_BASE && channel <= AV_CHAN_AMBISONIC_END) {
      found.push_back(channel == AV_CHAN_AMBISONIC_BASE ? kFrontCentre : kDirectional);
    } else if (channel >= 0 && channel < kMostSpeakers) {
      found.push_back(static_cast<Speaker>(channel));
    } else {
      return {};
    }
  }
  return found;
}

// Makes a converter for what the frame is, where that is new.
bool SampleConverter::follow(const AVFrame& frame) {
  if (swr_ && frame.sample_rate == in_rate_hz_ && frame.format == in_format_ &&
      av_channel_layout_compare(&frame.ch_layout, &in_layout_) == 0) {
    return true;
  }
  swr_.reset();
  if (av_channel_layout_copy(&in_layout_, &frame.ch_layout) < 0) {
    return false;
  }
  SwrContext* swr = nullptr;
  const int made =
      swr_alloc_set_opts2(&swr, &out_layout_, AV_SAMPLE_FMT_FLT, out_rate_hz_, &in_layout_,
                          static_cast<AVSampleFormat>(frame.format), frame.sample_rate, 0, nullptr);
  AvHandle<SwrContext> owner(swr);
  if (made < 0 || swr_init(swr) < 0) {
    return false;
  }
  swr_ = std::move(owner);
  in_rate_hz_ = frame.sample_rate;
  in_format_ = frame.format;
  return true;
}

std::span<const float> SampleConverter::convert(const AVFrame& frame) {
  if (!follow(frame)) {
    return {};
  }
  const int room = swr_get_out_samples(swr_.get(), frame.nb_samples);
  if (room <= 0) {
    return {};
  }
  const auto channel_count = static_cast<size_t>(channels());
  samples_.resize(static_cast<size_t>(room) * channel_count);
  auto* out = reinterpret_cast<uint8_t*>(samples_.data());
  const auto** in = const_cast<const uint8_t**>(frame.extended_data);
  const int got = swr_convert(swr_.get(), &out, room, in, frame.nb_samples);
  return std::span(samples_).first(static_cast<size_t>(got > 0 ? got : 0) * channel_count);
}

}  // namespace mynah::media
