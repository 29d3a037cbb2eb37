// A worker for tests of who asks it: mynah's own, or one that goes wrong in the manner that
// MYNAH_WORKER_MANNER says, once it has taken its settings.
#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <string>
#include <thread>

#include <sys/socket.h>
#include <unistd.h>

#include "place/channel_ends.h"
#include "place/wire/channel.h"
#include "place/wire/wire_types.h"
#include "place/workers/pulse.h"
#include "place/workers/stage_host.h"
#include "place/workers/worker_lane.h"
#include "place/workers/worker_main.h"
#include "temporary_folder.h"

namespace mynah::place {
namespace {

// One lane of it.
class OddWorker {
 public:
  // Its socket, pulse, and segments of requests and answers.
  OddWorker(std::string manner, std::vector<UniqueFd> ends)
      : manner_(std::move(manner)),
        pulse_memory_(*SharedMemory::attach(std::move(ends.at(1)))),
        answers_(*SharedMemory::attach(UniqueFd(::dup(ends.at(3).get())))),
        channel_(std::move(ends.at(0)), *SharedMemory::attach(std::move(ends.at(3))),
                 *SharedMemory::attach(std::move(ends.at(2))), SIZE_MAX, Descriptors::Taken) {
    if (const char* const file = std::getenv("MYNAH_WORKER_ANSWERS")) {
      const std::string bytes = mynah::test::read_file(file);
      if (!read_wire(std::as_bytes(std::span(bytes)), script_)) {
        ::_exit(9);
      }
    }
  }

  // Until nobody asks any more.
  void serve() {
    Pulse& pulse = *std::launder(reinterpret_cast<Pulse*>(pulse_memory_.bytes().data()));
    std::jthread beating;
    if (manner_ != "still") {
      beating = std::jthread([&pulse](const std::stop_token& stop) {
        while (!stop.stop_requested()) {
          ++pulse.beats;
          ::usleep(5000);
        }
      });
    }
    size_t served = 0;
    while (true) {
      auto message = channel_.receive(std::nullopt);
      if (!message) {
        return;
      }
      if (static_cast<Ask>((*message)->kind) == Ask::NewLane) {
        std::thread([manner = manner_, ends = std::move((*message)->descriptors)]() mutable {
          OddWorker(manner, std::move(ends)).serve();
        }).detach();
        static_cast<void>(channel_.send((*message)->request, 1, {}));
        continue;
      }
      if (manner_ == "probes wrongly") {
        serve_but_probe_wrongly(**message);
      } else if (served == 0) {
        static_cast<void>(channel_.send((*message)->request, 1, {}));
      } else {
        answer((*message)->request, served - 1);
      }
      ++served;
    }
  }

 private:
  // As mynah's own worker; what the model's probe finds is wrong, and nothing else.
  void serve_but_probe_wrongly(const Message& message) {
    const auto what = static_cast<Ask>(message.kind);
    RequestStops stops;
    auto out = host_.handle(what, message.bytes, stops);
    ProbeReport report;
    if (out && what == Ask::Probe && read_wire(out->bytes(), report)) {
      for (ProbeStage& stage : report.probe.stages) {
        for (float& value : stage.values) {
          value += 1000;
        }
      }
      *out = WireWriter();
      (*out)(report);
    }
    const auto kind = static_cast<uint32_t>(out ? Answer::Done : Answer::Refused);
    WireWriter refusal;
    if (!out) {
      refusal(out.error());
    }
    static_cast<void>(channel_.send(message.request, kind, (out ? *out : refusal).bytes()));
  }

  void send(const test::RawHeader& header, size_t size = sizeof(test::RawHeader)) {
    ::send(channel_.socket(), &header, size, MSG_NOSIGNAL);
  }

  void answer(uint64_t request, size_t number) {
    if (manner_ == "script") {
      static_cast<void>(channel_.send(request, 1, std::as_bytes(std::span(script_.at(number)))));
    } else if (manner_ == "exits") {
      ::_exit(7);
    } else if (manner_ == "crashes") {
      static_cast<void>(std::signal(SIGSEGV, SIG_DFL));
      static_cast<void>(std::raise(SIGSEGV));
    } else if (manner_ == "hangs up") {
      ::shutdown(channel_.socket(), SHUT_RDWR);
      ::pause();
    } else if (manner_ == "scribbles") {
      const std::string nonsense(5000, '\xff');
      static_cast<void>(channel_.send(request, 1, std::as_bytes(std::span(nonsense))));
    } else if (manner_ == "tells of more than there is") {
      send({.request = request, .bytes = uint64_t{1} << 40});
    } else if (manner_ == "tells of more than anybody sends") {
      static_cast<void>(answers_.grow(size_t{400} << 20));
      send({.request = request, .bytes = uint64_t{400} << 20});
    } else if (manner_ == "answers another request") {
      send({.request = request + 1});
    } else if (manner_ == "answers in another kind") {
      send({.request = request, .kind = 77});
    } else if (manner_ == "sends other bytes") {
      send({.request = request, .mark = 0});
    } else if (manner_ == "sends less") {
      send({.request = request}, 3);
    } else if (manner_ == "is late") {
      const char* const file = std::getenv("MYNAH_WORKER_WAITS_FOR");
      while (file != nullptr && ::access(file, F_OK) != 0) {
        ::usleep(1000);
      }
      WireWriter nothing;
      nothing(std::vector<StageReport>());
      static_cast<void>(channel_.send(request, 1, nothing.bytes()));
    } else if (manner_ == "refuses") {
      refuse(request, Answer::Refused);
    } else if (manner_ == "fails") {
      refuse(request, Answer::Failed);
    }
  }

  void refuse(uint64_t request, Answer kind) {
    WireWriter out;
    out(Error{ErrorCode::Device, "line 1\nline 2 \x1b[31m" + std::string(100000, 'x')});
    static_cast<void>(channel_.send(request, static_cast<uint32_t>(kind), out.bytes()));
  }

  std::string manner_;
  SharedMemory pulse_memory_;
  SharedMemory answers_;
  Channel channel_;
  Pulse unseen_{};
  DeviceThreads threads_;
  StageHost host_{unseen_, threads_};  // what it has open, where it works at all
  std::vector<std::string> script_;
};

// Starts a worker, says its number, and stays.
[[noreturn]] void be_a_parent(const char* self) {
  const auto worker =
      WorkerLane::start({.program = self, .device = "cpu", .settings = {}, .faults = {}});
  std::printf("%d\n", worker ? (*worker)->pid() : -1);
  std::fflush(stdout);
  while (true) {
    ::pause();
  }
}

}  // namespace
}  // namespace mynah::place

int main(int argc, char** argv) {
  if (argc > 1 && std::string(argv[1]) == "parent") {
    mynah::place::be_a_parent(argv[0]);
  }
  const char* const manner = std::getenv("MYNAH_WORKER_MANNER");
  if (manner == nullptr || *manner == '\0') {
    return mynah::place::run_worker();
  }
  using mynah::UniqueFd;
  std::vector<UniqueFd> ends;
  for (const int fd : mynah::place::kWorkerDescriptors) {
    ends.emplace_back(fd);
  }
  mynah::place::OddWorker(manner, std::move(ends)).serve();
  ::_exit(0);
}
