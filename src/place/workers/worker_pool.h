// WorkerPool: the workers of one process by what they compute on, and which models are in each.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "place/terms/model_id.h"
#include "place/workers/worker_process.h"

namespace mynah::place {

// A worker that can be lent, and the number of the models that are in it (ModelId::number).
struct NumberedWorker {
  std::shared_ptr<WorkerProcess> process;
  uint32_t number = 0;
};

// Thread-safe. A worker has one model of a kind at most, and answers by the kind which: models that
// have the same number among those of their kinds share one, and no others.
class WorkerPool {
 public:
  // The worker for spec.device, devices with '+' between, and for models of this one's number: one
  // that lives, or a new one. The model is there from now on, be it that it is still to be loaded,
  // until give_back() or lose(); none: no model is.
  Result<std::shared_ptr<WorkerProcess>> lend(const WorkerSpec& spec, std::optional<ModelId> model);

  // The model is not needed. Its worker lets go of it, and ends where no other model is there; a
  // call that is under way is waited for.
  void give_back(ModelId model);

  // The model's worker failed. It ends, as does every other on one of these devices, and is never
  // lent again; whoever has a model there too hears the reason when he asks for something
  // ("computes wrongly: ..."). False: it had been lost before, by another model.
  bool lose(ModelId model, const std::vector<std::string>& devices, const std::string& reason);

  // In which the model is, alive or not; null: it is in none.
  [[nodiscard]] std::shared_ptr<WorkerProcess> of(ModelId model) const;

  // Workers that can be lent.
  [[nodiscard]] std::vector<NumberedWorker> all() const;

 private:
  struct Worker {
    std::shared_ptr<WorkerProcess> process;
    bool lost = false;
  };

  using Key = std::pair<std::string, uint32_t>;  // devices, and the number of the models

  mutable std::mutex mutex_;
  std::map<Key, std::shared_ptr<Worker>> workers_;
  std::map<ModelId, std::shared_ptr<Worker>> lent_;
};

}  // namespace mynah::place
