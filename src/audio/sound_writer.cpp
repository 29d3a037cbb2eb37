#include "audio/sound_writer.h"

#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "audio/media_writer.h"
#include "audio/plain_writer.h"
#include "audio/resampler.h"
#include "audio/sndfile_writer.h"

namespace mynah {
namespace {

constexpr int kLeastRate_hz = 1000;
constexpr int kMostRate_hz = 384000;

// Changes the rate in front of another writer.
class ResampledWriter final : public SoundWriter {
 public:
  ResampledWriter(Resampler resampler, std::unique_ptr<SoundWriter> writer)
      : resampler_(std::move(resampler)), writer_(std::move(writer)) {}

  Status write(std::span<const float> samples) override {
    ready_.clear();
    MYNAH_TRY_STATUS(resampler_.push(samples, ready_));
    return writer_->write(ready_);
  }

  Status finish() override {
    ready_.clear();
    MYNAH_TRY_STATUS(resampler_.finish(ready_));
    MYNAH_TRY_STATUS(writer_->write(ready_));
    return writer_->finish();
  }

 private:
  Resampler resampler_;
  std::unique_ptr<SoundWriter> writer_;
  std::vector<float> ready_;
};

std::span<const int> rates_of(SoundFormat format) {
  switch (format) {
    case SoundFormat::Mp3:
    case SoundFormat::Opus:
      return sndfile_rates(format);
    case SoundFormat::Aac:
      return media_writer_rates();
    default:
      return {};
  }
}

Result<int> file_rate(const SoundWriterOptions& options) {
  const std::span<const int> rates = rates_of(options.format);
  const int wanted = options.file_rate_hz.value_or(options.rate_hz);
  if (wanted < kLeastRate_hz || wanted > kMostRate_hz) {
    return fail(ErrorCode::Usage, fmt::format("wanted a rate of {} to {} Hz, found {}",
                                              kLeastRate_hz, kMostRate_hz, wanted));
  }
  if (rates.empty() || std::ranges::find(rates, wanted) != rates.end()) {
    return wanted;
  }
  if (options.file_rate_hz) {
    return fail(ErrorCode::Usage,
                fmt::format("{} has no rate of {} Hz; wanted one of {}", name(options.format),
                            wanted, fmt::join(rates, ", ")));
  }
  const auto above = std::ranges::lower_bound(rates, wanted);
  return above == rates.end() ? rates.back() : *above;
}

Result<std::unique_ptr<SoundWriter>> make_encoder(ByteSink& sink, const SoundWriterOptions& options,
                                                  int rate_hz) {
  switch (options.format) {
    case SoundFormat::Wav:
      return make_wav_writer(sink, rate_hz);
    case SoundFormat::Pcm:
      return make_pcm_writer(sink);
    case SoundFormat::Aac:
      return make_media_writer(sink, rate_hz, options.media_program);
    default:
      return make_sndfile_writer(sink, options.format, rate_hz);
  }
}

}  // namespace

Result<std::unique_ptr<SoundWriter>> make_sound_writer(ByteSink& sink,
                                                       const SoundWriterOptions& options) {
  MYNAH_TRY(const int rate_hz, file_rate(options));
  MYNAH_TRY(auto writer, make_encoder(sink, options, rate_hz));
  if (rate_hz == options.rate_hz) {
    return writer;
  }
  MYNAH_TRY(Resampler resampler, Resampler::create(options.rate_hz, rate_hz));
  return std::make_unique<ResampledWriter>(std::move(resampler), std::move(writer));
}

}  // namespace mynah
