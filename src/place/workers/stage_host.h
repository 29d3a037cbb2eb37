// StageHost: the models that one process holds for mynah, and what can be asked of them.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "base/thread_pool.h"
#include "place/wire/wire_types.h"
#include "place/wire/worker_protocol.h"
#include "place/workers/open_device.h"
#include "place/workers/stage_watch.h"
#include "speech/voice_detector.h"
#include "speech/voice_model.h"
#include "speech/window_model.h"

namespace mynah::place {

class StageHost {
 public:
  // `pulse` must outlive it.
  explicit StageHost(Pulse& pulse) : pulse_(pulse) {}

  // Does what is asked and returns the answer's fields. An error is a refusal. Throws DeviceError
  // where the device fails.
  Result<WireWriter> handle(Ask what, std::span<const std::byte> bytes,
                            const std::stop_token& stop);

 private:
  // A stage's own view of the device that it is on.
  struct HostedStage {
    std::string device;
    std::unique_ptr<StageWatch> watch;
    std::unique_ptr<WatchedBackend> backend;
  };

  Result<Backend*> open(Stage stage, const StageDevice& where);
  void begin_call(StageGroup group);
  void release_idle_memory();
  void show_what_was_done();
  // Runs what is to be timed, step by step; its times are those of the group's stages.
  Status time_steps(StageGroup group, FunctionRef<Status()> run, std::vector<ProbeTime>& times);

  Result<WireWriter> take_settings(WireReader& in);
  Result<WireWriter> ask_driver_of(WireReader& in);
  Result<WireWriter> ask_nvml_of(WireReader& in);
  Result<WireWriter> check(WireReader& in);
  Result<WireWriter> open_detector(WireReader& in);
  Result<WireWriter> open_windows(WireReader& in);
  Result<WireWriter> open_voice(WireReader& in);
  Result<WireWriter> close_group(WireReader& in);
  Result<WireWriter> new_decoder(WireReader& in);
  Result<WireWriter> drop_decoder(WireReader& in);
  Result<WireWriter> decode(WireReader& in, const std::stop_token& stop);
  Result<WireWriter> draft(WireReader& in, const std::stop_token& stop);
  Result<WireWriter> listen(WireReader& in);
  Result<WireWriter> probabilities(WireReader& in);
  Result<WireWriter> speak(WireReader& in);
  Result<WireWriter> find_voice(WireReader& in);
  Result<WireWriter> report(WireReader& in);
  Result<WireWriter> probe(WireReader& in);
  Result<WireWriter> full_window(WireReader& in);
  Result<WireWriter> operations(WireReader& in);

  Pulse& pulse_;
  StageClock clock_;
  DeviceSettings settings_;
  std::vector<Fault> faults_;
  // In the order that they must be destroyed from the end.
  std::map<std::string, OpenedDevice> devices_;
  std::array<HostedStage, kStages.size()> stages_;
  std::shared_ptr<const VoiceDetector> detector_;
  std::shared_ptr<const WindowModel> windows_;
  std::map<uint64_t, std::unique_ptr<WindowDecoder>> decoders_;
  uint64_t next_decoder_ = 1;
  std::unique_ptr<const VoiceModel> voice_;
};

}  // namespace mynah::place
