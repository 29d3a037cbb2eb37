#include "place/workers/worker_pool.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "tensor/device_error.h"

namespace mynah::place {
namespace {

// Whether a device is among those of "cuda:0+cuda:1".
bool is_in(std::string_view device, const std::string& key) {
  const std::string all = "+" + key + "+";
  return all.find("+" + std::string(device) + "+") != std::string::npos;
}

}  // namespace

Result<std::shared_ptr<WorkerPool::Worker>> WorkerPool::worker_for(const WorkerSpec& spec) {
  std::shared_ptr<Worker>& worker = workers_[spec.device];
  if (worker == nullptr || !worker->first->alive()) {
    auto started = WorkerLane::start(spec);
    if (!started) {
      workers_.erase(spec.device);
      return std::unexpected(std::move(started).error());
    }
    worker = std::make_shared<Worker>(Worker{.first = *std::move(started)});
  }
  return worker;
}

Result<std::shared_ptr<WorkerLane>> WorkerPool::lend(const WorkerSpec& spec,
                                                     std::optional<ModelId> model) {
  const std::lock_guard lock(mutex_);
  MYNAH_TRY(std::shared_ptr<Worker> worker, worker_for(spec));
  if (!model) {
    return worker->first;
  }
  Lent& lent = lent_[*model];
  if (lent.worker != worker) {
    lent = {.worker = worker, .lane = nullptr};  // it is this worker's failure, should there be one
    auto lane = worker->first->next(spec.device);
    if (!lane) {
      lent_.erase(*model);
      return lane;
    }
    lent.lane = *std::move(lane);
  }
  return lent.lane;
}

void WorkerPool::give_back(ModelId model) {
  Lent lent;
  bool needed = false;
  {
    const std::lock_guard lock(mutex_);
    const auto found = lent_.find(model);
    if (found == lent_.end()) {
      return;
    }
    lent = std::move(found->second);
    lent_.erase(found);
    needed = std::ranges::any_of(
        lent_, [&](const auto& other) { return other.second.worker == lent.worker; });
    if (!needed) {
      std::erase_if(workers_, [&](const auto& other) { return other.second == lent.worker; });
    }
  }
  if (!needed) {
    if (lent.lane != nullptr) {
      lent.lane->retire();
    }
    lent.worker->first->retire();
    return;
  }
  if (lent.lane != nullptr) {
    lent.lane->close(model.group);
  }
}

std::shared_ptr<WorkerLane> WorkerPool::living(const std::string& device) const {
  const std::lock_guard lock(mutex_);
  const auto found = workers_.find(device);
  return found == workers_.end() || !found->second->first->alive() ? nullptr : found->second->first;
}

bool WorkerPool::lose(ModelId model, const std::vector<std::string>& devices,
                      const std::string& reason) {
  std::vector<std::shared_ptr<Worker>> lost;
  {
    const std::lock_guard lock(mutex_);
    if (const auto lent = lent_.find(model); lent != lent_.end()) {
      lost.push_back(std::move(lent->second.worker));
      lent_.erase(lent);
      if (lost.front()->lost) {
        return false;
      }
    }
    for (const auto& entry : workers_) {
      if (std::ranges::any_of(
              devices, [&entry](const auto& device) { return is_in(device, entry.first); })) {
        lost.push_back(entry.second);
      }
    }
    for (const auto& worker : lost) {
      worker->lost = true;
      std::erase_if(workers_, [&](const auto& other) { return other.second == worker; });
    }
  }
  for (const auto& worker : lost) {
    worker->first->end(reason);
  }
  return true;
}

std::shared_ptr<WorkerLane> WorkerPool::of(ModelId model) const {
  const std::lock_guard lock(mutex_);
  const auto lent = lent_.find(model);
  return lent == lent_.end() ? nullptr : lent->second.lane;
}

std::vector<LentLane> WorkerPool::all() const {
  const std::lock_guard lock(mutex_);
  std::vector<LentLane> all;
  for (const auto& [model, lent] : lent_) {
    if (lent.lane != nullptr && !lent.worker->lost) {
      all.push_back({.model = model, .lane = lent.lane});
    }
  }
  return all;
}

std::vector<pid_t> WorkerPool::pids() const {
  const std::lock_guard lock(mutex_);
  std::vector<pid_t> pids;
  pids.reserve(workers_.size());
  for (const auto& [key, worker] : workers_) {
    pids.push_back(worker->first->pid());
  }
  return pids;
}

}  // namespace mynah::place
