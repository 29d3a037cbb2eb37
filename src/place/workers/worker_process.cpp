#include "place/workers/worker_process.h"

#include <algorithm>
#include <csignal>
#include <cstring>
#include <new>

#include <fmt/format.h>
#include <sys/socket.h>

#include "place/terms/plain_text.h"
#include "place/workers/watchdog.h"

namespace mynah::place {
namespace {

using std::chrono::milliseconds;

// Segments begin so large; they grow with what is sent.
constexpr size_t kFirstBytes = size_t{1} << 20;

// What a worker computes of one request is seconds of sound, or the text of a batch of windows.
constexpr size_t kMostAnswer = size_t{1} << 28;

// What a worker says of an error is told in a line.
constexpr size_t kLongestReason = 2000;

// A worker starts, and takes its settings, in this: it opens no device meanwhile.
constexpr milliseconds kStart{10000};

// A process that ended is told of at once, and one that was killed ends at once, unless the kernel
// holds it inside a driver.
constexpr milliseconds kEnd{1000};

// Who hears of a stop between two tokens, or is about to answer, does so in this.
constexpr milliseconds kStopsEarly{100};

}  // namespace

Result<std::shared_ptr<WorkerProcess>> WorkerProcess::start(const WorkerSpec& spec) {
  // Whatever was missing for it, a file or a descriptor: the device that it is for cannot be used.
  const auto no_worker = [&spec](const Error& error) {
    return fail(ErrorCode::Device, fmt::format("{} got no worker: {}", spec.device, error.message));
  };
  auto worker = spawn(spec);
  if (!worker) {
    return no_worker(worker.error());
  }
  try {
    const Status settled = (*worker)->tell(Ask::Settings, kStart, spec.settings, spec.faults);
    return settled ? std::move(worker) : no_worker(settled.error());
  } catch (const DeviceError& error) {
    return std::unexpected(error.error());
  }
}

Result<std::shared_ptr<WorkerProcess>> WorkerProcess::spawn(const WorkerSpec& spec) {
  int ends[2] = {-1, -1};
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) {
    return fail(ErrorCode::Io, fmt::format("cannot make a socket: {}", std::strerror(errno)));
  }
  UniqueFd ours(ends[0]);
  UniqueFd theirs(ends[1]);
  MYNAH_TRY(SharedMemory pulse, SharedMemory::create("mynah-pulse", sizeof(Pulse)));
  MYNAH_TRY(SharedMemory requests, SharedMemory::create("mynah-requests", kFirstBytes));
  MYNAH_TRY(SharedMemory answers, SharedMemory::create("mynah-answers", kFirstBytes));
  ::new (static_cast<void*>(pulse.bytes().data())) Pulse{};
  MYNAH_TRY(Process process,
            Process::spawn({.program = spec.program,
                            .name = kWorkerName,
                            .arguments = {kWorkerArgument, spec.device},
                            .descriptors = {{STDERR_FILENO, STDERR_FILENO},
                                            {theirs.get(), kWorkerSocket},
                                            {pulse.descriptor(), kWorkerPulse},
                                            {requests.descriptor(), kWorkerRequests},
                                            {answers.descriptor(), kWorkerAnswers}},
                            .environment = inherited_environment()}));
  theirs.reset();  // so that its end is seen, whenever it comes
  return std::shared_ptr<WorkerProcess>(new WorkerProcess(
      spec, std::move(process),
      Channel(std::move(ours), std::move(requests), std::move(answers), kMostAnswer),
      std::move(pulse)));
}

WorkerProcess::WorkerProcess(const WorkerSpec& spec, Process process, Channel channel,
                             SharedMemory pulse)
    : device_(spec.device),
      user_stop_(spec.stop),
      process_(std::move(process)),
      channel_(std::move(channel)),
      pulse_(std::move(pulse)) {}

WorkerProcess::~WorkerProcess() {
  process_.kill(SIGKILL);
}

const Pulse& WorkerProcess::pulse() const {
  return *std::launder(reinterpret_cast<const Pulse*>(pulse_.bytes().data()));
}

Pulse& WorkerProcess::pulse() {
  return *std::launder(reinterpret_cast<Pulse*>(pulse_.bytes().data()));
}

std::optional<Stage> WorkerProcess::last_stage() const {
  return stage_of(pulse());
}

void WorkerProcess::add_last_sign(StageReport& report) const {
  constexpr double kOfMicrosecond = 1e-3;
  const Pulse::Done& done = pulse().done[number_of(report.stage)];
  report.operations = std::max(report.operations, done.operations.load());
  report.milliseconds =
      std::max(report.milliseconds, kOfMicrosecond * static_cast<double>(done.microseconds.load()));
}

bool WorkerProcess::alive() const {
  const std::lock_guard lock(death_mutex_);
  return death_.empty();
}

Error WorkerProcess::why_dead() const {
  const std::lock_guard lock(death_mutex_);
  return {death_code_, fmt::format("{} {}", device_, death_)};
}

std::string WorkerProcess::where() const {
  const std::optional<Stage> stage = last_stage();
  return stage ? fmt::format(" in {}", stage_name(*stage)) : std::string();
}

std::string WorkerProcess::how_it_ended() {
  const auto ended = process_.wait(kEnd);
  if (!ended || !*ended) {
    return "closed its channel" + where();
  }
  // Nobody's own doing: the system kills so what takes its last memory.
  if ((*ended)->signal == SIGKILL || (*ended)->signal == SIGTERM) {
    return fmt::format(
        "was killed{} (signal {}), {}by somebody", where(), (*ended)->signal,
        (*ended)->signal == SIGKILL ? "perhaps by the system for want of memory, or " : "");
  }
  if ((*ended)->signal != 0) {
    return fmt::format("crashed{} (signal {}, {})", where(), (*ended)->signal,
                       ::strsignal((*ended)->signal));
  }
  return fmt::format("ended{} with exit code {}", where(), (*ended)->exit_code);
}

void WorkerProcess::retire() {
  const std::lock_guard lock(mutex_);
  end_now("was let go, since nobody used it");
}

void WorkerProcess::end(const std::string& reason) {
  note_death(reason);
  const std::lock_guard lock(mutex_);  // a call that was under way has failed by now
  static_cast<void>(process_.wait(kEnd));
}

void WorkerProcess::note_death(const std::string& reason, ErrorCode code) {
  const std::lock_guard lock(death_mutex_);
  if (death_.empty()) {
    death_ = reason;
    death_code_ = code;
    process_.kill(SIGKILL);
  }
}

void WorkerProcess::end_now(const std::string& reason, ErrorCode code) {
  note_death(reason, code);
  static_cast<void>(process_.wait(kEnd));
}

void WorkerProcess::end_call(const std::string& reason, ErrorCode code) {
  end_now(reason, code);
  throw DeviceError(why_dead());
}

void WorkerProcess::refuse_answer() {
  const std::lock_guard lock(mutex_);
  end_call("answered with bytes that are no answer");
}

std::optional<Message> WorkerProcess::wait_for_answer(uint64_t request, const StepLimit& step,
                                                      const std::stop_token& stop,
                                                      WhenLate when_late) {
  Watchdog watchdog(process_.pid(), pulse(), step);
  const bool is_last = user_stop_.stop_requested();  // asked though the user stops
  std::optional<std::chrono::steady_clock::time_point> stopped_at;
  while (true) {
    if (!is_last && user_stop_.stop_requested() && !stopped_at) {
      stopped_at = std::chrono::steady_clock::now();
    }
    if (stop.stop_requested() || stopped_at) {
      pulse().stop.store(request);
    }
    auto message = channel_.receive(kBeat);
    if (!message) {
      end_call(message.error().code == ErrorCode::Io ? how_it_ended()
                                                     : "answered with " + message.error().message);
    }
    if (*message && (*message)->request == request) {
      return *std::move(message);
    }
    if (*message) {
      end_call("answered what was not asked");
    }
    if (!alive()) {
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

Result<std::vector<std::byte>> WorkerProcess::ask(Ask what, std::span<const std::byte> bytes,
                                                  const StepLimit& step,
                                                  const std::stop_token& stop) {
  const auto write = [bytes](std::span<std::byte> room) { std::ranges::copy(bytes, room.begin()); };
  return exchange(what, bytes.size(), write, step, stop, WhenLate::End);
}

Result<std::vector<std::byte>> WorkerProcess::exchange(
    Ask what, size_t bytes, FunctionRef<void(std::span<std::byte>)> write, const StepLimit& step,
    const std::stop_token& stop, WhenLate when_late) {
  const std::lock_guard lock(mutex_);
  if (!alive()) {
    throw DeviceError(why_dead());
  }
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
  // Nobody reads there now: the worker answered all that was asked before.
  Status sent;
  if (const auto room = channel_.room(bytes)) {
    write(*room);
    sent = channel_.send_written(request, static_cast<uint32_t>(what), bytes);
  } else {
    sent = std::unexpected(room.error());
  }
  if (!sent) {
    end_call(sent.error().code == ErrorCode::Io ? how_it_ended() : sent.error().message);
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
  end_now((error.code == ErrorCode::OutOfMemory ? "ran out of memory: " : "failed: ") +
          error.message);
  throw DeviceError({error.code, why_dead().message});
}

}  // namespace mynah::place
