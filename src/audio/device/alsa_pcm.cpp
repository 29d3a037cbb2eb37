#include "audio/device/alsa_pcm.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace mynah {
namespace {

// ALSA's own words go to standard error where nobody takes them.
void say_nothing(const char* /*file*/, int /*line*/, const char* /*function*/, int /*code*/,
                 const char* /*format*/, ...) {}

constexpr unsigned kPeriodsABuffer = 4;

std::string alsa_words(int64_t code) {
  return ::snd_strerror(static_cast<int>(code));
}

}  // namespace

Result<AlsaPcm> AlsaPcm::open(const std::string& name, Direction direction, int rate_hz,
                              int buffer_ms) {
  ::snd_lib_error_set_handler(say_nothing);
  const std::string opened = name.starts_with("hw:") ? "plug" + name : name;
  const bool plays = direction == Direction::Playback;
  snd_pcm_t* raw = nullptr;
  const int answer =
      ::snd_pcm_open(&raw, opened.c_str(), plays ? SND_PCM_STREAM_PLAYBACK : SND_PCM_STREAM_CAPTURE,
                     SND_PCM_NONBLOCK);
  if (answer < 0) {
    return fail(
        ErrorCode::Environment,
        fmt::format("ALSA cannot {} alsa:{} ({}): {}", plays ? "play on" : "listen to", name,
                    alsa_words(answer),
                    answer == -EBUSY
                        ? "another program has it; end that, or go through a sound server"
                        : "`mynah devices --sound` lists what there is; is this user in the group "
                          "audio?"));
  }
  AlsaPcm pcm(std::unique_ptr<snd_pcm_t, Close>(raw), direction);
  if (auto set = pcm.set_up(rate_hz, buffer_ms); !set) {
    return std::unexpected(std::move(set).error().while_doing("alsa:" + name));
  }
  return pcm;
}

Status AlsaPcm::set_up(int rate_hz, int buffer_ms) {
  snd_pcm_hw_params_t* hard = nullptr;
  snd_pcm_hw_params_alloca(&hard);
  auto rate = static_cast<unsigned>(rate_hz);
  auto buffer_us = static_cast<unsigned>(buffer_ms) * 1000;
  unsigned period_us = buffer_us / kPeriodsABuffer;
  int answer = ::snd_pcm_hw_params_any(pcm_.get(), hard);
  const auto then = [&](auto set, auto... arguments) {
    answer = answer < 0 ? answer : set(pcm_.get(), hard, arguments...);
  };
  then(::snd_pcm_hw_params_set_access, SND_PCM_ACCESS_RW_INTERLEAVED);
  then(::snd_pcm_hw_params_set_format, SND_PCM_FORMAT_FLOAT);
  then(::snd_pcm_hw_params_set_channels, 1U);
  then(::snd_pcm_hw_params_set_rate_near, &rate, static_cast<int*>(nullptr));
  then(::snd_pcm_hw_params_set_buffer_time_near, &buffer_us, static_cast<int*>(nullptr));
  then(::snd_pcm_hw_params_set_period_time_near, &period_us, static_cast<int*>(nullptr));
  answer = answer < 0 ? answer : ::snd_pcm_hw_params(pcm_.get(), hard);
  if (answer < 0 || rate != static_cast<unsigned>(rate_hz)) {
    return fail(ErrorCode::Environment,
                fmt::format("it has no mono samples at {} Hz ({}): name it through a plug, such as "
                            "alsa:plughw:0",
                            rate_hz, answer < 0 ? alsa_words(answer) : fmt::format("{} Hz", rate)));
  }
  snd_pcm_uframes_t buffer = 0;
  ::snd_pcm_hw_params_get_buffer_size(hard, &buffer);
  buffer_ = static_cast<int64_t>(buffer);
  answer = ::snd_pcm_prepare(pcm_.get());
  if (answer >= 0 && direction_ == Direction::Capture) {
    answer = ::snd_pcm_start(pcm_.get());
  }
  return answer < 0 ? fail(ErrorCode::Environment, alsa_words(answer)) : Status{};
}

Result<int64_t> AlsaPcm::recovered(int64_t answer) {
  if (answer == -EAGAIN) {
    return 0;
  }
  if (answer == -EPIPE || answer == -ESTRPIPE) {
    ++xruns_;
    const int again = ::snd_pcm_recover(pcm_.get(), static_cast<int>(answer), 1);
    if (again == -EAGAIN) {
      return 0;
    }
    if (again >= 0 && direction_ == Direction::Capture) {
      ::snd_pcm_start(pcm_.get());
    }
    if (again >= 0) {
      return 0;
    }
    answer = again;
  }
  return fail(ErrorCode::Device, alsa_words(answer));
}

Result<int64_t> AlsaPcm::ready() {
  const auto answer = static_cast<int64_t>(::snd_pcm_avail_update(pcm_.get()));
  return answer < 0 ? recovered(answer) : Result<int64_t>(answer);
}

Result<size_t> AlsaPcm::write(std::span<const float> samples) {
  int64_t answer = ::snd_pcm_writei(pcm_.get(), samples.data(), samples.size());
  if (answer < 0) {
    MYNAH_TRY(answer, recovered(answer));
  }
  position_ += answer;
  if (::snd_pcm_state(pcm_.get()) == SND_PCM_STATE_PREPARED) {
    ::snd_pcm_start(pcm_.get());
  }
  return static_cast<size_t>(answer);
}

Result<size_t> AlsaPcm::read(std::span<float> samples) {
  int64_t answer = ::snd_pcm_readi(pcm_.get(), samples.data(), samples.size());
  if (answer < 0) {
    MYNAH_TRY(answer, recovered(answer));
  }
  position_ += answer;
  return static_cast<size_t>(answer);
}

int64_t AlsaPcm::delay() const {
  snd_pcm_sframes_t delay = 0;
  return ::snd_pcm_delay(pcm_.get(), &delay) < 0 ? 0 : std::max<int64_t>(delay, 0);
}

int AlsaPcm::take_xruns() {
  return std::exchange(xruns_, 0);
}

}  // namespace mynah
