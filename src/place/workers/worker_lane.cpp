#include "place/workers/worker_lane.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <new>
#include <utility>

#include <fmt/format.h>

#include "place/terms/plain_text.h"
#include "place/workers/hosted_model.h"
#include "place/workers/watchdog.h"

namespace mynah::place {
namespace {

using std::chrono::milliseconds;

// What a worker says of an error is told in a line.
constexpr size_t kLongestReason = 2000;

// A worker starts, and takes its settings, in this: it opens no device meanwhile.
constexpr milliseconds kStart{10000};

// Who hears of a stop between two tokens, or is about to answer, does so in this.
constexpr milliseconds kStopsEarly{100};

// While it lives the process computes for a lane.
class CallUnderWay {
 public:
  CallUnderWay(WorkerProcess& process, const Pulse& pulse) : process_(process), pulse_(pulse) {
    process_.begin_call(pulse_);
  }

  ~CallUnderWay() { process_.end_call(pulse_); }

  CallUnderWay(const CallUnderWay&) = delete;
  CallUnderWay& operator=(const CallUnderWay&) = delete;

 private:
  WorkerProcess& process_;
  const Pulse& pulse_;
};

}  // namespace

Result<std::shared_ptr<WorkerLane>> WorkerLane::start(const WorkerSpec& spec) {
  // Whatever was missing for it, a file or a descriptor: the device that it is for cannot be used.
  const auto no_worker = [&spec](const Error& error) {
    return fail(ErrorCode::Device, fmt::format("{} got no worker: {}", spec.device, error.message));
  };
  auto worker = spawn(spec);
  if (!worker) {
    return no_worker(worker.error());
  }
  try {
    const Status settled = (*worker)->tell_settings();
    return settled ? std::move(worker) : no_worker(settled.error());
  } catch (const DeviceError& error) {
    return std::unexpected(error.error());
  }
}

Result<std::shared_ptr<WorkerLane>> WorkerLane::spawn(const WorkerSpec& spec) {
  MYNAH_TRY(LaneEnds ends, LaneEnds::create());
  MYNAH_TRY(auto process, WorkerProcess::start(spec, ends));
  return std::shared_ptr<WorkerLane>(
      new WorkerLane(spec.device, std::move(process), std::move(ends)));
}

Result<std::shared_ptr<WorkerLane>> WorkerLane::next(const std::string& device) {
  auto ends = LaneEnds::create();
  if (!ends) {
    return fail(ErrorCode::Device,
                fmt::format("{} got no lane in its worker: {}", device, ends.error().message));
  }
  const std::array descriptors{ends->theirs.get(), ends->pulse.descriptor(), ends->requests,
                               ends->answers};
  const auto nothing = [](std::span<std::byte> /*room*/) {};
  MYNAH_TRY_STATUS(exchange(Ask::NewLane, 0, nothing, kStart, {}, WhenLate::End, descriptors));
  std::shared_ptr<WorkerLane> lane(new WorkerLane(device, process_, *std::move(ends)));
  MYNAH_TRY_STATUS(lane->tell_settings());
  return lane;
}

// Their end of the socket closes here: the worker has it, and its end is seen to be gone.
WorkerLane::WorkerLane(std::string device, std::shared_ptr<WorkerProcess> process, LaneEnds ends)
    : device_(std::move(device)),
      process_(std::move(process)),
      channel_(std::move(ends.channel)),
      pulse_(std::move(ends.pulse)) {}

Status WorkerLane::tell_settings() {
  return tell(Ask::Settings, kStart, process_->spec().settings, process_->spec().faults);
}

const Pulse& WorkerLane::pulse() const {
  return *std::launder(reinterpret_cast<const Pulse*>(pulse_.bytes().data()));
}

Pulse& WorkerLane::pulse() {
  return *std::launder(reinterpret_cast<Pulse*>(pulse_.bytes().data()));
}

void WorkerLane::add_last_sign(StageReport& report) const {
  constexpr double kOfMicrosecond = 1e-3;
  const Pulse::Done& done = pulse().done[number_of(report.stage)];
  report.operations = std::max(report.operations, done.operations.load());
  report.milliseconds =
      std::max(report.milliseconds, kOfMicrosecond * static_cast<double>(done.microseconds.load()));
}

bool WorkerLane::alive() const {
  return !closed_ && process_->alive();
}

Error WorkerLane::why_dead() const {
  Error why = process_->why_dead();
  if (why.message.empty()) {
    why.message = "was let go, since nobody used it";  // the lane alone
  }
  return {why.code, fmt::format("{} {}", device_, why.message)};
}

std::string WorkerLane::where() const {
  const std::optional<Stage> stage = last_stage();
  return stage ? fmt::format(" in {}", stage_name(*stage)) : std::string();
}

void WorkerLane::retire() {
  const std::lock_guard lock(mutex_);
  process_->end("was let go, since nobody used it");
}

void WorkerLane::close() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  channel_.reset();
}

void WorkerLane::close(StageGroup group) {
  try {
    static_cast<void>(tell_if_prompt(Ask::CloseGroup, kLeastStep, group));
  } catch (const DeviceError&) {
    return;  // who has a model there hears of it
  }
  close();
}

void WorkerLane::end(const std::string& reason) {
  process_->kill(reason);
  const std::lock_guard lock(mutex_);  // a call that was under way has failed by now
  process_->end(reason);
}

void WorkerLane::end_call(const std::string& reason, ErrorCode code) {
  process_->end(reason, code);
  throw DeviceError(why_dead());
}

void WorkerLane::refuse_answer() {
  const std::lock_guard lock(mutex_);
  end_call("answered with bytes that are no answer");
}

std::optional<Message> WorkerLane::wait_for_answer(uint64_t request, const StepLimit& step,
                                                   const CallStop& stop, WhenLate when_late) {
  Watchdog watchdog(process_->pid(), pulse(), step);
  const std::stop_token& user_stop = process_->spec().stop;
  const bool is_last = user_stop.stop_requested();  // asked though the user stops
  std::optional<std::chrono::steady_clock::time_point> stopped_at;
  while (true) {
    if (!is_last && user_stop.stop_requested() && !stopped_at) {
      stopped_at = std::chrono::steady_clock::now();
    }
    if (stopped_at) {
      pulse().stop.store(request);
    }
    show_stops(request, stop);
    auto message = channel_->receive(kBeat);
    if (!message) {
      end_call(message.error().code == ErrorCode::Io ? process_->how_it_ended()
                                                     : "answered with " + message.error().message);
    }
    if (*message && (*message)->request == request) {
      return *std::move(message);
    }
    if (*message) {
      end_call("answered what was not asked");
    }
    if (!process_->alive()) {
      throw DeviceError(why_dead());  // also where the kernel holds it inside a driver
    }
    if (stopped_at && std::chrono::steady_clock::now() - *stopped_at >= kStopsEarly) {
      end_call("was left, since mynah was stopped", ErrorCode::Cancelled);
    }
    if (auto reason = watchdog.look(where())) {
      if (when_late == WhenLate::PassOver) {
        return std::nullopt;
      }
      end_call(*reason);
    }
  }
}

void WorkerLane::show_stops(uint64_t request, const CallStop& stop) {
  if (stop.all.stop_requested()) {
    pulse().stop.store(request);
  }
  uint64_t rows = 0;
  for (size_t i = 0; i < std::min(stop.rows.size(), RequestStops::kMostRows); ++i) {
    rows |= uint64_t{stop.rows[i].stop_requested()} << i;
  }
  pulse().rows.store(rows);
}

Result<std::vector<std::byte>> WorkerLane::ask(Ask what, std::span<const std::byte> bytes,
                                               const StepLimit& step, const CallStop& stop) {
  const auto write = [bytes](std::span<std::byte> room) { std::ranges::copy(bytes, room.begin()); };
  return exchange(what, bytes.size(), write, step, stop, WhenLate::End, {});
}

Result<std::vector<std::byte>> WorkerLane::exchange(Ask what, size_t bytes,
                                                    FunctionRef<void(std::span<std::byte>)> write,
                                                    const StepLimit& step, const CallStop& stop,
                                                    WhenLate when_late,
                                                    std::span<const int> descriptors) {
  const std::lock_guard lock(mutex_);
  if (!alive()) {
    throw DeviceError(why_dead());
  }
  const CallUnderWay under_way(*process_, pulse());
  const auto late = [this] {
    return fail(ErrorCode::Busy, fmt::format("{} did not answer in time", device_));
  };
  if (late_ != 0) {
    if (!wait_for_answer(late_, step, stop, when_late)) {
      return late();
    }
    late_ = 0;
  }
  const uint64_t request = ++requests_;
  pulse().rows.store(0);
  // Nobody reads there now: the worker answered all that was asked before.
  Status sent;
  if (const auto room = channel_->room(bytes)) {
    write(*room);
    sent = channel_->send_written(request, static_cast<uint32_t>(what), bytes, descriptors);
  } else {
    sent = std::unexpected(room.error());
  }
  if (!sent) {
    end_call(sent.error().code == ErrorCode::Io ? process_->how_it_ended() : sent.error().message);
  }
  const std::optional<Message> answer = wait_for_answer(request, step, stop, when_late);
  if (!answer) {
    late_ = request;
    return late();
  }
  if (answer->kind == static_cast<uint32_t>(Answer::Done)) {
    return std::vector<std::byte>(answer->bytes.begin(), answer->bytes.end());
  }
  Error error;
  if (!read_wire(answer->bytes, error)) {
    end_call("answered with bytes that are no answer");
  }
  error.message = made_plain(error.message, kLongestReason);
  if (answer->kind == static_cast<uint32_t>(Answer::Refused)) {
    return std::unexpected(std::move(error));
  }
  process_->end((error.code == ErrorCode::OutOfMemory ? "ran out of memory: " : "failed: ") +
                error.message);
  throw DeviceError({error.code, why_dead().message});
}

}  // namespace mynah::place
