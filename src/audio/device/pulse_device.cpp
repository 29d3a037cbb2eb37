#include "audio/device/pulse_device.h"

#include <chrono>
#include <future>
#include <optional>
#include <string_view>
#include <thread>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "audio/device/duplex_device.h"
#include "audio/device/pulse_connection.h"
#include "audio/device/pulse_streams.h"

namespace mynah {
namespace {

constexpr std::chrono::milliseconds kServeTurn{10};
constexpr double kRetryS = 0.5;
constexpr double kAskTimeS = 0.05;
constexpr double kOpenLimitS = 5;

// "no microphone 'x' here; there is: a, b".
std::string missing_text(PulseConnection& connection, bool microphone, const std::string& name) {
  std::vector<std::string> names;
  for (const SoundChoice& choice : connection.devices()) {
    if (choice.microphone == microphone) {
      names.push_back(choice.name);
    }
  }
  const std::string_view what = microphone ? "microphone" : "loudspeaker";
  const std::string found = names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", "));
  return name.empty()
             ? fmt::format("the sound server has no {} to use; it has: {}", what, found)
             : fmt::format("the sound server has no {} called {}; it has: {}", what, name, found);
}

class PulseDevice final : public DuplexDevice {
 public:
  PulseDevice(const PulseApi& api, std::string microphone, std::string loudspeaker,
              const SoundOptions& options)
      : DuplexDevice(options.playback_hz), api_(api), server_(options.server) {
    microphone_.device = std::move(microphone);
    loudspeaker_.device = std::move(loudspeaker);
  }

  // Starts the thread and waits for its first success or failure.
  Status start() {
    auto opened = opened_.get_future();
    thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
    return opened.get();
  }

 private:
  // One of both ends, as the thread keeps it.
  struct End {
    std::string device;  // as it was asked for
    std::unique_ptr<PulseStream> stream;
    double retry_at_s = 0;
    bool waiting = false;  // that it is away was told
  };

  void run(const std::stop_token& stop);
  void serve_streams();
  void keep(End& end, PulseStream::Direction direction);
  void end_stream(End& end, PulseStream::Direction direction);
  void away(End& end, PulseStream::Direction direction, const std::string& reason);
  void lose_server();
  void settle_opening();
  static void note_change(pa_context* context, pa_subscription_event_type_t event, uint32_t index,
                          void* device);

  PulseApi api_;
  std::string server_;

  // Of the thread alone.
  std::unique_ptr<PulseConnection> connection_;
  End microphone_;
  End loudspeaker_;
  double connect_at_s_ = 0;
  double ask_time_at_s_ = 0;
  bool devices_changed_ = false;
  bool settled_ = false;  // opened_ was answered
  double began_s_ = 0;
  std::promise<Status> opened_;

  std::jthread thread_;  // the last: it uses all of the above
};

void PulseDevice::run(const std::stop_token& stop) {
  began_s_ = steady_s();
  const auto tick = [this] {
    if (settled_) {
      duplex().time_is(steady_s());
    }
  };
  while (!stop.stop_requested()) {
    tick();
    if (connection_ != nullptr) {
      connection_->serve(kServeTurn);
      serve_streams();
      continue;
    }
    if (steady_s() < connect_at_s_) {
      std::this_thread::sleep_for(kServeTurn);
      continue;
    }
    auto connection = PulseConnection::open(api_, server_, tick);
    connect_at_s_ = steady_s() + kRetryS;
    if (connection) {
      connection_ = std::move(*connection);
      api_.context_set_subscribe_callback(connection_->context(), note_change, this);
      constexpr auto kChanges = static_cast<pa_subscription_mask_t>(PA_SUBSCRIPTION_MASK_SOURCE |
                                                                    PA_SUBSCRIPTION_MASK_SINK);
      connection_->finish(
          api_.context_subscribe(connection_->context(), kChanges, nullptr, nullptr));
    } else if (!settled_) {
      opened_.set_value(std::unexpected(std::move(connection).error()));
      break;
    }
  }
  microphone_.stream.reset();
  loudspeaker_.stream.reset();
  connection_.reset();
}

void PulseDevice::serve_streams() {
  if (!connection_->alive()) {
    lose_server();
    return;
  }
  keep(loudspeaker_, PulseStream::Direction::Playback);
  if (is_muted()) {
    if (microphone_.stream != nullptr || duplex().state(steady_s()).listening == Listening::Away) {
      end_stream(microphone_, PulseStream::Direction::Capture);
      duplex().capture_ends(Listening::Muted, steady_s());
      microphone_.retry_at_s = 0;
    }
  } else {
    keep(microphone_, PulseStream::Direction::Capture);
  }
  const double now_s = steady_s();
  const bool due = now_s >= ask_time_at_s_;
  const bool changed = std::exchange(devices_changed_, false);
  for (const End* const end : {&microphone_, &loudspeaker_}) {
    if (end->stream != nullptr && due) {
      end->stream->ask_time();
    }
    if (end->stream != nullptr && changed) {
      end->stream->ask_device();
    }
  }
  ask_time_at_s_ = due ? now_s + kAskTimeS : ask_time_at_s_;
  settle_opening();
}

// Makes a stream where there is none, and takes away one that failed.
void PulseDevice::keep(End& end, PulseStream::Direction direction) {
  if (end.stream == nullptr) {
    if (steady_s() >= end.retry_at_s) {
      end.retry_at_s = steady_s() + kRetryS;
      end.stream = std::make_unique<PulseStream>(*connection_, duplex(), direction, end.device);
    }
    return;
  }
  if (end.stream->failed()) {
    const bool missing = end.stream->no_such_device();
    const std::string reason =
        missing
            ? missing_text(*connection_, direction == PulseStream::Direction::Capture, end.device)
            : end.stream->reason();
    end_stream(end, direction);
    away(end, direction, reason);
  } else if (end.waiting && end.stream->ready()) {
    end.waiting = false;
    duplex().tell(
        SoundNews::Kind::Returned,
        fmt::format("the {} is back: {}",
                    direction == PulseStream::Direction::Capture ? "microphone" : "loudspeaker",
                    end.stream->title()));
  }
}

void PulseDevice::end_stream(End& end, PulseStream::Direction direction) {
  end.stream.reset();
  direction == PulseStream::Direction::Playback
      ? duplex().playback_ends(steady_s())
      : duplex().capture_ends(Listening::Away, steady_s());
}

void PulseDevice::away(End& end, PulseStream::Direction direction, const std::string& reason) {
  if (!settled_) {
    settled_ = true;
    opened_.set_value(fail(ErrorCode::Environment,
                           fmt::format("{}: `mynah devices --sound` lists them", reason)));
    return;
  }
  if (!std::exchange(end.waiting, true)) {
    duplex().tell(
        SoundNews::Kind::Waiting,
        fmt::format("the {} is gone ({}): waiting for {}",
                    direction == PulseStream::Direction::Capture ? "microphone" : "loudspeaker",
                    reason, end.device.empty() ? "another" : end.device));
  }
}

void PulseDevice::lose_server() {
  const std::string reason = connection_->error();
  end_stream(loudspeaker_, PulseStream::Direction::Playback);
  end_stream(microphone_, PulseStream::Direction::Capture);
  if (is_muted()) {
    duplex().capture_ends(Listening::Muted, steady_s());
  }
  connection_.reset();
  connect_at_s_ = steady_s() + kRetryS;
  for (End* const end : {&microphone_, &loudspeaker_}) {
    end->retry_at_s = 0;
    end->waiting = true;
  }
  duplex().tell(SoundNews::Kind::Waiting,
                fmt::format("the sound server is gone ({}): waiting for it", reason));
}

// Both ends flow for the first time, or they do not in time.
void PulseDevice::settle_opening() {
  if (settled_) {
    return;
  }
  const auto flows = [](const End& end) { return end.stream != nullptr && end.stream->ready(); };
  if (flows(microphone_) && flows(loudspeaker_)) {
    settled_ = true;
    duplex().tell(SoundNews::Kind::Opened,
                  fmt::format("{} is heard, the voice plays on {}", microphone_.stream->title(),
                              loudspeaker_.stream->title()));
    opened_.set_value({});
  } else if (steady_s() > began_s_ + kOpenLimitS) {
    settled_ = true;
    opened_.set_value(fail(ErrorCode::Environment,
                           fmt::format("the sound server made no stream in {} s: restart it "
                                       "(systemctl --user restart pipewire-pulse, pulseaudio -k)",
                                       kOpenLimitS)));
  }
}

void PulseDevice::note_change(pa_context* /*context*/, pa_subscription_event_type_t /*event*/,
                              uint32_t /*index*/, void* device) {
  static_cast<PulseDevice*>(device)->devices_changed_ = true;
}

}  // namespace

Result<std::unique_ptr<SoundDevice>> open_pulse_device(const std::string& microphone,
                                                       const std::string& loudspeaker,
                                                       const SoundOptions& options) {
  MYNAH_TRY(const PulseApi api, open_pulse_library());
  auto device = std::make_unique<PulseDevice>(api, microphone, loudspeaker, options);
  MYNAH_TRY_STATUS(device->start());
  return device;
}

SoundSystem list_pulse_devices(const std::string& server) {
  SoundSystem system;
  system.system = "pulse";
  const auto api = open_pulse_library();
  if (!api) {
    system.absent = api.error().message;
    return system;
  }
  auto connection = PulseConnection::open(*api, server);
  if (!connection) {
    system.absent = connection.error().message;
    return system;
  }
  system.server = (*connection)->server_name();
  system.devices = (*connection)->devices();
  return system;
}

}  // namespace mynah
