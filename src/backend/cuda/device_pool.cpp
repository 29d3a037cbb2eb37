#include "backend/cuda/device_pool.h"

#include <algorithm>
#include <bit>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "base/check.h"
#include "tensor/device_error.h"

namespace mynah::cuda {

namespace {

// What a driver's own allocations are aligned to.
constexpr size_t kAlignment = 256;

// A block serves every request down to seven eighths of its size: of eight sizes between two powers
// of two, the next one up.
size_t size_class(size_t bytes) {
  constexpr size_t kSteps = 8;
  const size_t step = std::max(kAlignment, std::bit_floor(bytes) / kSteps);
  return (std::max<size_t>(bytes, 1) + step - 1) / step * step;
}

}  // namespace

struct DevicePool::State {
  class Block;

  explicit State(Processor& device) : processor(device) {}

  // The caller holds the mutex.
  void free_idle();
  void keep(std::unique_ptr<Block> block);

  void trim() {
    free_idle();
    processor.trim();
  }

  // From the device, after what is idle was given back where there is no more.
  std::byte* allocate(size_t bytes) {
    try {
      return processor.allocate(bytes);
    } catch (const DeviceError& error) {
      if (error.error().code != ErrorCode::OutOfMemory || held == in_use) {
        throw;
      }
    }
    trim();
    return processor.allocate(bytes);
  }

  Processor& processor;
  std::mutex mutex;
  // By size; the lowest address last, which is handed out first: who asks for the same again finds
  // it where it was, in whatever order it came back.
  std::map<size_t, std::vector<std::unique_ptr<Block>>> idle;
  size_t held = 0;
  size_t in_use = 0;
};

class DevicePool::State::Block final : public Buffer {
 public:
  Block(State& state, std::byte* data, size_t bytes) : Buffer(data, bytes), state_(state) {}

 private:
  void release() override {
    const std::scoped_lock lock(state_.mutex);
    state_.in_use -= size_;
    state_.keep(std::unique_ptr<Block>(this));
  }

  State& state_;
};

void DevicePool::State::keep(std::unique_ptr<Block> block) {
  auto& blocks = idle[block->size()];
  const auto lower = [](const auto& one, const auto& other) { return one->data() > other->data(); };
  const auto at = std::ranges::upper_bound(blocks, block, lower);
  blocks.insert(at, std::move(block));
}

void DevicePool::State::free_idle() {
  for (const auto& [bytes, blocks] : idle) {
    for (const auto& block : blocks) {
      processor.free(block->data());
      held -= bytes;
    }
  }
  idle.clear();
}

DevicePool::DevicePool(Processor& processor) : state_(std::make_shared<State>(processor)) {}

DevicePool::~DevicePool() {
  const std::scoped_lock lock(state_->mutex);
  MYNAH_CHECK(state_->in_use == 0, "a tensor outlives its device");
  state_->free_idle();
}

BufferRef DevicePool::allocate(size_t bytes) {
  const size_t size = size_class(bytes);
  const std::scoped_lock lock(state_->mutex);
  std::unique_ptr<State::Block> block;
  if (auto& idle = state_->idle[size]; !idle.empty()) {
    block = std::move(idle.back());
    idle.pop_back();
  } else {
    block = std::make_unique<State::Block>(*state_, state_->allocate(size), size);
    state_->held += size;
  }
  state_->in_use += size;
  return BufferRef(block.release());
}

void DevicePool::trim(size_t most_idle) {
  const std::scoped_lock lock(state_->mutex);
  if (state_->held - state_->in_use > most_idle) {
    state_->trim();
  }
}

size_t DevicePool::bytes_held() const {
  const std::scoped_lock lock(state_->mutex);
  return state_->held;
}

}  // namespace mynah::cuda
