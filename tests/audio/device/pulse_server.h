// A PulseAudio of the test's own: no card, null sinks, killed and started again at will.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/process.h"
#include "temporary_folder.h"

namespace mynah::test {

// Two null sinks: what is played to "room" is heard by its monitor, "room.monitor", the usual
// microphone; "box" is the usual loudspeaker. Everything lies in a folder that goes with it.
class PulseServer {
 public:
  // Whether pulseaudio and pactl are installed; tests skip without them.
  static bool installed();

  PulseServer() = default;
  PulseServer(const PulseServer&) = delete;
  PulseServer& operator=(const PulseServer&) = delete;

  // Starts the daemon and waits until it answers. False: it does not; log() says why.
  bool start();

  // Whether it was started and not killed.
  [[nodiscard]] bool running() const { return daemon_.has_value(); }

  // Ends the daemon as a crash would.
  void kill();

  // Stops it in the middle (SIGSTOP), or lets it go on.
  void freeze(bool frozen);

  // pactl's answer; empty where it failed.
  std::string pactl(const std::vector<std::string>& arguments);

  // A program of PulseAudio's ("pacat", "parecord") that talks to this server.
  Process client(const std::string& program, const std::vector<std::string>& arguments, int in = -1,
                 int out = -1);

  // As SoundOptions::server wants it.
  [[nodiscard]] std::string address() const { return "unix:" + folder_ / "socket"; }

  [[nodiscard]] std::string log() const { return folder_.read("log"); }

  [[nodiscard]] const TemporaryFolder& folder() const { return folder_; }

 private:
  [[nodiscard]] std::vector<std::string> environment() const;

  TemporaryFolder folder_;
  std::optional<Process> daemon_;
};

}  // namespace mynah::test
