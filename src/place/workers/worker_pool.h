// WorkerPool: the workers of one process by what they compute on, and which groups have a model in
// each.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "place/terms/stage.h"
#include "place/workers/worker_process.h"

namespace mynah::place {

// Thread-safe.
class WorkerPool {
 public:
  // The worker for spec.device, devices with '+' between: one that lives, or a new one. The group
  // has a model there from now on, be it that it is still to be loaded, until give_back() or
  // lose(); none: nobody has.
  Result<std::shared_ptr<WorkerProcess>> lend(const WorkerSpec& spec,
                                              std::optional<StageGroup> group);

  // The group's model is not needed. Its worker lets go of that, and ends where no other group has
  // a model there; a call that is under way is waited for.
  void give_back(StageGroup group);

  // The group's worker failed. It ends, as does every other on one of these devices, and is never
  // lent again; whoever has a model there too hears the reason when he asks for something
  // ("computes wrongly: ..."). False: it had been lost before, by another group.
  bool lose(StageGroup group, const std::vector<std::string>& devices, const std::string& reason);

  // In which the group has a model, alive or not; null: it has none.
  [[nodiscard]] std::shared_ptr<WorkerProcess> of(StageGroup group) const;

  // Workers that can be lent.
  [[nodiscard]] std::vector<std::shared_ptr<WorkerProcess>> all() const;

 private:
  struct Worker {
    std::shared_ptr<WorkerProcess> process;
    bool lost = false;
  };

  mutable std::mutex mutex_;
  std::map<std::string, std::shared_ptr<Worker>> workers_;
  std::map<StageGroup, std::shared_ptr<Worker>> lent_;
};

}  // namespace mynah::place
