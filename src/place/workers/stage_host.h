// StageHost: what a lane of a worker holds for mynah, one model of a kind, and what can be asked of
// it.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/thread_pool.h"
#include "place/wire/wire_types.h"
#include "place/wire/worker_protocol.h"
#include "place/workers/hosted_model.h"
#include "place/workers/open_device.h"
#include "place/workers/stage_watch.h"

namespace mynah::place {

class StageHost final : private HostServices {
 public:
  // `pulse` and `threads` must outlive it. One thread at a time.
  StageHost(Pulse& pulse, DeviceThreads& threads);
  StageHost(const StageHost&) = delete;
  StageHost& operator=(const StageHost&) = delete;

  // Does what is asked and returns the answer's fields. An error is a refusal. Throws DeviceError
  // where the device fails.
  Result<WireWriter> handle(Ask what, std::span<const std::byte> bytes, RequestStops& stops);

 private:
  // A stage's own view of the device that it is on.
  struct HostedStage {
    std::string device;
    std::unique_ptr<StageWatch> watch;
    std::unique_ptr<WatchedBackend> backend;  // null: another mynah computes it, or nobody
    std::string address;                      // of that
  };

  Result<Backend*> open(Stage stage, const StageDevice& where) override;
  Result<std::unique_ptr<MynahCaller>> mynah(StageGroup group, const StageDevice& where) override;
  void begin_call(StageGroup group) override;
  void release_idle_memory();
  void show_what_was_done();
  Status time_steps(StageGroup group, FunctionRef<Status()> run,
                    std::vector<ProbeTime>& times) override;

  // What is asked of one kind of model.
  Result<WireWriter> ask_models(Ask what, WireReader& in, RequestStops& stops);
  [[nodiscard]] HostedModel& model_of(StageGroup group);

  Result<WireWriter> answer(Ask what, WireReader& in, RequestStops& stops);
  Result<WireWriter> take_settings(WireReader& in);
  Result<WireWriter> ask_driver_of(WireReader& in);
  Result<WireWriter> ask_nvml_of(WireReader& in);
  Result<WireWriter> check(WireReader& in);
  Result<WireWriter> close_group(WireReader& in);
  Result<WireWriter> report(WireReader& in);
  Result<WireWriter> probe(WireReader& in);
  Result<WireWriter> operations(WireReader& in);

  LaneSigns signs_;
  DeviceThreads& threads_;
  DeviceSettings settings_;
  std::vector<Fault> faults_;
  // In the order that they must be destroyed from the end.
  std::map<std::string, OpenedDevice> devices_;
  std::array<HostedStage, kMostStages> stages_;       // by number_of()
  std::vector<std::unique_ptr<HostedModel>> models_;  // by StageGroup
};

}  // namespace mynah::place
