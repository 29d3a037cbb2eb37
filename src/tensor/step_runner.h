// StepRunner: a loop whose steps are the same operations on other values, as a decoder's.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "base/thread_pool.h"
#include "tensor/buffer.h"

namespace mynah {

class Backend;

// Owned by who runs the loop, over all its runs: a device may keep what it learned of a step to do
// the next one at once (a card's driver graphs). Thread-safe: callers beside each other get memory
// of their own. The backend must outlive it.
class StepRunner {
 public:
  StepRunner() = default;
  virtual ~StepRunner() = default;
  StepRunner(const StepRunner&) = delete;
  StepRunner& operator=(const StepRunner&) = delete;

  // Calls `fn` once, with memory of the device of result.size() bytes, and copies what fn left
  // there to `result`. Operations of fn's thread may only be on their way when they return: values
  // come from the host (ops::from_host), but nothing is downloaded; no tensor that fn makes, nor
  // what holds that memory, is there when fn is back; those that it reads or writes are there until
  // run() is. Throws DeviceError when the device fails.
  virtual void run(FunctionRef<void(const BufferRef& memory)> fn, std::span<std::byte> result) = 0;
};

// Calls fn as it is: where operations are done when they return, there is nothing to keep.
[[nodiscard]] std::unique_ptr<StepRunner> make_plain_step_runner(Backend& backend);

}  // namespace mynah
