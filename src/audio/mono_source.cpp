#include "audio/mono_source.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

namespace mynah {
namespace {

constexpr size_t kBlockFrames = 4096;
constexpr int kLeastRateHz = 1000;
constexpr int kMostRateHz = 768000;
// Far longer than half the filter of soxr's HQ setting at any ratio in use: what comes before a cut
// has faded out of the filter when the cut begins.
constexpr double kFilterMargin_s = 0.25;
// 2^40 samples at the highest rate are 16 days: times beyond are slips, and could overflow below.
constexpr double kMostSeconds = 1.0e6;

Status check_rate(int rate_hz, std::string_view what) {
  if (rate_hz < kLeastRateHz || rate_hz > kMostRateHz) {
    return fail(ErrorCode::Unsupported,
                fmt::format("{}: wanted a sample rate of {} to {} Hz, found {}", what, kLeastRateHz,
                            kMostRateHz, rate_hz));
  }
  return {};
}

Status check_times(const AudioOpenOptions& options) {
  if (!(options.start_s >= 0 && options.start_s <= kMostSeconds)) {
    return fail(ErrorCode::InvalidInput,
                fmt::format("wanted a start of 0 s or later, found {} s", options.start_s));
  }
  if (options.duration_s && !(*options.duration_s > 0 && *options.duration_s <= kMostSeconds)) {
    return fail(ErrorCode::InvalidInput,
                fmt::format("wanted a duration of more than 0 s, found {} s", *options.duration_s));
  }
  return {};
}

Status check_channel(const FrameReader& reader, const std::string& name,
                     std::optional<int> channel) {
  if (!channel || (*channel >= 0 && *channel < reader.channels())) {
    return {};
  }
  const int count = reader.channels();
  return fail(ErrorCode::InvalidInput,
              count == 1
                  ? fmt::format("{} has 1 channel: wanted channel 0, found {}", name, *channel)
                  : fmt::format("{} has {} channels: wanted channel 0 to {}, found {}", name, count,
                                count - 1, *channel));
}

}  // namespace

MonoSource::MonoSource(std::unique_ptr<FrameReader> reader, std::string name,
                       const AudioOpenOptions& options)
    : reader_(std::move(reader)),
      name_(std::move(name)),
      rate_hz_(options.rate_hz),
      channel_(options.channel),
      start_s_(options.start_s),
      note_(options.note) {
  if (options.duration_s) {
    left_ = std::llround(*options.duration_s * rate_hz_);
  }
}

Result<std::unique_ptr<MonoSource>> MonoSource::create(std::unique_ptr<FrameReader> reader,
                                                       std::string name,
                                                       const AudioOpenOptions& options) {
  MYNAH_TRY_STATUS(check_rate(options.rate_hz, "output"));
  MYNAH_TRY_STATUS(check_times(options));
  std::unique_ptr<MonoSource> source(new MonoSource(std::move(reader), std::move(name), options));
  MYNAH_TRY_STATUS(source->begin_recording());
  MYNAH_TRY_STATUS(source->skip_to(std::llround(options.start_s * options.rate_hz)));
  return source;
}

// Makes what depends on the recording's rate and channels.
Status MonoSource::begin_recording() {
  MYNAH_TRY_STATUS(check_rate(reader_->rate_hz(), name_));
  MYNAH_TRY_STATUS(check_channel(*reader_, name_, channel_));
  const int channels = reader_->channels();
  frames_.resize(kBlockFrames * static_cast<size_t>(channels));
  resampler_.reset();
  if (reader_->rate_hz() != rate_hz_) {
    MYNAH_TRY(resampler_, Resampler::create(reader_->rate_hz(), rate_hz_));
  }
  phase_.reset();
  if (!channel_ && channels > 1) {
    phase_.emplace(mono_weights(reader_->speakers(), channels));
  }
  any_frames_ = false;
  return {};
}

std::optional<double> MonoSource::duration_s() const {
  if (const auto frames = reader_->frames()) {
    return static_cast<double>(*frames) / reader_->rate_hz();
  }
  return std::nullopt;
}

// Input and output samples fall on the same instant every `in_step` input frames (441 in, 160 out
// for 44100 to 16000 Hz). Starting the resampler on such an instant keeps its phase, and starting
// it a little early fills its filter: the cut then equals the same part of the whole.
Status MonoSource::skip_to(int64_t first) {
  const int64_t common = std::gcd(reader_->rate_hz(), rate_hz_);
  const int64_t in_step = reader_->rate_hz() / common;
  const int64_t out_step = rate_hz_ / common;
  const int64_t margin = resampler_ ? std::llround(kFilterMargin_s * rate_hz_) : 0;
  const int64_t steps = std::max<int64_t>(0, first - margin) / out_step;
  drop_ = first;
  if (steps > 0) {
    MYNAH_TRY(const int64_t skipped, reader_->skip(steps * in_step));
    drop_ -= skipped / in_step * out_step;
  }
  return {};
}

Result<size_t> MonoSource::read(std::span<float> out) {
  size_t wanted = out.size();
  if (left_) {
    wanted = static_cast<size_t>(std::min<int64_t>(*left_, static_cast<int64_t>(wanted)));
  }
  if (wanted == 0) {
    return 0;
  }
  while (ready_at_ == ready_.size() && !ended_) {
    refill();
  }
  const size_t count = std::min(wanted, ready_.size() - ready_at_);
  if (count == 0) {
    if (error_) {
      return std::unexpected(*error_);
    }
    MYNAH_TRY_STATUS(check_not_empty());
    return 0;
  }
  std::copy_n(ready_.begin() + static_cast<std::ptrdiff_t>(ready_at_), count, out.begin());
  ready_at_ += count;
  any_samples_ = true;
  if (left_) {
    *left_ -= static_cast<int64_t>(count);
  }
  return count;
}

// Reads one block, makes it mono and resamples it into ready_.
void MonoSource::refill() {
  ready_.clear();
  ready_at_ = 0;
  const auto got = reader_->read(frames_);
  if (!got) {
    error_ = got.error();
  }
  if (!got || *got == 0) {
    finish();
    return;
  }
  any_frames_ = true;
  mix(*got);
  if (!resampler_) {
    ready_.swap(mono_);
  } else if (const Status pushed = resampler_->push(mono_, ready_); !pushed) {
    error_ = pushed.error();
    ended_ = true;
  }
  drop_before_start();
}

// Gives out what the resampler still holds, and goes on to a recording that was joined on.
void MonoSource::finish() {
  if (resampler_ && any_frames_) {
    if (const Status done = resampler_->finish(ready_); !done && !error_) {
      error_ = done.error();
    }
  }
  drop_before_start();
  ended_ = error_.has_value();
  if (ended_) {
    return;
  }
  const auto next = reader_->next();
  ended_ = !next || !*next;
  if (!next) {
    error_ = next.error();
  } else if (*next) {
    Status begun = begin_recording();
    if (begun && drop_ > 0) {
      begun = skip_to(drop_);
    }
    if (!begun) {
      error_ = begun.error();
      ended_ = true;
    }
  }
}

void MonoSource::mix(size_t frames) {
  const auto channels = static_cast<size_t>(reader_->channels());
  mono_.resize(frames);
  if (!phase_) {
    const auto channel = static_cast<size_t>(channel_.value_or(0));
    for (size_t i = 0; i < frames; ++i) {
      mono_[i] = frames_[i * channels + channel];
    }
  } else if (phase_->mix(std::span(frames_).first(frames * channels), mono_) && note_) {
    note_(channels == 2
              ? "its two channels cancel each other (one is the other upside down): their "
                "difference is heard instead of their sum"
              : "some of its channels cancel each other (one is another upside down): their "
                "difference is heard instead of their sum");
  }
  // A float file may hold anything; one NaN would otherwise stay in the filter.
  std::ranges::replace_if(mono_, [](float sample) { return !std::isfinite(sample); }, 0.0F);
}

void MonoSource::drop_before_start() {
  const auto dropped = std::min<int64_t>(drop_, static_cast<int64_t>(ready_.size()));
  drop_ -= dropped;
  ready_at_ = static_cast<size_t>(dropped);
  for (size_t i = ready_at_; i < ready_.size(); ++i) {
    ready_[i] = std::clamp(ready_[i], -1.0F, 1.0F);
  }
}

Status MonoSource::check_not_empty() const {
  if (any_samples_) {
    return {};
  }
  if (start_s_ > 0) {
    return fail(ErrorCode::InvalidInput,
                fmt::format("{} ends before the start that was asked for ({} s)", name_, start_s_));
  }
  return fail(ErrorCode::InvalidInput,
              fmt::format("{} holds no sound: it is a recording of 0 samples", name_));
}

}  // namespace mynah
