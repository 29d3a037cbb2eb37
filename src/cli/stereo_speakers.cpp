#include "cli/stereo_speakers.h"

#include <algorithm>
#include <cmath>

namespace mynah::cli {

namespace {

constexpr double kStep_s = 0.01;
constexpr double kLouder = 1.1;  // whisper.cpp examples/cli, estimate_diarization_speaker

}  // namespace

Result<StereoSpeakers> StereoSpeakers::measure(
    const std::function<Result<std::unique_ptr<AudioSource>>(int channel)>& open_channel) {
  StereoSpeakers result;
  for (int channel = 0; channel < 2; ++channel) {
    auto opened = open_channel(channel);
    if (!opened && channel == 1 && opened.error().code == ErrorCode::InvalidInput) {
      return fail(ErrorCode::InvalidInput,
                  "that takes a channel for each, and the recording has one channel");
    }
    MYNAH_TRY(const std::unique_ptr<AudioSource> source, std::move(opened));
    const auto step_samples = static_cast<size_t>(source->rate_hz() * kStep_s);
    std::vector<float> samples(step_samples);
    std::vector<double>& sums = result.sums_[channel];
    sums.push_back(0);
    size_t filled = 0;
    while (true) {
      MYNAH_TRY(const size_t got, source->read(std::span(samples).subspan(filled)));
      filled += got;
      if (filled == step_samples || got == 0) {
        double sum = 0;
        for (size_t i = 0; i < filled; ++i) {
          sum += std::abs(samples[i]);
        }
        sums.push_back(sums.back() + sum);
        filled = 0;
      }
      if (got == 0) {
        break;
      }
    }
  }
  return result;
}

std::string StereoSpeakers::speaker(double start_s, double end_s) const {
  double loudness[2] = {0, 0};
  for (int channel = 0; channel < 2; ++channel) {
    const std::vector<double>& sums = sums_[channel];
    const auto at = [&sums](double time_s) {
      const double step =
          std::clamp(std::round(time_s / kStep_s), 0.0, static_cast<double>(sums.size() - 1));
      return sums[static_cast<size_t>(step)];
    };
    loudness[channel] = at(end_s) - at(start_s);
  }
  if (loudness[0] > kLouder * loudness[1]) {
    return "0";
  }
  return loudness[1] > kLouder * loudness[0] ? "1" : "?";
}

}  // namespace mynah::cli
