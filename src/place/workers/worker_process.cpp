#include "place/workers/worker_process.h"

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <new>
#include <utility>

#include <fmt/format.h>
#include <sys/socket.h>
#include <unistd.h>

#include "place/wire/worker_protocol.h"
#include "place/workers/pulse.h"

namespace mynah::place {
namespace {

// Segments begin so large; they grow with what is sent.
constexpr size_t kFirstBytes = size_t{1} << 20;

// What a worker computes of one request is seconds of sound, or the text of a batch of windows.
constexpr size_t kMostAnswer = size_t{1} << 28;

// A process that ended is told of at once, and one that was killed ends at once, unless the kernel
// holds it inside a driver.
constexpr std::chrono::milliseconds kEnd{1000};

}  // namespace

Result<LaneEnds> LaneEnds::create() {
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
  const int of_requests = requests.descriptor();
  const int of_answers = answers.descriptor();
  return LaneEnds{
      .channel = Channel(std::move(ours), std::move(requests), std::move(answers), kMostAnswer),
      .pulse = std::move(pulse),
      .theirs = std::move(theirs),
      .requests = of_requests,
      .answers = of_answers};
}

Result<std::shared_ptr<WorkerProcess>> WorkerProcess::start(const WorkerSpec& spec,
                                                            const LaneEnds& first) {
  MYNAH_TRY(Process process,
            Process::spawn({.program = spec.program,
                            .name = kWorkerName,
                            .arguments = {kWorkerArgument, spec.device},
                            .descriptors = {{STDERR_FILENO, STDERR_FILENO},
                                            {first.theirs.get(), kWorkerSocket},
                                            {first.pulse.descriptor(), kWorkerPulse},
                                            {first.requests, kWorkerRequests},
                                            {first.answers, kWorkerAnswers}},
                            .environment = inherited_environment()}));
  return std::shared_ptr<WorkerProcess>(new WorkerProcess(spec, std::move(process)));
}

WorkerProcess::WorkerProcess(WorkerSpec spec, Process process)
    : spec_(std::move(spec)), process_(std::move(process)) {}

WorkerProcess::~WorkerProcess() {
  process_.kill(SIGKILL);
}

bool WorkerProcess::alive() const {
  const std::lock_guard lock(mutex_);
  return death_.empty();
}

Error WorkerProcess::why_dead() const {
  const std::lock_guard lock(mutex_);
  return {death_code_, death_};
}

void WorkerProcess::kill(const std::string& reason, ErrorCode code) {
  const std::lock_guard lock(mutex_);
  if (death_.empty()) {
    death_ = reason;
    death_code_ = code;
    process_.kill(SIGKILL);
  }
}

void WorkerProcess::end(const std::string& reason, ErrorCode code) {
  kill(reason, code);
  wait();
}

std::optional<ProcessEnd> WorkerProcess::wait() {
  const std::lock_guard lock(wait_mutex_);
  return process_.wait(kEnd).value_or(std::nullopt);
}

void WorkerProcess::begin_call(const Pulse& pulse) {
  const std::lock_guard lock(mutex_);
  computing_.push_back(&pulse);
}

void WorkerProcess::end_call(const Pulse& pulse) {
  const std::lock_guard lock(mutex_);
  std::erase(computing_, &pulse);
}

std::string WorkerProcess::where() const {
  const std::lock_guard lock(mutex_);
  std::string stages;
  for (const Pulse* pulse : computing_) {
    if (const std::optional<Stage> stage = stage_of(*pulse)) {
      stages += fmt::format("{}{}", stages.empty() ? " in " : " or ", stage_name(*stage));
    }
  }
  return stages;
}

std::string WorkerProcess::how_it_ended() {
  const auto ended = wait();
  const std::string in = where();
  if (!ended) {
    return "closed its channel" + in;
  }
  // Nobody's own doing: the system kills so what takes its last memory.
  if (ended->signal == SIGKILL || ended->signal == SIGTERM) {
    return fmt::format(
        "was killed{} (signal {}), {}by somebody", in, ended->signal,
        ended->signal == SIGKILL ? "perhaps by the system for want of memory, or " : "");
  }
  if (ended->signal != 0) {
    return fmt::format("crashed{} (signal {}, {})", in, ended->signal, ::strsignal(ended->signal));
  }
  return fmt::format("ended{} with exit code {}", in, ended->exit_code);
}

}  // namespace mynah::place
