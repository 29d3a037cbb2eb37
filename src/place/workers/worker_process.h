// WorkerProcess: a process of its own that stages of a device compute in. It may hang or crash.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "base/process.h"
#include "base/result.h"
#include "base/shared_memory.h"
#include "base/unique_fd.h"
#include "place/wire/channel.h"
#include "place/wire/fault.h"
#include "place/workers/open_device.h"
#include "place/workers/pulse.h"

namespace mynah::place {

struct WorkerSpec {
  std::string program;  // mynah itself
  std::string device;   // for messages: "cuda:0"
  DeviceSettings settings;
  std::vector<Fault> faults;
  // The user's wish to stop: a call that is awaited then is abandoned, whatever it does.
  std::stop_token stop{};
};

// The two ends of a lane: what who asks keeps, and what the worker's side gets.
struct LaneEnds {
  Channel channel;
  SharedMemory pulse;
  UniqueFd theirs;  // their socket
  int requests;     // descriptors of the segments: channel's
  int answers;

  // With segments of zeros and a Pulse of its own. Io.
  static Result<LaneEnds> create();
};

// Thread-safe. It ends with its last lane (WorkerLane).
class WorkerProcess {
 public:
  // Starts it with its first lane.
  static Result<std::shared_ptr<WorkerProcess>> start(const WorkerSpec& spec,
                                                      const LaneEnds& first);

  ~WorkerProcess();
  WorkerProcess(const WorkerProcess&) = delete;
  WorkerProcess& operator=(const WorkerProcess&) = delete;

  // Waits for nobody.
  [[nodiscard]] bool alive() const;
  // Why it ended; wants one that is not alive.
  [[nodiscard]] Error why_dead() const;

  // Remembers why it ends, unless that is known, and kills it.
  void kill(const std::string& reason, ErrorCode code = ErrorCode::Device);
  // The same, and waits for its end.
  void end(const std::string& reason, ErrorCode code = ErrorCode::Device);

  // Kills it and tells nobody why.
  void cancel() { process_.kill(9); }

  // It computes for a lane, whose pulse this is, until end_call().
  void begin_call(const Pulse& pulse);
  void end_call(const Pulse& pulse);

  // " in stt.decoder": the stages that compute now, " or " between them; "": none does.
  [[nodiscard]] std::string where() const;

  // How it ended, where it did by itself.
  [[nodiscard]] std::string how_it_ended();

  [[nodiscard]] pid_t pid() const { return process_.pid(); }

  [[nodiscard]] const WorkerSpec& spec() const { return spec_; }

 private:
  WorkerProcess(WorkerSpec spec, Process process);

  std::optional<ProcessEnd> wait();

  WorkerSpec spec_;
  Process process_;
  std::mutex wait_mutex_;  // one waits for its end at a time
  mutable std::mutex mutex_;
  std::vector<const Pulse*> computing_;
  std::string death_;  // why it ended; "": it lives
  ErrorCode death_code_ = ErrorCode::Device;
};

}  // namespace mynah::place
