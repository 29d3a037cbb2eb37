#include "audio/device/pulse_streams.h"

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <sys/time.h>

namespace mynah {
namespace {

// What the server asks for at a time, and what a microphone gives at a time: as little as a busy
// machine keeps up with.
constexpr int kRequestMs = 10;
constexpr int kCaptureMs = 20;
constexpr auto kServersChoice = static_cast<uint32_t>(-1);

uint32_t bytes_of(int length_ms, int rate_hz) {
  return static_cast<uint32_t>(length_ms * rate_hz / 1000 * static_cast<int>(sizeof(float)));
}

double samples_of(int64_t bytes) {
  return static_cast<double>(bytes) / sizeof(float);
}

double seconds_of(pa_usec_t microseconds) {
  return static_cast<double>(microseconds) * 1e-6;
}

// A time of the wall's clock by the steady one.
double steady_of(const timeval& wall) {
  timeval now{};
  ::gettimeofday(&now, nullptr);
  return steady_s() - (static_cast<double>(now.tv_sec - wall.tv_sec) +
                       1e-6 * static_cast<double>(now.tv_usec - wall.tv_usec));
}

}  // namespace

// What libpulse calls; each has the stream as its user's data.
struct PulseStream::Callbacks {
  static PulseStream& of(void* data) { return *static_cast<PulseStream*>(data); }

  static void state(pa_stream* /*stream*/, void* data) { of(data).state_changed(); }

  static void write(pa_stream* /*stream*/, size_t bytes, void* data) { of(data).fill(bytes); }

  static void read(pa_stream* /*stream*/, size_t /*bytes*/, void* data) { of(data).take(); }

  static void late(pa_stream* /*stream*/, void* data) {
    PulseStream& stream = of(data);
    stream.direction_ == Direction::Playback ? stream.ran_dry() : stream.duplex_.capture_late();
  }

  static void moved(pa_stream* /*stream*/, void* data) { of(data).moved(); }

  static void suspended(pa_stream* /*stream*/, void* data) { of(data).suspended(); }

  static void time(pa_stream* /*stream*/, int success, void* data) {
    PulseStream& stream = of(data);
    if (success != 0) {
      stream.note_time();
    }
  }

  static void source(pa_context* /*context*/, const pa_source_info* info, int /*end*/, void* data) {
    if (info != nullptr) {
      of(data).note_device(info->description, info->mute != 0);
    }
    of(data).known_ = true;
  }

  static void sink(pa_context* /*context*/, const pa_sink_info* info, int /*end*/, void* data) {
    if (info != nullptr) {
      of(data).note_device(info->description, info->mute != 0);
    }
    of(data).known_ = true;
  }
};

PulseStream::PulseStream(PulseConnection& connection, Duplex& duplex, Direction direction,
                         const std::string& device)
    : connection_(connection),
      api_(connection.api()),
      duplex_(duplex),
      direction_(direction),
      rate_hz_(direction == Direction::Playback ? duplex.playback_hz() : kHeardHz) {
  connect(device);
}

PulseStream::~PulseStream() {
  for (pa_operation* const asked : {time_asked_, device_asked_}) {
    if (asked != nullptr) {
      api_.operation_cancel(asked);
      api_.operation_unref(asked);
    }
  }
  if (stream_ != nullptr) {
    api_.stream_set_state_callback(stream_, nullptr, nullptr);
    api_.stream_set_read_callback(stream_, nullptr, nullptr);
    api_.stream_set_write_callback(stream_, nullptr, nullptr);
    api_.stream_set_moved_callback(stream_, nullptr, nullptr);
    api_.stream_set_suspended_callback(stream_, nullptr, nullptr);
    api_.stream_set_underflow_callback(stream_, nullptr, nullptr);
    api_.stream_set_overflow_callback(stream_, nullptr, nullptr);
    api_.stream_disconnect(stream_);
    api_.stream_unref(stream_);
  }
}

void PulseStream::connect(const std::string& device) {
  const bool plays = direction_ == Direction::Playback;
  const pa_sample_spec format{
      .format = PA_SAMPLE_FLOAT32NE, .rate = static_cast<uint32_t>(rate_hz_), .channels = 1};
  pa_proplist* const about = api_.proplist_new();
  api_.proplist_sets(about, PA_PROP_MEDIA_NAME, plays ? "Voice" : "Listening");
  stream_ = api_.stream_new_with_proplist(connection_.context(), nullptr, &format, nullptr, about);
  api_.proplist_free(about);
  if (stream_ == nullptr) {
    failed_ = true;
    reason_ = connection_.error();
    return;
  }
  api_.stream_set_state_callback(stream_, Callbacks::state, this);
  api_.stream_set_moved_callback(stream_, Callbacks::moved, this);
  api_.stream_set_suspended_callback(stream_, Callbacks::suspended, this);
  pa_buffer_attr buffer{.maxlength = kServersChoice,
                        .tlength = kServersChoice,
                        .prebuf = kServersChoice,
                        .minreq = kServersChoice,
                        .fragsize = kServersChoice};
  auto flags = static_cast<pa_stream_flags_t>(PA_STREAM_ADJUST_LATENCY |
                                              (device.empty() ? 0 : PA_STREAM_DONT_MOVE));
  const char* const name = device.empty() ? nullptr : device.c_str();
  int refused = 0;
  if (plays) {
    api_.stream_set_write_callback(stream_, Callbacks::write, this);
    api_.stream_set_underflow_callback(stream_, Callbacks::late, this);
    buffer = playback_buffer();
    refused = api_.stream_connect_playback(stream_, name, &buffer, flags, nullptr, nullptr);
  } else {
    api_.stream_set_read_callback(stream_, Callbacks::read, this);
    api_.stream_set_overflow_callback(stream_, Callbacks::late, this);
    buffer.fragsize = bytes_of(kCaptureMs, rate_hz_);
    refused = api_.stream_connect_record(stream_, name, &buffer, flags);
  }
  if (refused < 0) {
    failed_ = true;
    reason_ = connection_.error();
  }
}

// The server and its device together have playback_ms() of sound. After it was starved it goes on
// with the next samples, not with a whole buffer of them.
pa_buffer_attr PulseStream::playback_buffer() {
  asked_ms_ = duplex_.playback_ms();
  const uint32_t request = bytes_of(kRequestMs, rate_hz_);
  return {.maxlength = kServersChoice,
          .tlength = bytes_of(asked_ms_, rate_hz_),
          .prebuf = request,
          .minreq = request,
          .fragsize = kServersChoice};
}

void PulseStream::ran_dry() {
  duplex_.playback_late(steady_s());
  if (duplex_.playback_ms() == asked_ms_) {
    return;
  }
  const pa_buffer_attr buffer = playback_buffer();
  if (pa_operation* const asked = api_.stream_set_buffer_attr(stream_, &buffer, nullptr, nullptr)) {
    api_.operation_unref(asked);
  }
}

void PulseStream::state_changed() {
  const pa_stream_state_t state = api_.stream_get_state(stream_);
  if (state == PA_STREAM_READY) {
    begin();
  } else if (!PA_STREAM_IS_GOOD(state)) {
    failed_ = true;
    no_device_ = api_.context_errno(connection_.context()) == PA_ERR_NOENTITY;
    reason_ = connection_.error();
  }
}

void PulseStream::begin() {
  const char* const name = api_.stream_get_device_name(stream_);
  SoundEnd end;
  end.system = "pulse";
  end.name = name == nullptr ? "" : name;
  end.title = end.name;
  title_ = end.name;
  direction_ == Direction::Playback ? duplex_.playback_begins(std::move(end))
                                    : duplex_.capture_begins(std::move(end), steady_s());
  ready_ = true;
  suspended();
  ask_device();
}

void PulseStream::fill(size_t bytes) {
  std::vector<float> samples(bytes / sizeof(float));
  duplex_.pull(samples);
  api_.stream_write(stream_, samples.data(), samples.size() * sizeof(float), nullptr, 0,
                    PA_SEEK_RELATIVE);
}

void PulseStream::take() {
  while (api_.stream_readable_size(stream_) > 0) {
    const void* data = nullptr;
    size_t bytes = 0;
    if (api_.stream_peek(stream_, &data, &bytes) < 0 || bytes == 0) {
      return;
    }
    const size_t count = bytes / sizeof(float);
    if (data == nullptr) {  // a hole: samples that the server lost
      duplex_.capture_late();
      duplex_.captured(std::vector<float>(count), steady_s());
    } else {
      duplex_.captured({static_cast<const float*>(data), count}, steady_s());
    }
    api_.stream_drop(stream_);
  }
}

void PulseStream::moved() {
  if (direction_ == Direction::Playback) {
    duplex_.playback_held(true, steady_s());
    duplex_.playback_held(false, steady_s());
  } else {
    duplex_.capture_moved();
  }
  moved_ = true;
  ask_device();
  suspended();
}

void PulseStream::suspended() {
  const bool now = api_.stream_is_suspended(stream_) > 0;
  if (now == std::exchange(suspended_, now)) {
    return;
  }
  if (direction_ == Direction::Playback) {
    duplex_.playback_held(now, steady_s());
    now ? duplex_.tell(SoundNews::Kind::Waiting,
                       fmt::format("{} is suspended: the voice waits", title_))
        : duplex_.tell(SoundNews::Kind::Returned, fmt::format("{} plays again", title_));
  }
  // A microphone that gives nothing is told by the duplex, whatever the reason.
}

void PulseStream::ask_time() {
  if (time_asked_ != nullptr) {
    if (api_.operation_get_state(time_asked_) == PA_OPERATION_RUNNING) {
      return;
    }
    api_.operation_unref(std::exchange(time_asked_, nullptr));
  }
  if (ready_ && !failed_ && !suspended_) {
    time_asked_ = api_.stream_update_timing_info(stream_, Callbacks::time, this);
  }
}

// What is told is what stood at the server at that time. What left its buffer is still on its way
// through the device; what came from the device is late by that.
void PulseStream::note_time() {
  const pa_timing_info* const info = api_.stream_get_timing_info(stream_);
  if (info == nullptr || suspended_) {
    return;
  }
  const double time = steady_of(info->timestamp);
  const double way = seconds_of(info->transport_usec);
  if (direction_ == Direction::Playback) {
    if (info->playing == 0) {
      return;
    }
    const double device = seconds_of(info->sink_usec);
    const double queued = samples_of(info->write_index - info->read_index) / rate_hz_;
    duplex_.playback_stood(time, samples_of(info->read_index) - device * rate_hz_,
                           way + std::max(queued, 0.0) + device);
  } else {
    // A loudspeaker's monitor hears what will be played, ahead of time.
    const double device = seconds_of(info->source_usec) - seconds_of(info->sink_usec);
    duplex_.capture_stood(time, samples_of(info->write_index) + device * rate_hz_,
                          way + std::max(device, 0.0));
  }
}

void PulseStream::ask_device() {
  if (device_asked_ != nullptr) {
    api_.operation_cancel(device_asked_);
    api_.operation_unref(std::exchange(device_asked_, nullptr));
  }
  const char* const name = api_.stream_get_device_name(stream_);
  if (!ready_ || failed_ || name == nullptr) {
    return;
  }
  device_asked_ =
      direction_ == Direction::Playback
          ? api_.context_get_sink_info_by_name(connection_.context(), name, Callbacks::sink, this)
          : api_.context_get_source_info_by_name(connection_.context(), name, Callbacks::source,
                                                 this);
}

void PulseStream::note_device(const char* description, bool muted) {
  const char* const name = api_.stream_get_device_name(stream_);
  title_ = description == nullptr ? name : description;
  if (direction_ == Direction::Playback) {
    duplex_.playback_named(name, title_);
  } else {
    duplex_.capture_named(name, title_);
    duplex_.muted_at_server(muted);
  }
  if (std::exchange(moved_, false)) {
    duplex_.tell(SoundNews::Kind::Moved, direction_ == Direction::Playback
                                             ? fmt::format("the voice plays on {} now", title_)
                                             : fmt::format("{} is heard now", title_));
  }
}

}  // namespace mynah
