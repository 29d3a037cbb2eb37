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

Result<std::shared_ptr<WorkerProcess>> WorkerPool::lend(const WorkerSpec& spec,
                                                        std::optional<ModelId> model) {
  const std::lock_guard lock(mutex_);
  const Key key{spec.device, model ? model->number : 0};
  std::shared_ptr<Worker>& worker = workers_[key];
  if (worker == nullptr || !worker->process->alive()) {
    auto started = WorkerProcess::start(spec);
    if (!started) {
      workers_.erase(key);
      return std::unexpected(std::move(started).error());
    }
    worker = std::make_shared<Worker>(Worker{.process = *std::move(started)});
  }
  if (model) {
    lent_[*model] = worker;
  }
  return worker->process;
}

void WorkerPool::give_back(ModelId model) {
  std::shared_ptr<Worker> worker;
  bool needed = false;
  {
    const std::lock_guard lock(mutex_);
    const auto lent = lent_.find(model);
    if (lent == lent_.end()) {
      return;
    }
    worker = std::move(lent->second);
    lent_.erase(lent);
    needed = std::ranges::any_of(lent_, [&](const auto& other) { return other.second == worker; });
    if (!needed) {
      std::erase_if(workers_, [&](const auto& other) { return other.second == worker; });
    }
  }
  if (!needed) {
    worker->process->retire();
    return;
  }
  try {
    static_cast<void>(worker->process->tell_if_prompt(Ask::CloseGroup, kLeastStep, model.group));
  } catch (const DeviceError&) {
    return;  // who has a model there hears of it
  }
}

bool WorkerPool::lose(ModelId model, const std::vector<std::string>& devices,
                      const std::string& reason) {
  std::vector<std::shared_ptr<Worker>> lost;
  {
    const std::lock_guard lock(mutex_);
    if (const auto lent = lent_.find(model); lent != lent_.end()) {
      lost.push_back(std::move(lent->second));
      lent_.erase(lent);
      if (lost.front()->lost) {
        return false;
      }
    }
    for (const auto& entry : workers_) {
      if (std::ranges::any_of(
              devices, [&entry](const auto& device) { return is_in(device, entry.first.first); })) {
        lost.push_back(entry.second);
      }
    }
    for (const auto& worker : lost) {
      worker->lost = true;
      std::erase_if(workers_, [&](const auto& other) { return other.second == worker; });
    }
  }
  for (const auto& worker : lost) {
    worker->process->end(reason);
  }
  return true;
}

std::shared_ptr<WorkerProcess> WorkerPool::of(ModelId model) const {
  const std::lock_guard lock(mutex_);
  const auto lent = lent_.find(model);
  return lent == lent_.end() ? nullptr : lent->second->process;
}

std::vector<NumberedWorker> WorkerPool::all() const {
  const std::lock_guard lock(mutex_);
  std::vector<NumberedWorker> all;
  all.reserve(workers_.size());
  for (const auto& [key, worker] : workers_) {
    all.push_back({.process = worker->process, .number = key.second});
  }
  return all;
}

}  // namespace mynah::place
