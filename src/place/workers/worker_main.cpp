#include "place/workers/worker_main.h"

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <stop_token>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/thread_pool.h"
#include "base/turns.h"
#include "place/wire/channel.h"
#include "place/wire/worker_protocol.h"
#include "place/workers/stage_host.h"
#include "place/workers/watchdog.h"
#include "tensor/device_error.h"

namespace mynah::place {
namespace {

int32_t kernel_thread() {
  return static_cast<int32_t>(::syscall(SYS_gettid));
}

// One model's side of the worker: a channel, what is open behind it, and a thread that answers.
class Lane {
 public:
  Lane(Channel channel, SharedMemory pulse, DeviceThreads& threads)
      : channel_(std::move(channel)),
        memory_(std::move(pulse)),
        pulse_(*std::launder(reinterpret_cast<Pulse*>(memory_.bytes().data()))),
        host_(pulse_, threads) {}

  // Answers what is asked, until nobody asks any more. `add`: makes a lane of what a request
  // carries.
  Status serve(FunctionRef<Status(std::vector<UniqueFd>&)> add) {
    pulse_.work_thread.store(kernel_thread());
    while (true) {
      MYNAH_TRY(std::optional<Message> message, channel_.receive(std::nullopt));
      MYNAH_TRY_STATUS(answer(*message, add));
    }
  }

  // A sign of life, and whether what is being done is to end early.
  void beat(int32_t thread) {
    pulse_.beat_thread.store(thread);
    pulse_.beats.fetch_add(1, std::memory_order_relaxed);
    const uint64_t request = pulse_.stop.load();
    const std::lock_guard lock(mutex_);
    if (request_ == request) {
      stops_->request_all();
    }
    // Read under the lock: they are cleared before the next request is sent, so those of the one
    // before never stop rows of one that has begun.
    stops_->request(pulse_.rows.load());
  }

 private:
  Status answer(Message& message, FunctionRef<Status(std::vector<UniqueFd>&)> add) {
    const UrgencyScope as_urgent(message.urgency);
    const uint64_t request = message.request;
    const std::shared_ptr<RequestStops> stops = begin(request);
    const auto what = static_cast<Ask>(message.kind);
    try {
      Result<WireWriter> out = WireWriter();
      if (what != Ask::NewLane) {
        out = host_.handle(what, message.bytes, *stops);
      } else if (const Status added = add(message.descriptors); !added) {
        out = std::unexpected(added.error());
      }
      return out ? send(request, Answer::Done, *out)
                 : send(request, Answer::Refused, error_of(out.error()));
    } catch (const DeviceError& error) {
      // Where somebody stops it no device failed.
      const bool is_stop = error.error().code == ErrorCode::Cancelled;
      return send(request, is_stop ? Answer::Refused : Answer::Failed, error_of(error.error()));
    }
  }

  static WireWriter error_of(const Error& error) {
    WireWriter out;
    out(error);
    return out;
  }

  Status send(uint64_t request, Answer kind, const WireWriter& out) {
    return channel_.send(request, static_cast<uint32_t>(kind), out.bytes());
  }

  std::shared_ptr<RequestStops> begin(uint64_t request) {
    const std::lock_guard lock(mutex_);
    request_ = request;
    stops_ = std::make_shared<RequestStops>();
    return stops_;
  }

  Channel channel_;
  SharedMemory memory_;
  Pulse& pulse_;
  StageHost host_;
  std::mutex mutex_;
  uint64_t request_ = 0;  // that is being answered
  std::shared_ptr<RequestStops> stops_ = std::make_shared<RequestStops>();
};

// The lanes of this process. The first one's end is the process's.
class Lanes {
 public:
  // The descriptors are those of kWorkerDescriptors. InvalidInput where they are not.
  Result<std::shared_ptr<Lane>> make(std::vector<UniqueFd> descriptors) {
    if (descriptors.size() != kWorkerDescriptors.size()) {
      return fail(ErrorCode::InvalidInput, "a lane without its descriptors");
    }
    MYNAH_TRY(SharedMemory pulse, SharedMemory::attach(std::move(descriptors[1])));
    MYNAH_TRY(SharedMemory requests, SharedMemory::attach(std::move(descriptors[2])));
    MYNAH_TRY(SharedMemory answers, SharedMemory::attach(std::move(descriptors[3])));
    if (pulse.bytes().size() < sizeof(Pulse)) {
      return fail(ErrorCode::InvalidInput, "a lane whose pulse is too small");
    }
    auto lane = std::make_shared<Lane>(Channel(std::move(descriptors[0]), std::move(answers),
                                               std::move(requests), SIZE_MAX, Descriptors::Taken),
                                       std::move(pulse), threads_);
    const std::lock_guard lock(mutex_);
    lanes_.push_back(lane);
    return lane;
  }

  // One more, with a thread of its own. Takes the descriptors.
  Status add(std::vector<UniqueFd>& descriptors) try {
    MYNAH_TRY(std::shared_ptr<Lane> lane, make(std::move(descriptors)));
    std::thread([this, lane = std::move(lane)] {
      serve(*lane);
      // Nobody asks it any more: what it has open goes, and nobody waits for that.
      const std::lock_guard lock(mutex_);
      std::erase(lanes_, lane);
    }).detach();
    return {};
  } catch (const std::system_error& error) {
    return fail(ErrorCode::Environment, std::string("no thread can be started in a worker: ") +
                                            error.what() + "; see `ulimit -u`");
  }

  void serve(Lane& lane) {
    static_cast<void>(
        lane.serve([this](std::vector<UniqueFd>& descriptors) { return add(descriptors); }));
  }

  // Shows that the process runs at all, hears of stops, and ends the process when the asker has
  // gone, whatever it does then.
  void beat(const std::stop_token& end) {
    const int32_t thread = kernel_thread();
    while (!end.stop_requested()) {
      {
        const std::lock_guard lock(mutex_);
        for (const auto& lane : lanes_) {
          lane->beat(thread);
        }
      }
      pollfd socket{.fd = kWorkerSocket, .events = POLLRDHUP, .revents = 0};
      const int ready = ::poll(&socket, 1, static_cast<int>(kBeat.count()));
      if (ready > 0 && (socket.revents & (POLLRDHUP | POLLHUP | POLLERR)) != 0) {
        ::_exit(0);
      }
    }
  }

 private:
  DeviceThreads threads_;
  std::mutex mutex_;
  std::vector<std::shared_ptr<Lane>> lanes_;
};

// Whoever asks decides when this ends: a terminal's Ctrl-C is for that process.
void ignore_signals() {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE}) {
    ::signal(signal, SIG_IGN);
  }
}

bool is_open(int fd) {
  return ::fcntl(fd, F_GETFD) >= 0;
}

}  // namespace

int run_worker() {
  constexpr int kNotStartedByMynah = 2;
  constexpr int kNoThread = 3;
  if (!std::ranges::all_of(kWorkerDescriptors, is_open)) {
    return kNotStartedByMynah;
  }
  ignore_signals();
  ::prctl(PR_SET_NAME, kWorkerName);
  Lanes lanes;
  std::vector<UniqueFd> descriptors;
  for (const int fd : kWorkerDescriptors) {
    descriptors.emplace_back(fd);
  }
  const auto first = lanes.make(std::move(descriptors));
  if (!first) {
    return kNotStartedByMynah;
  }
  std::jthread beating;
  try {
    beating = std::jthread([&](const std::stop_token& end) { lanes.beat(end); });
  } catch (const std::system_error& error) {
    std::fprintf(stderr, "mynah: no thread can be started in a worker: %s; see `ulimit -u`\n",
                 error.what());
    ::_exit(kNoThread);
  }
  // It ends when nobody asks any more: an ordinary end.
  lanes.serve(**first);
  // Memory of a device is given back by the process's end: a driver that hangs there would keep it.
  ::_exit(0);
}

}  // namespace mynah::place
