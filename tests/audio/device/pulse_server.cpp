#include "audio/device/pulse_server.h"

#include <chrono>
#include <csignal>
#include <filesystem>
#include <thread>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

namespace mynah::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr std::chrono::seconds kStartLimit{20};

}  // namespace

bool PulseServer::installed() {
  return find_program("pulseaudio") && find_program("pactl") && find_program("pacat");
}

// Root is warned and served; nothing of the user's own is read or written.
std::vector<std::string> PulseServer::environment() const {
  return {"HOME=" + folder_.path(),
          "XDG_RUNTIME_DIR=" + folder_.path(),
          "PULSE_RUNTIME_PATH=" + folder_ / "runtime",
          "PULSE_SERVER=" + address(),
          "PATH=/usr/bin:/bin",
          "LC_ALL=C"};
}

bool PulseServer::start() {
  std::error_code ignored;
  std::filesystem::remove(folder_ / "socket", ignored);
  const UniqueFd log(
      ::open((folder_ / "log").c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
  ProcessSpec spec{.program = *find_program("pulseaudio")};
  spec.arguments = {"-n",
                    "--daemonize=no",
                    "--exit-idle-time=-1",
                    "--use-pid-file=no",
                    "--disable-shm=yes",
                    "--realtime=no",
                    "--high-priority=no",
                    "--log-target=stderr"};
  // Sinks that never rewind render 50 ms at a time, where others begin with two seconds.
  for (const std::string& module :
       {fmt::format("module-native-protocol-unix socket={} auth-anonymous=1", folder_ / "socket"),
        std::string(
            "module-null-sink sink_name=box norewinds=1 sink_properties=device.description=Box"),
        std::string(
            "module-null-sink sink_name=room norewinds=1 sink_properties=device.description=Room"),
        std::string("module-rescue-streams")}) {
    spec.arguments.insert(spec.arguments.end(), {"-L", module});
  }
  spec.descriptors = {{log.get(), 1}, {log.get(), 2}};
  spec.environment = environment();
  auto daemon = Process::spawn(spec);
  if (!daemon) {
    return false;
  }
  daemon_ = std::move(*daemon);
  const auto deadline = steady_clock::now() + kStartLimit;
  while (steady_clock::now() < deadline) {
    if (!pactl({"info"}).empty()) {
      pactl({"set-default-sink", "box"});
      pactl({"set-default-source", "room.monitor"});
      return true;
    }
    std::this_thread::sleep_for(milliseconds(20));
  }
  return false;
}

void PulseServer::kill() {
  if (!daemon_) {
    return;
  }
  daemon_->kill(SIGKILL);
  std::ignore = daemon_->wait(std::nullopt);
  daemon_.reset();
}

void PulseServer::freeze(bool frozen) {
  daemon_->kill(frozen ? SIGSTOP : SIGCONT);
}

Process PulseServer::client(const std::string& program, const std::vector<std::string>& arguments,
                            int in, int out) {
  ProcessSpec spec{.program = *find_program(program), .arguments = arguments};
  if (in >= 0) {
    spec.descriptors.emplace_back(in, 0);
  }
  if (out >= 0) {
    spec.descriptors.emplace_back(out, 1);
  }
  spec.environment = environment();
  return std::move(*Process::spawn(spec));
}

std::string PulseServer::pactl(const std::vector<std::string>& arguments) {
  auto pipe = Pipe::create();
  Process process = client("pactl", arguments, -1, pipe->write_end.get());
  pipe->write_end.reset();
  std::string answer;
  char piece[4096];
  for (ssize_t count = 0; (count = ::read(pipe->read_end.get(), piece, sizeof(piece))) > 0;) {
    answer.append(piece, static_cast<size_t>(count));
  }
  const auto end = process.wait(std::nullopt);
  if (!end || !*end || !(*end)->ok()) {
    return {};
  }
  return answer.empty() ? "done" : answer;
}

}  // namespace mynah::test
