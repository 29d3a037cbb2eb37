#include "place/workers/worker_main.h"

#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <new>
#include <stop_token>
#include <system_error>
#include <thread>

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "place/wire/channel.h"
#include "place/workers/stage_host.h"
#include "place/workers/watchdog.h"
#include "tensor/device_error.h"

namespace mynah::place {
namespace {

int32_t kernel_thread() {
  return static_cast<int32_t>(::syscall(SYS_gettid));
}

// What can be stopped: the request that is being served.
class Current {
 public:
  std::stop_token begin(uint64_t request) {
    const std::lock_guard lock(mutex_);
    request_ = request;
    stop_ = std::stop_source();
    return stop_.get_token();
  }

  void stop(uint64_t request) {
    const std::lock_guard lock(mutex_);
    if (request_ == request) {
      stop_.request_stop();
    }
  }

 private:
  std::mutex mutex_;
  uint64_t request_ = 0;
  std::stop_source stop_;
};

// Beats, hears of stops, and ends the process when the asker has gone, whatever it does then.
void beat(Pulse& pulse, Current& current, const std::stop_token& end) {
  pulse.beat_thread.store(kernel_thread());
  while (!end.stop_requested()) {
    pulse.beats.fetch_add(1, std::memory_order_relaxed);
    current.stop(pulse.stop.load());
    pollfd socket{.fd = kWorkerSocket, .events = POLLRDHUP, .revents = 0};
    const int ready = ::poll(&socket, 1, static_cast<int>(kBeat.count()));
    if (ready > 0 && (socket.revents & (POLLRDHUP | POLLHUP | POLLERR)) != 0) {
      ::_exit(0);
    }
  }
}

// Whoever asks decides when this ends: a terminal's Ctrl-C is for that process.
void ignore_signals() {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE}) {
    ::signal(signal, SIG_IGN);
  }
}

bool is_open(int fd) {
  return ::fcntl(fd, F_GETFD) >= 0;
}

Status answer(Channel& channel, uint64_t request, Answer kind, const WireWriter& out) {
  return channel.send(request, static_cast<uint32_t>(kind), out.bytes());
}

WireWriter error_of(const Error& error) {
  WireWriter out;
  out(error);
  return out;
}

Status serve(Channel& channel, StageHost& host, Current& current) {
  while (true) {
    MYNAH_TRY(const std::optional<Message> message, channel.receive(std::nullopt));
    const uint64_t request = message->request;
    const std::stop_token stop = current.begin(request);
    try {
      const auto out = host.handle(static_cast<Ask>(message->kind), message->bytes, stop);
      MYNAH_TRY_STATUS(out ? answer(channel, request, Answer::Done, *out)
                           : answer(channel, request, Answer::Refused, error_of(out.error())));
    } catch (const DeviceError& error) {
      MYNAH_TRY_STATUS(answer(channel, request, Answer::Failed, error_of(error.error())));
    }
  }
}

}  // namespace

int run_worker() {
  constexpr int kNotStartedByMynah = 2;
  constexpr int kNoThread = 3;
  for (const int fd : {kWorkerSocket, kWorkerPulse, kWorkerRequests, kWorkerAnswers}) {
    if (!is_open(fd)) {
      return kNotStartedByMynah;
    }
  }
  ignore_signals();
  ::prctl(PR_SET_NAME, kWorkerName);
  auto shared = SharedMemory::attach(UniqueFd(kWorkerPulse));
  auto requests = SharedMemory::attach(UniqueFd(kWorkerRequests));
  auto answers = SharedMemory::attach(UniqueFd(kWorkerAnswers));
  if (!shared || !requests || !answers || shared->bytes().size() < sizeof(Pulse)) {
    return kNotStartedByMynah;
  }
  Pulse& pulse = *std::launder(reinterpret_cast<Pulse*>(shared->bytes().data()));
  pulse.work_thread.store(kernel_thread());
  Current current;
  std::jthread beating;
  try {
    beating = std::jthread([&](const std::stop_token& end) { beat(pulse, current, end); });
  } catch (const std::system_error& error) {
    std::fprintf(stderr, "mynah: no thread can be started in a worker: %s; see `ulimit -u`\n",
                 error.what());
    ::_exit(kNoThread);
  }
  Channel channel(UniqueFd(kWorkerSocket), *std::move(answers), *std::move(requests));
  StageHost host(pulse);
  // It ends when nobody asks any more: an ordinary end.
  (void)serve(channel, host, current);
  // Memory of a device is given back by the process's end: a driver that hangs there would keep it.
  ::_exit(0);
}

}  // namespace mynah::place
