// WorkerPool: the workers of one process by what they compute on, and the lane that each model has
// in one of them.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

#include "place/terms/model_id.h"
#include "place/workers/worker_lane.h"

namespace mynah::place {

// A model's lane.
struct LentLane {
  ModelId model;
  std::shared_ptr<WorkerLane> lane;
};

// Thread-safe.
class WorkerPool {
 public:
  // The model's lane in the worker for spec.device, devices with '+' between: in one that lives, or
  // in a new one. The model is there from now on, be it that it is still to be loaded, until
  // give_back() or lose(); none: no model is, and the lane is for what is asked of the process.
  // Throws DeviceError where a worker that lives fails.
  Result<std::shared_ptr<WorkerLane>> lend(const WorkerSpec& spec, std::optional<ModelId> model);

  // The model is not needed. Its worker lets go of it, and ends where no other model is there; a
  // call of its own that is under way is waited for.
  void give_back(ModelId model);

  // A lane that no model has in the worker for this device; null: none lives.
  [[nodiscard]] std::shared_ptr<WorkerLane> living(const std::string& device) const;

  // The model's worker failed. It ends, as does every other on one of these devices, and is never
  // lent again; whoever has a model there too hears the reason when he asks for something
  // ("computes wrongly: ..."). False: it had been lost before, by another model.
  bool lose(ModelId model, const std::vector<std::string>& devices, const std::string& reason);

  // Of the model, its worker alive or not; null: it has none.
  [[nodiscard]] std::shared_ptr<WorkerLane> of(ModelId model) const;

  // Of all models whose workers can be lent.
  [[nodiscard]] std::vector<LentLane> all() const;

  // Processes that can be lent.
  [[nodiscard]] std::vector<pid_t> pids() const;

 private:
  struct Worker {
    std::shared_ptr<WorkerLane> first;  // which no model has
    bool lost = false;
  };

  struct Lent {
    std::shared_ptr<Worker> worker;
    std::shared_ptr<WorkerLane> lane;
  };

  // That for spec.device; wants the lock.
  Result<std::shared_ptr<Worker>> worker_for(const WorkerSpec& spec);

  mutable std::mutex mutex_;
  std::map<std::string, std::shared_ptr<Worker>> workers_;  // by devices
  std::map<ModelId, Lent> lent_;
};

}  // namespace mynah::place
