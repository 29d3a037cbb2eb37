#include "place/worker_process.h"

#include <algorithm>
#include <csignal>
#include <cstring>
#include <new>

#include <fmt/format.h>
#include <sys/socket.h>

#include "place/plain_text.h"
#include "place/watchdog.h"

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

}  // namespace

Result<std::shared_ptr<WorkerProcess>> WorkerProcess::start(const WorkerSpec& spec) {
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
                            .arguments = {kWorkerArgument, spec.device},
                            .descriptors = {{STDERR_FILENO, STDERR_FILENO},
                                            {theirs.get(), kWorkerSocket},
                                            {pulse.descriptor(), kWorkerPulse},
                                            {requests.descriptor(), kWorkerRequests},
                                            {answers.descriptor(), kWorkerAnswers}},
                            .environment = inherited_environment()}));
  theirs.reset();  // so that its end is seen, whenever it comes
  std::shared_ptr<WorkerProcess> worker(new WorkerProcess(
      spec.device, std::move(process),
      Channel(std::move(ours), std::move(requests), std::move(answers), kMostAnswer),
      std::move(pulse)));
  try {
    MYNAH_TRY_STATUS(worker->tell(Ask::Settings, kStart, spec.settings, spec.faults));
  } catch (const DeviceError& error) {
    return std::unexpected(error.error());
  }
  return worker;
}

WorkerProcess::WorkerProcess(std::string device, Process process, Channel channel,
                             SharedMemory pulse)
    : device_(std::move(device)),
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
  const uint32_t stage = pulse().stage.load();
  return stage >= 1 && stage <= kStages.size() ? std::optional(kStages[stage - 1]) : std::nullopt;
}

bool WorkerProcess::alive() const {
  const std::lock_guard lock(mutex_);
  return death_.empty();
}

Error WorkerProcess::why_dead() const {
  return {ErrorCode::Device, fmt::format("{} {}", device_, death_)};
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
  const std::lock_guard lock(mutex_);
  end_now(reason);
}

void WorkerProcess::end_now(const std::string& reason) {
  if (death_.empty()) {
    death_ = reason;
    process_.kill(SIGKILL);
    static_cast<void>(process_.wait(kEnd));
  }
}

void WorkerProcess::refuse_answer() {
  const std::lock_guard lock(mutex_);
  end_now("answered with bytes that are no answer");
  throw DeviceError(why_dead());
}

Result<Message> WorkerProcess::wait_for_answer(uint64_t request, milliseconds step,
                                               const std::stop_token& stop) {
  Watchdog watchdog(process_.pid(), pulse(), step);
  while (true) {
    if (stop.stop_requested()) {
      pulse().stop.store(request);
    }
    auto message = channel_.receive(kBeat);
    if (!message) {
      return fail(ErrorCode::Device, message.error().code == ErrorCode::Io
                                         ? how_it_ended()
                                         : "answered with " + message.error().message);
    }
    if (*message && (*message)->request == request) {
      return **message;
    }
    if (*message) {
      return fail(ErrorCode::Device, "answered what was not asked");
    }
    if (auto reason = watchdog.look(where())) {
      return fail(ErrorCode::Device, *std::move(reason));
    }
  }
}

Result<std::vector<std::byte>> WorkerProcess::ask(Ask what, std::span<const std::byte> bytes,
                                                  milliseconds step, const std::stop_token& stop) {
  const auto write = [bytes](std::span<std::byte> room) { std::ranges::copy(bytes, room.begin()); };
  return exchange(what, bytes.size(), write, step, stop);
}

Result<std::vector<std::byte>> WorkerProcess::exchange(
    Ask what, size_t bytes, FunctionRef<void(std::span<std::byte>)> write, milliseconds step,
    const std::stop_token& stop) {
  const std::lock_guard lock(mutex_);
  if (!death_.empty()) {
    throw DeviceError(why_dead());
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
    end_now(sent.error().code == ErrorCode::Io ? how_it_ended() : sent.error().message);
    throw DeviceError(why_dead());
  }
  const auto answer = wait_for_answer(request, step, stop);
  if (!answer) {
    end_now(answer.error().message);
    throw DeviceError(why_dead());
  }
  if (answer->kind == static_cast<uint32_t>(Answer::Done)) {
    return std::vector<std::byte>(answer->bytes.begin(), answer->bytes.end());
  }
  Error error;
  if (!read_wire(answer->bytes, error)) {
    end_now("answered with bytes that are no answer");
    throw DeviceError(why_dead());
  }
  error.message = made_plain(error.message, kLongestReason);
  if (answer->kind == static_cast<uint32_t>(Answer::Refused)) {
    return std::unexpected(std::move(error));
  }
  end_now("failed: " + error.message);
  throw DeviceError({error.code, fmt::format("{} {}", device_, death_)});
}

}  // namespace mynah::place
