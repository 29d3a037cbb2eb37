#include "tensor/host_pool.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdlib>
#include <mutex>
#include <vector>

#include "tensor/device_error.h"
#include "tensor/host_arena.h"

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

// From here on blocks are cut from the arena. Below, lists for each size hold little, and which
// block a thread gets does not change how much.
constexpr size_t kLargeBytes = size_t{256} << 10U;
constexpr size_t kClasses = 64;

}  // namespace

struct HostPool::State {
  class Block final : public Buffer {
   public:
    Block(std::byte* data, size_t size) : Buffer(data, size) {}

    void become(std::byte* data, size_t size) {
      data_ = data;
      size_ = size;
    }

    void release() override {
      // The pool may live only as long as this block: keep it until the block is filed.
      const std::shared_ptr<State> pool = std::move(pool_);
      pool->take_back(this);
    }

    std::shared_ptr<State> pool_;
  };

  ~State() {
    free_small();
    for (const Block* block : spare) {
      delete block;
    }
  }

  void take_back(Block* block) {
    const std::lock_guard lock(mutex);
    in_use -= block->size();
    if (block->size() < kLargeBytes) {
      free[class_of(block->size())].push_back(block);
    } else {
      arena.give(block->data(), block->size());
      spare.push_back(block);
    }
  }

  // Null when the system has no more memory.
  Block* take_small(size_t bytes) {
    const size_t size_class = class_of(bytes);
    auto& list = free[size_class];
    if (!list.empty()) {
      Block* const block = list.back();
      list.pop_back();
      return block;
    }
    const size_t size = class_bytes(size_class);
    auto* data = static_cast<std::byte*>(std::aligned_alloc(kAlignment, size));
    if (data == nullptr) {
      return nullptr;
    }
    ++small_allocations;
    small_held += size;
    // Room to file every block of this class without allocating when it comes back.
    list.reserve(++blocks[size_class]);
    return new Block(data, size);
  }

  Block* take_large(size_t bytes) {
    const size_t size = HostArena::rounded(bytes);
    std::byte* const data = arena.take(size);
    if (data == nullptr) {
      return nullptr;
    }
    if (spare.empty()) {
      spare.reserve(++large_blocks);
      return new Block(data, size);
    }
    Block* const block = spare.back();
    spare.pop_back();
    block->become(data, size);
    return block;
  }

  void free_small() {
    for (auto& list : free) {
      for (const Block* block : list) {
        small_held -= block->size();
        --blocks[class_of(block->size())];
        std::free(block->data());
        delete block;
      }
      list.clear();
    }
  }

  mutable std::mutex mutex;
  std::array<std::vector<Block*>, kClasses> free;
  std::array<size_t, kClasses> blocks{};  // of each class, free or in use
  int64_t small_allocations = 0;
  size_t small_held = 0;
  HostArena arena;
  std::vector<Block*> spare;  // large ones without memory
  size_t large_blocks = 0;    // spare or in use
  size_t in_use = 0;
};

HostPool::HostPool() : state_(std::make_shared<State>()) {}

HostPool::~HostPool() {
  trim();
}

BufferRef HostPool::allocate(size_t bytes) {
  bytes = std::max(bytes, size_t{1});
  const std::lock_guard lock(state_->mutex);
  State::Block* const block = class_bytes(class_of(bytes)) < kLargeBytes
                                  ? state_->take_small(bytes)
                                  : state_->take_large(std::max(bytes, kLargeBytes));
  if (block == nullptr) {
    throw DeviceError({ErrorCode::OutOfMemory,
                       "wanted " + std::to_string(bytes) + " bytes of memory, found none left"});
  }
  block->pool_ = state_;
  state_->in_use += block->size();
  return BufferRef(block);
}

void HostPool::trim() {
  const std::lock_guard lock(state_->mutex);
  state_->free_small();
  state_->arena.trim();
}

int64_t HostPool::system_allocations() const {
  const std::lock_guard lock(state_->mutex);
  return state_->small_allocations + state_->arena.growths();
}

size_t HostPool::bytes_in_use() const {
  const std::lock_guard lock(state_->mutex);
  return state_->in_use;
}

size_t HostPool::bytes_held() const {
  const std::lock_guard lock(state_->mutex);
  return state_->small_held + state_->arena.bytes_held();
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
