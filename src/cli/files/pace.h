// How fast a stream comes: as somebody speaks, or as a recording is read.
#pragma once

#include <cstdint>
#include <optional>

namespace mynah::cli {

// Live: about as fast as it is spoken. Recorded: much faster, or it has ended already; waiting for
// pauses would bring its text no sooner, only worse.
enum class Pace : uint8_t { Live, Recorded };

// Watches a stream from its first sample on until its pace is known. Recorded is what has ended or
// is a minute ahead of its listener: no broadcast sends that much to begin with. Live is what
// brings less than ten seconds of audio a second, twice in a row: once may be this process that
// had to wait for the machine.
class PaceWatch {
 public:
  // Seconds after which to look again, where nothing comes meanwhile.
  static constexpr double kLook_s = 1.0;
  // This much audio is a recording.
  static constexpr double kSurelyRecorded_s = 60.0;

  // What has come of the stream at `now_s`, in seconds since the first look at 0. None: not known
  // yet.
  std::optional<Pace> look(double now_s, double arrived_s, bool ended);

 private:
  double last_look_s_ = 0;
  double last_arrived_s_ = 0;
  int slow_looks_ = 0;
};

}  // namespace mynah::cli
