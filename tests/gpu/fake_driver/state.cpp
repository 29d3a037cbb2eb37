#include "state.h"

#include <algorithm>
#include <array>

#include <fcntl.h>
#include <sys/file.h>

#include "faults.h"

// The driver that this library pretends to be: of the file that is compiled for each (newer.cpp).
extern "C" int mynah_fake_cuda_version();

namespace mynah::gpu::fake {
namespace {

// NVIDIA's "CUDA Driver API", CUresult: those that leave the process or the context unusable.
constexpr std::array kDeadly = {
    CUDA_ERROR_ECC_UNCORRECTABLE,
    CUDA_ERROR_NVLINK_UNCORRECTABLE,
    CUDA_ERROR_CONTAINED,
    CUDA_ERROR_ILLEGAL_ADDRESS,
    CUDA_ERROR_LAUNCH_TIMEOUT,
    CUDA_ERROR_ASSERT,
    CUDA_ERROR_HARDWARE_STACK_ERROR,
    CUDA_ERROR_ILLEGAL_INSTRUCTION,
    CUDA_ERROR_MISALIGNED_ADDRESS,
    CUDA_ERROR_INVALID_ADDRESS_SPACE,
    CUDA_ERROR_INVALID_PC,
    CUDA_ERROR_LAUNCH_FAILED,
    CUDA_ERROR_TENSOR_MEMORY_LEAK,
    CUDA_ERROR_MPS_CLIENT_TERMINATED,
    CUDA_ERROR_EXTERNAL_DEVICE,
};

// The contexts a thread has pushed, the current one last.
struct ThreadContexts {
  int generation = 0;
  std::vector<Context*> stack;
};

ThreadContexts& this_thread(int generation) {
  thread_local ThreadContexts contexts;
  if (contexts.generation != generation) {
    contexts = {.generation = generation, .stack = {}};
  }
  return contexts;
}

}  // namespace

State& State::instance() {
  static State state;
  return state;
}

void State::reset(const FakeMachine& machine) {
  const std::lock_guard lock(mutex_);
  if (ledger_ != nullptr) {
    ledger_->forget();
  }
  machine_ = machine;
  ledger_ =
      machine.memory_file.empty() ? nullptr : std::make_unique<MemoryLedger>(machine.memory_file);
  initialised_ = false;
  calls_.clear();
  failures_.clear();
  problems_.clear();
  kernels_.clear();
  numbers_.clear();
  primary_.clear();
  pools_.clear();
  objects_.clear();
  index_.clear();
  blocks_.clear();
  freed_.clear();
  clock_ = 0;
  ++generation_;
}

void State::fail(const FakeFailure& failure) {
  const std::lock_guard lock(mutex_);
  failures_.push_back(failure);
}

void State::on_launch(const std::string& kernel, FakeKernel action) {
  const std::lock_guard lock(mutex_);
  kernels_[kernel] = std::move(action);
}

std::vector<FakeCall> State::calls() const {
  const std::lock_guard lock(mutex_);
  return calls_;
}

void State::clear_calls() {
  const std::lock_guard lock(mutex_);
  calls_.clear();
}

std::vector<std::string> State::take_problems() {
  const std::lock_guard lock(mutex_);
  return std::exchange(problems_, {});
}

std::vector<std::string> State::leaks() const {
  const std::lock_guard lock(mutex_);
  // What dies with its context was not the caller's to free any more.
  const auto died = [](const Context* context) {
    return context != nullptr && context->fault != CUDA_SUCCESS;
  };
  std::vector<std::string> leaks;
  for (const auto& [address, block] : blocks_) {
    if (!died(block.context)) {
      leaks.push_back(block.label + " of " + std::to_string(block.range.bytes) +
                      " bytes was not freed");
    }
  }
  for (const auto& object : objects_) {
    const bool owned = dynamic_cast<const Function*>(object.get()) != nullptr ||
                       dynamic_cast<const Pool*>(object.get()) != nullptr;
    if (const auto* context = dynamic_cast<const Context*>(object.get())) {
      if (context->retains > 0) {
        leaks.push_back(context->label + " is still retained");
      }
    } else if (object->alive && !owned && !died(object->context)) {
      leaks.push_back(object->label + " was not destroyed");
    }
  }
  std::ranges::sort(leaks);
  return leaks;
}

FakeUse State::in_use() const {
  const std::lock_guard lock(mutex_);
  FakeUse use;
  for (const auto& [address, block] : blocks_) {
    use.pinned += block.pinned ? 1 : 0;
    use.allocations += block.pinned ? 0 : 1;
    use.device_bytes += block.pinned ? 0 : block.range.bytes;
  }
  for (const auto& object : objects_) {
    if (const auto* context = dynamic_cast<const Context*>(object.get())) {
      use.retains += context->retains;
    }
    if (!object->alive) {
      continue;
    }
    const auto count = [&]<class T>(size_t& number) {
      number += dynamic_cast<const T*>(object.get()) != nullptr ? 1 : 0;
    };
    count.operator()<Stream>(use.streams);
    count.operator()<Event>(use.events);
    count.operator()<Module>(use.modules);
    count.operator()<Link>(use.links);
    count.operator()<Graph>(use.graphs);
    count.operator()<GraphExec>(use.executables);
  }
  return use;
}

CUresult State::call(const char* function, Needs needs, const std::string& detail,
                     const std::function<CUresult(State&)>& body) {
  std::unique_lock lock(mutex_);
  if (!machine_.keeps_calls) {
    calls_.clear();
  }
  const size_t index = calls_.size();
  calls_.push_back({.function = function, .detail = detail, .result = CUDA_SUCCESS});
  Context* const context = current();
  const auto answer = [&](CUresult result, bool deadly) {
    const bool dies = deadly || std::ranges::find(kDeadly, result) != kDeadly.end();
    if (dies && context != nullptr && context->fault == CUDA_SUCCESS) {
      context->fault = result;
    }
    calls_[index].result = result;
    return result;
  };
  damage_ = FakeFault::Result;
  for (auto failure = failures_.begin(); failure != failures_.end(); ++failure) {
    if (failure->function == function && --failure->nth == 0) {
      const FakeFailure due = std::move(*failure);
      failures_.erase(failure);
      switch (due.fault) {
        case FakeFault::Result:
          return answer(due.result, due.kills_context);
        case FakeFault::Hang:
          // Other threads' calls go on.
          lock.unlock();
          hang();
        case FakeFault::Crash:
          crash();
        case FakeFault::NoNumbers:
        case FakeFault::Wrong:
          damage_ = due.fault;
      }
      break;
    }
  }
  if (needs != Needs::Nothing && !initialised_) {
    problem(std::string(function) + " before cuInit");
    return answer(CUDA_ERROR_NOT_INITIALIZED, false);
  }
  if (needs == Needs::Context) {
    if (context == nullptr) {
      problem(std::string(function) + " without a current context");
      return answer(CUDA_ERROR_INVALID_CONTEXT, false);
    }
    if (context->fault != CUDA_SUCCESS) {
      return answer(context->fault, false);
    }
  }
  return answer(body(*this), false);
}

int State::version() const {
  return machine_.version != 0 ? machine_.version : mynah_fake_cuda_version();
}

CUresult State::initialise() {
  if (machine_.start != CUDA_SUCCESS) {
    return machine_.start;
  }
  initialised_ = true;
  return machine_.cards.empty() ? CUDA_ERROR_NO_DEVICE : CUDA_SUCCESS;
}

const FakeCard* State::card(CUdevice device) const {
  return device >= 0 && static_cast<size_t>(device) < machine_.cards.size()
             ? &machine_.cards[static_cast<size_t>(device)]
             : nullptr;
}

Context* State::current() const {
  const auto& stack = this_thread(generation_).stack;
  return stack.empty() ? nullptr : stack.back();
}

// As NVIDIA's programming guide has it of exclusive-process mode: a second process gets no context
// while another has one. The file's lock is this process's until it ends.
bool State::take_alone(CUdevice device) {
  const auto mode = card(device)->attributes.find(CU_DEVICE_ATTRIBUTE_COMPUTE_MODE);
  if (machine_.memory_file.empty() || mode == card(device)->attributes.end() ||
      mode->second != CU_COMPUTEMODE_EXCLUSIVE_PROCESS || alone_.contains(device)) {
    return true;
  }
  const std::string path = machine_.memory_file + ".alone" + std::to_string(device);
  UniqueFd file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (::flock(file.get(), LOCK_EX | LOCK_NB) != 0) {
    return false;
  }
  alone_.emplace(device, std::move(file));
  return true;
}

CUresult State::retain(CUdevice device, CUcontext* context) {
  if (card(device) == nullptr) {
    return CUDA_ERROR_INVALID_DEVICE;
  }
  Context*& primary = primary_[device];
  if (primary == nullptr || !primary->alive) {
    if (!take_alone(device)) {
      return CUDA_ERROR_DEVICE_UNAVAILABLE;
    }
    const unsigned flags = primary == nullptr ? 0 : primary->flags;
    primary = make<Context>("context");
    primary->device = device;
    primary->flags = flags;
    primary->default_stream.label = "the default stream";
    primary->default_stream.context = primary;
  }
  if (primary->fault != CUDA_SUCCESS) {
    return primary->fault;
  }
  ++primary->retains;
  *context = reinterpret_cast<CUcontext>(primary);
  return CUDA_SUCCESS;
}

CUresult State::release(CUdevice device) {
  const auto found = primary_.find(device);
  if (found == primary_.end() || found->second->retains == 0) {
    problem("cuDevicePrimaryCtxRelease of device " + std::to_string(device) +
            ", which nobody retains");
    return CUDA_ERROR_INVALID_CONTEXT;
  }
  Context& context = *found->second;
  if (--context.retains > 0) {
    return CUDA_SUCCESS;
  }
  // All that is in it goes with it.
  run_all(context);
  for (const auto& object : objects_) {
    if (object->context == &context && object->alive && object.get() != &context) {
      if (context.fault == CUDA_SUCCESS && dynamic_cast<Function*>(object.get()) == nullptr &&
          dynamic_cast<Pool*>(object.get()) == nullptr) {
        problem(object->label + " was not destroyed before its context");
      }
      object->alive = dynamic_cast<Pool*>(object.get()) != nullptr;
    }
  }
  for (auto block = blocks_.begin(); block != blocks_.end();) {
    if (block->second.context == &context) {
      if (context.fault == CUDA_SUCCESS) {
        problem(block->second.label + " was not freed before its context");
      }
      block = blocks_.erase(block);
    } else {
      ++block;
    }
  }
  if (const auto pool = pools_.find(device); pool != pools_.end()) {
    pool->second->kept = 0;
  }
  write_ledger(device);
  context.alive = false;
  return CUDA_SUCCESS;
}

CUresult State::set_flags(CUdevice device, unsigned flags) {
  if (card(device) == nullptr) {
    return CUDA_ERROR_INVALID_DEVICE;
  }
  Context*& primary = primary_[device];
  if (primary == nullptr) {
    primary = make<Context>("context");
    primary->device = device;
    primary->alive = false;
  }
  primary->flags = flags;
  return CUDA_SUCCESS;
}

CUresult State::get_state(CUdevice device, unsigned* flags, int* active) {
  if (card(device) == nullptr) {
    return CUDA_ERROR_INVALID_DEVICE;
  }
  const auto found = primary_.find(device);
  *flags = found == primary_.end() ? 0 : found->second->flags;
  *active = found != primary_.end() && found->second->alive ? 1 : 0;
  return CUDA_SUCCESS;
}

CUresult State::set_current(CUcontext context) {
  auto& stack = this_thread(generation_).stack;
  if (context != nullptr && find<Context>(context, "context") == nullptr) {
    return CUDA_ERROR_INVALID_CONTEXT;
  }
  if (!stack.empty()) {
    stack.pop_back();
  }
  if (context != nullptr) {
    stack.push_back(reinterpret_cast<Context*>(context));
  }
  return CUDA_SUCCESS;
}

CUresult State::get_current(CUcontext* context) {
  *context = reinterpret_cast<CUcontext>(current());
  return CUDA_SUCCESS;
}

CUresult State::push_current(CUcontext context) {
  if (find<Context>(context, "context") == nullptr) {
    return CUDA_ERROR_INVALID_CONTEXT;
  }
  this_thread(generation_).stack.push_back(reinterpret_cast<Context*>(context));
  return CUDA_SUCCESS;
}

CUresult State::pop_current(CUcontext* context) {
  auto& stack = this_thread(generation_).stack;
  if (stack.empty()) {
    problem("cuCtxPopCurrent of a thread that has no context");
    return CUDA_ERROR_INVALID_CONTEXT;
  }
  if (context != nullptr) {
    *context = reinterpret_cast<CUcontext>(stack.back());
  }
  stack.pop_back();
  return CUDA_SUCCESS;
}

}  // namespace mynah::gpu::fake

extern "C" [[gnu::visibility("default")]] mynah::gpu::fake::FakeCuda* mynah_fake_cuda() {
  return &mynah::gpu::fake::State::instance();
}
