#include "tensor/host_pool.h"

#include <array>
#include <bit>
#include <cstdlib>
#include <mutex>
#include <vector>

#include "tensor/device_error.h"

namespace mynah {
namespace {

constexpr size_t kAlignment = 64;  // a cache line, and the widest vector

// Four size classes to a power of two: at most a quarter of a block is waste.
size_t class_of(size_t bytes) {
  const size_t units = (bytes + kAlignment - 1) / kAlignment;
  if (units < 8) {
    return units;
  }
  const auto power =
      static_cast<size_t>(std::bit_width(units - 1));  // units in (2^(power-1), 2^power]
  const size_t quarter = size_t{1} << (power - 3);
  const size_t base = size_t{1} << (power - 1);
  return power * 4 + (units - base + quarter - 1) / quarter;
}

size_t class_bytes(size_t size_class) {
  if (size_class < 8) {
    return size_class * kAlignment;
  }
  const size_t steps = (size_class - 1) % 4 + 1;
  const size_t power = (size_class - steps) / 4;
  return ((size_t{1} << (power - 1)) + steps * (size_t{1} << (power - 3))) * kAlignment;
}

constexpr size_t kClasses = 200;

}  // namespace

struct HostPool::State {
  class Block final : public Buffer {
   public:
    Block(std::byte* data, size_t size, size_t size_class)
        : Buffer(data, size), size_class_(size_class) {}

    ~Block() override { std::free(data_); }

    void release() override {
      // The pool may live only as long as this block: keep it until the block is filed.
      const std::shared_ptr<State> pool = std::move(pool_);
      pool->take_back(this);
    }

    std::shared_ptr<State> pool_;
    size_t size_class_;
  };

  ~State() {
    for (auto& list : free) {
      for (Block* block : list) {
        delete block;
      }
    }
  }

  void take_back(Block* block) {
    const std::lock_guard lock(mutex);
    in_use -= block->size();
    free[block->size_class_].push_back(block);
  }

  mutable std::mutex mutex;
  std::array<std::vector<Block*>, kClasses> free;
  std::array<size_t, kClasses> blocks{};  // of each class, free or in use
  int64_t system_allocations = 0;
  size_t in_use = 0;
  size_t held = 0;
};

HostPool::HostPool() : state_(std::make_shared<State>()) {}

HostPool::~HostPool() {
  trim();
}

BufferRef HostPool::allocate(size_t bytes) {
  const size_t size_class = class_of(bytes == 0 ? 1 : bytes);
  const size_t size = class_bytes(size_class);
  const std::lock_guard lock(state_->mutex);
  State::Block* block = nullptr;
  auto& list = state_->free[size_class];
  if (!list.empty()) {
    block = list.back();
    list.pop_back();
  } else {
    auto* data = static_cast<std::byte*>(std::aligned_alloc(kAlignment, size));
    if (data == nullptr) {
      throw DeviceError({ErrorCode::OutOfMemory,
                         "wanted " + std::to_string(size) + " bytes of memory, found none left"});
    }
    block = new State::Block(data, size, size_class);
    ++state_->system_allocations;
    state_->held += size;
    // Room to file every block of this class without allocating when it comes back.
    list.reserve(++state_->blocks[size_class]);
  }
  block->pool_ = state_;
  state_->in_use += size;
  return BufferRef(block);
}

void HostPool::trim() {
  const std::lock_guard lock(state_->mutex);
  for (auto& list : state_->free) {
    for (State::Block* block : list) {
      state_->held -= block->size();
      --state_->blocks[block->size_class_];
      delete block;
    }
    list.clear();
  }
}

int64_t HostPool::system_allocations() const {
  const std::lock_guard lock(state_->mutex);
  return state_->system_allocations;
}

size_t HostPool::bytes_in_use() const {
  const std::lock_guard lock(state_->mutex);
  return state_->in_use;
}

size_t HostPool::bytes_held() const {
  const std::lock_guard lock(state_->mutex);
  return state_->held;
}

namespace {

class WrappedBuffer final : public Buffer {
 public:
  WrappedBuffer(const void* data, size_t size, std::shared_ptr<const void> owner)
      : Buffer(const_cast<std::byte*>(static_cast<const std::byte*>(data)), size),
        owner_(std::move(owner)) {}

 private:
  void release() override { delete this; }

  std::shared_ptr<const void> owner_;
};

}  // namespace

BufferRef wrap_host_memory(const void* data, size_t bytes, std::shared_ptr<const void> owner) {
  return BufferRef(new WrappedBuffer(data, bytes, std::move(owner)));
}

}  // namespace mynah
