// A device by its name, opened in this process.
#pragma once

#include <memory>
#include <mutex>
#include <string>

#include "base/result.h"
#include "base/thread_pool.h"
#include "gpu/devices.h"
#include "place/terms/workload.h"
#include "tensor/backend.h"

namespace mynah::place {

// The backend and what it computes on, in the order that they must be destroyed from the end.
struct OpenedDevice {
  std::shared_ptr<ThreadPool> pool;  // null where the device brings its own processors
  std::unique_ptr<Backend> backend;
};

// The processor's threads of this process, which all share who compute on it. Thread-safe.
class DeviceThreads {
 public:
  // As many as the first who asked wanted.
  std::shared_ptr<ThreadPool> get(int threads);

 private:
  std::mutex mutex_;
  std::shared_ptr<ThreadPool> pool_;
};

// Cards as the settings show them.
[[nodiscard]] Result<gpu::Gpus> find_cards(const DeviceSettings& settings);

// Refuses a card that is not there, or that its driver does not show, in one line that says why and
// what to do; opens nothing. Any other device is there.
Status check_there(const std::string& name, const DeviceSettings& settings);

// "cpu", "ref", "simt:0", "cuda", "cuda:N". A card that is not there, or that cannot be used, is
// refused in one line that says why and what to do.
Result<OpenedDevice> open_device(const std::string& name, const DeviceSettings& settings,
                                 DeviceThreads& threads);

// The same with threads of its own.
Result<OpenedDevice> open_device(const std::string& name, const DeviceSettings& settings);

}  // namespace mynah::place
