#include "audio/device/alsa_device.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "audio/device/alsa_pcm.h"
#include "audio/device/duplex_device.h"

namespace mynah {
namespace {

constexpr int kBufferMs = 200;  // no more than is read or may wait to be played
constexpr std::chrono::milliseconds kAlsaTurn{5};
constexpr double kAlsaRetryS = 0.5;
constexpr double kTellS = 0.05;
// Devices without a clock ("null", files) take and give whatever they are asked for: they are held
// to this machine's clock, which no card is a thousandth off.
constexpr double kFastest = 1.001;
constexpr double kAheadS = 0.1;

class AlsaDevice final : public DuplexDevice {
 public:
  AlsaDevice(std::string microphone, std::string loudspeaker, int playback_hz)
      : DuplexDevice(playback_hz) {
    microphone_.name = std::move(microphone);
    loudspeaker_.name = std::move(loudspeaker);
  }

  Status start() {
    MYNAH_TRY_STATUS(open_end(loudspeaker_, AlsaPcm::Direction::Playback));
    MYNAH_TRY_STATUS(open_end(microphone_, AlsaPcm::Direction::Capture));
    duplex().tell(SoundNews::Kind::Opened,
                  fmt::format("alsa:{} is heard, the voice plays on alsa:{}", microphone_.name,
                              loudspeaker_.name));
    thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
    return {};
  }

 private:
  struct End {
    std::string name;
    std::optional<AlsaPcm> pcm;
    double began_s = 0;
    double retry_at_s = 0;
    double tell_at_s = 0;
    bool waiting = false;
  };

  void run(const std::stop_token& stop);
  Status open_end(End& end, AlsaPcm::Direction direction);
  void keep(End& end, AlsaPcm::Direction direction);
  void close_end(End& end, AlsaPcm::Direction direction, Listening listening);
  Status serve_loudspeaker();
  Status serve_microphone();
  // How many samples an end may have moved by now.
  [[nodiscard]] int64_t allowed(const End& end, int rate_hz) const;

  End microphone_;
  End loudspeaker_;
  std::vector<float> samples_;
  std::jthread thread_;  // the last: it uses all of the above
};

void AlsaDevice::run(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    keep(loudspeaker_, AlsaPcm::Direction::Playback);
    if (is_muted()) {
      if (microphone_.pcm || duplex().state(steady_s()).listening != Listening::Muted) {
        close_end(microphone_, AlsaPcm::Direction::Capture, Listening::Muted);
      }
    } else {
      keep(microphone_, AlsaPcm::Direction::Capture);
    }
    duplex().time_is(steady_s());
    std::this_thread::sleep_for(kAlsaTurn);
  }
}

Status AlsaDevice::open_end(End& end, AlsaPcm::Direction direction) {
  const bool plays = direction == AlsaPcm::Direction::Playback;
  MYNAH_TRY(AlsaPcm pcm, AlsaPcm::open(end.name, direction,
                                       plays ? duplex().playback_hz() : kHeardHz, kBufferMs));
  end.pcm.emplace(std::move(pcm));
  end.began_s = steady_s();
  end.tell_at_s = 0;
  SoundEnd told;
  told.system = "alsa";
  told.name = end.name;
  told.title = "alsa:" + end.name;
  plays ? duplex().playback_begins(std::move(told))
        : duplex().capture_begins(std::move(told), end.began_s);
  return {};
}

void AlsaDevice::close_end(End& end, AlsaPcm::Direction direction, Listening listening) {
  end.pcm.reset();
  end.retry_at_s = 0;
  direction == AlsaPcm::Direction::Playback ? duplex().playback_ends(steady_s())
                                            : duplex().capture_ends(listening, steady_s());
}

void AlsaDevice::keep(End& end, AlsaPcm::Direction direction) {
  const bool plays = direction == AlsaPcm::Direction::Playback;
  if (!end.pcm) {
    if (steady_s() < end.retry_at_s) {
      return;
    }
    if (!open_end(end, direction)) {
      end.retry_at_s = steady_s() + kAlsaRetryS;
      return;
    }
    if (std::exchange(end.waiting, false)) {
      duplex().tell(SoundNews::Kind::Returned, fmt::format("alsa:{} is back", end.name));
    }
  }
  const Status served = plays ? serve_loudspeaker() : serve_microphone();
  for (int xruns = end.pcm->take_xruns(); xruns > 0; --xruns) {
    plays ? duplex().playback_late(steady_s()) : duplex().capture_late();
  }
  if (!served) {
    close_end(end, direction, Listening::Away);
    end.retry_at_s = steady_s() + kAlsaRetryS;
    end.waiting = true;
    duplex().tell(SoundNews::Kind::Waiting, fmt::format("alsa:{} is gone ({}): waiting for it",
                                                        end.name, served.error().message));
  }
}

int64_t AlsaDevice::allowed(const End& end, int rate_hz) const {
  const double seconds = (steady_s() - end.began_s) * kFastest + kAheadS;
  return std::max<int64_t>(static_cast<int64_t>(seconds * rate_hz) - end.pcm->position(), 0);
}

Status AlsaDevice::serve_loudspeaker() {
  AlsaPcm& pcm = *loudspeaker_.pcm;
  MYNAH_TRY(const int64_t room, pcm.ready());
  const int rate_hz = duplex().playback_hz();
  // A buffer may be longer than was asked for.
  const int64_t waiting = std::max<int64_t>(pcm.buffer() - room, 0);
  const int64_t wanted = static_cast<int64_t>(rate_hz) * duplex().playback_ms() / 1000 - waiting;
  const int64_t count = std::min({room, wanted, allowed(loudspeaker_, rate_hz)});
  if (count > 0) {
    samples_.resize(static_cast<size_t>(count));
    duplex().pull(samples_);
    for (std::span<const float> rest = samples_; !rest.empty();) {
      MYNAH_TRY(const size_t written, pcm.write(rest));
      rest = rest.subspan(written);
    }
  }
  if (const double now_s = steady_s(); now_s >= loudspeaker_.tell_at_s) {
    loudspeaker_.tell_at_s = now_s + kTellS;
    const int64_t delay = pcm.delay();
    duplex().playback_stood(now_s, static_cast<double>(pcm.position() - delay),
                            static_cast<double>(delay) / rate_hz);
  }
  return {};
}

Status AlsaDevice::serve_microphone() {
  AlsaPcm& pcm = *microphone_.pcm;
  MYNAH_TRY(const int64_t ready, pcm.ready());
  const int64_t count = std::min(ready, allowed(microphone_, kHeardHz));
  if (const double now_s = steady_s(); now_s >= microphone_.tell_at_s) {
    microphone_.tell_at_s = now_s + kTellS;
    const int64_t delay = std::max(pcm.delay(), count);
    duplex().capture_stood(now_s, static_cast<double>(pcm.position() + delay),
                           static_cast<double>(delay) / kHeardHz);
  }
  if (count > 0) {
    samples_.resize(static_cast<size_t>(count));
    MYNAH_TRY(const size_t taken, pcm.read(samples_));
    duplex().captured(std::span(samples_).first(taken), steady_s());
  }
  return {};
}

// A hint's text, which the caller would have to free.
std::string hint_text(const void* hint, const char* id) {
  char* const text = ::snd_device_name_get_hint(hint, id);
  std::string copy = text == nullptr ? "" : text;
  std::free(text);  // NOLINT(cppcoreguidelines-no-malloc): ALSA's own
  return copy;
}

}  // namespace

Result<std::unique_ptr<SoundDevice>> open_alsa_device(const std::string& microphone,
                                                      const std::string& loudspeaker,
                                                      int playback_hz) {
  auto device =
      std::make_unique<AlsaDevice>(microphone.empty() ? "default" : microphone,
                                   loudspeaker.empty() ? "default" : loudspeaker, playback_hz);
  MYNAH_TRY_STATUS(device->start());
  return device;
}

SoundSystem list_alsa_devices() {
  SoundSystem system;
  system.system = "alsa";
  system.server = fmt::format("ALSA {}", ::snd_asoundlib_version());
  void** hints = nullptr;
  if (::snd_device_name_hint(-1, "pcm", &hints) < 0) {
    system.absent = "ALSA's configuration cannot be read: is libasound2-data installed?";
    return system;
  }
  for (void** hint = hints; *hint != nullptr; ++hint) {
    const std::string name = hint_text(*hint, "NAME");
    const bool told =
        name == "default" || name.starts_with("plughw:") || name == "pulse" || name == "pipewire";
    if (!told) {
      continue;  // each card has a dozen more names, for surround sound
    }
    const std::string way = hint_text(*hint, "IOID");
    std::string title = hint_text(*hint, "DESC");
    std::ranges::replace(title, '\n', ' ');
    system.devices.push_back({.name = "alsa:" + name,
                              .title = title,
                              .microphone = way != "Output",
                              .loudspeaker = way != "Input",
                              .usual = name == "default"});
  }
  ::snd_device_name_free_hint(hints);
  if (system.devices.empty()) {
    system.absent = "there is no sound card that ALSA knows: see `aplay -l` and `arecord -l`";
  }
  return system;
}

}  // namespace mynah
