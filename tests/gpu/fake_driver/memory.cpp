// Memory of the fake driver: device, pooled and pinned, and the copies between.
#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "state.h"

#ifdef MYNAH_ADDRESS_SANITIZER
#include <sanitizer/asan_interface.h>
#endif

namespace mynah::gpu::fake {
namespace {

// What cuMemAlloc promises (CUDA C++ Programming Guide, "Device Memory Accesses").
constexpr uint64_t kAlignment = 256;

// Larger memory is left as the system gives it, so that a test can fill a card without filling the
// machine.
constexpr uint64_t kMarkedBytes = uint64_t{64} << 20;

// Not-a-number in every floating-point type.
constexpr int kFreshByte = 0xFF;

// Freed memory that is kept back, so that its address stays free.
constexpr uint64_t kKeptBytes = uint64_t{256} << 20;

// Freed memory that is kept back is out of bounds for the address sanitizer.
void forbid([[maybe_unused]] std::byte* memory, [[maybe_unused]] uint64_t bytes,
            [[maybe_unused]] bool forbidden) {
#ifdef MYNAH_ADDRESS_SANITIZER
  forbidden ? __asan_poison_memory_region(memory, bytes)
            : __asan_unpoison_memory_region(memory, bytes);
#endif
}

std::shared_ptr<std::byte> fresh_memory(uint64_t bytes) {
  const uint64_t rounded = (bytes + kAlignment - 1) / kAlignment * kAlignment;
  auto* const memory = static_cast<std::byte*>(std::aligned_alloc(kAlignment, rounded));
  if (memory != nullptr && rounded <= kMarkedBytes) {
    std::memset(memory, kFreshByte, rounded);
  }
  return {memory, [rounded](std::byte* old) {
            forbid(old, rounded, false);
            std::free(old);
          }};
}

}  // namespace

Block* State::find_block(uint64_t address) {
  auto after = blocks_.upper_bound(address);
  if (after == blocks_.begin()) {
    return nullptr;
  }
  Block& block = std::prev(after)->second;
  return address < block.range.address + block.range.bytes ? &block : nullptr;
}

const State::Freed* State::find_freed(uint64_t address, uint64_t* begin) const {
  auto after = freed_.upper_bound(address);
  if (after == freed_.begin()) {
    return nullptr;
  }
  const auto& [start, freed] = *std::prev(after);
  *begin = start;
  return address < start + freed.bytes ? &freed : nullptr;
}

uint64_t State::device_bytes(int device) const {
  uint64_t bytes = 0;
  for (const auto& [address, block] : blocks_) {
    if (!block.pinned && block.context->device == device) {
      bytes += block.range.bytes;
    }
  }
  return bytes;
}

uint64_t State::room(int device) const {
  const FakeCard& of = *card(device);
  return of.memory_bytes - std::min(of.held_bytes, of.memory_bytes);
}

uint64_t State::pool_kept(int device) const {
  const auto pool = pools_.find(device);
  return pool == pools_.end() ? 0 : pool->second->kept;
}

uint8_t State::ledger_card(int device) const {
  return static_cast<uint8_t>(device_uuid(*card(device), device).bytes[0]);
}

void State::write_ledger(int device) {
  if (ledger_ != nullptr) {
    const uint64_t held = std::min(device_bytes(device) + pool_kept(device), room(device));
    ledger_->note(ledger_card(device), held);
  }
}

CUresult State::give_out(Block block, uint64_t bytes, uint64_t* address) {
  if (bytes == 0) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  block.context = current();
  const int device = block.context->device;
  // What is kept in the pool makes way.
  const uint64_t held = device_bytes(device);
  if (!block.pinned &&
      (bytes > room(device) - std::min(held, room(device)) ||
       (ledger_ != nullptr && !ledger_->hold(ledger_card(device), held + bytes, room(device))))) {
    return CUDA_ERROR_OUT_OF_MEMORY;
  }
  block.bytes = fresh_memory(bytes);
  if (block.bytes == nullptr) {
    write_ledger(device);
    return CUDA_ERROR_OUT_OF_MEMORY;
  }
  block.range = {.address = reinterpret_cast<uint64_t>(block.bytes.get()), .bytes = bytes};
  std::string kind = block.pinned ? "pinned memory" : "memory";
  block.label = kind + " " + std::to_string(++numbers_[kind]);
  calls_.back().detail += ": " + block.label;
  *address = block.range.address;
  blocks_.insert_or_assign(block.range.address, std::move(block));
  return CUDA_SUCCESS;
}

void State::give_back(uint64_t address) {
  auto node = blocks_.extract(address);
  Block& block = node.mapped();
  if (!block.pinned) {
    write_ledger(block.context->device);
  }
  forbid(block.bytes.get(), block.range.bytes, true);
  freed_[address] = {
      .bytes = block.range.bytes, .label = block.label, .memory = std::move(block.bytes)};
  uint64_t kept = 0;
  for (const auto& [start, freed] : freed_) {
    kept += freed.bytes;
  }
  // Once the memory is the system's again, its address says nothing any more.
  while (kept > kKeptBytes && !freed_.empty()) {
    kept -= freed_.begin()->second.bytes;
    freed_.erase(freed_.begin());
  }
}

bool State::check_range(const Range& range, const std::string& what) {
  const Block* const block = find_block(range.address);
  uint64_t begin = 0;
  if (block == nullptr || block->pinned) {
    const Freed* const freed = find_freed(range.address, &begin);
    problem(what + (freed != nullptr ? " uses " + freed->label + " after it was freed"
                                     : std::string(" uses an address that is no device memory")));
    return false;
  }
  if (block->freeing) {
    problem(what + " uses " + block->label + " after it was freed");
    return false;
  }
  if (range.address + range.bytes > block->range.address + block->range.bytes) {
    problem(what + " runs past the end of " + block->label);
    return false;
  }
  return true;
}

bool State::is_pinned(const Range& range) const {
  auto after = blocks_.upper_bound(range.address);
  if (after == blocks_.begin()) {
    return false;
  }
  const Block& block = std::prev(after)->second;
  return block.pinned && range.address + range.bytes <= block.range.address + block.range.bytes;
}

void State::check_unused(const Block& block) {
  const auto uses = [&](const Work& work) {
    return std::ranges::any_of(work.ranges,
                               [&](const Range& range) { return range.overlaps(block.range); });
  };
  for (const auto& object : objects_) {
    if (!object->alive) {
      continue;
    }
    const auto* const graph = dynamic_cast<const Graph*>(object.get());
    const auto* const executable = dynamic_cast<const GraphExec*>(object.get());
    const auto* const stream = dynamic_cast<const Stream*>(object.get());
    if ((graph != nullptr && std::ranges::any_of(graph->steps, uses)) ||
        (executable != nullptr && std::ranges::any_of(*executable->steps, uses))) {
      problem(block.label + " is freed while " + object->label + " refers to it");
    }
    if (stream != nullptr && std::ranges::any_of(stream->pending, uses)) {
      problem(block.label + " is freed while " + stream->label + " has yet to use it");
    }
  }
}

CUresult State::memory_info(size_t* free, size_t* total) {
  const int device = current()->device;
  *total = card(device)->memory_bytes;
  const uint64_t others = ledger_ == nullptr ? 0 : ledger_->held_by_others(ledger_card(device));
  const uint64_t left = room(device);
  *free = left - std::min(left, device_bytes(device) + pool_kept(device) + others);
  return CUDA_SUCCESS;
}

CUresult State::allocate(CUdeviceptr* address, size_t bytes) {
  if (forbidden_by_capture(InCapture::Unsafe)) {
    return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  }
  uint64_t given = 0;
  const CUresult result = give_out({}, bytes, &given);
  *address = given;
  return result;
}

CUresult State::free_memory(CUdeviceptr address) {
  if (address == 0) {
    return CUDA_SUCCESS;
  }
  if (forbidden_by_capture(InCapture::Unsafe)) {
    return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  }
  const auto found = blocks_.find(address);
  if (found == blocks_.end() || found->second.pinned || found->second.freeing) {
    uint64_t begin = 0;
    const Freed* const freed = find_freed(address, &begin);
    problem(freed != nullptr && begin == address
                ? freed->label + " is freed twice"
                : std::string("cuMemFree of an address that cuMemAlloc did not give"));
    return CUDA_ERROR_INVALID_VALUE;
  }
  calls_.back().detail = found->second.label;
  // It waits for all that may still use the memory.
  run_all(*current());
  check_unused(found->second);
  give_back(address);
  return CUDA_SUCCESS;
}

CUresult State::allocate_async(CUdeviceptr* address, size_t bytes, CUstream stream) {
  Stream* const target = find_stream(stream);
  if (target == nullptr) {
    return CUDA_ERROR_INVALID_HANDLE;
  }
  if (target->capture != nullptr) {
    problem("cuMemAllocAsync in a captured stream: a captured step does not allocate");
    target->capture->spoiled = true;
    return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  }
  CUmemoryPool handle = nullptr;
  default_pool(&handle, current()->device);
  uint64_t given = 0;
  const CUresult result = give_out({.pooled = true}, bytes, &given);
  *address = given;
  if (result == CUDA_SUCCESS) {
    Pool& pool = *pools_[current()->device];
    pool.kept -= std::min<uint64_t>(pool.kept, bytes);
    uint64_t used = 0;
    for (const auto& [start, block] : blocks_) {
      used += block.pooled && block.context->device == pool.device ? block.range.bytes : 0;
    }
    pool.used_high = std::max(pool.used_high, used);
    pool.reserved_high = std::max(pool.reserved_high, used + pool.kept);
    write_ledger(pool.device);
  }
  return result;
}

CUresult State::free_async(CUdeviceptr address, CUstream stream) {
  Stream* const target = find_stream(stream);
  if (target == nullptr) {
    return CUDA_ERROR_INVALID_HANDLE;
  }
  if (target->capture != nullptr) {
    problem("cuMemFreeAsync in a captured stream: a captured step does not free");
    target->capture->spoiled = true;
    return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  }
  const auto found = blocks_.find(address);
  if (found == blocks_.end() || found->second.pinned || found->second.freeing) {
    uint64_t begin = 0;
    const Freed* const freed = find_freed(address, &begin);
    const bool twice = found != blocks_.end() ? found->second.freeing : freed != nullptr;
    problem(twice
                ? (found != blocks_.end() ? found->second.label : freed->label) + " is freed twice"
                : std::string("cuMemFreeAsync of an address that the driver did not give"));
    return CUDA_ERROR_INVALID_VALUE;
  }
  calls_.back().detail = found->second.label + ", " + target->label;
  found->second.freeing = true;
  return submit(*target, {.what = "free " + found->second.label, .run = [this, address] {
                            const Block& block = blocks_.at(address);
                            check_unused(block);
                            if (block.pooled) {
                              pools_.at(block.context->device)->kept += block.range.bytes;
                            }
                            give_back(address);
                          }});
}

CUresult State::allocate_pinned(void** address, size_t bytes) {
  if (forbidden_by_capture(InCapture::Unsafe)) {
    return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  }
  uint64_t given = 0;
  const CUresult result = give_out({.pinned = true}, bytes, &given);
  *address = host(given);
  return result;
}

CUresult State::free_pinned(void* address) {
  if (address == nullptr) {
    return CUDA_SUCCESS;
  }
  if (forbidden_by_capture(InCapture::Unsafe)) {
    return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  }
  const auto found = blocks_.find(reinterpret_cast<uint64_t>(address));
  if (found == blocks_.end() || !found->second.pinned) {
    problem("cuMemFreeHost of an address that cuMemHostAlloc did not give, or twice");
    return CUDA_ERROR_INVALID_VALUE;
  }
  calls_.back().detail = found->second.label;
  // A copy that is under way reads or writes it behind the program's back.
  check_unused(found->second);
  run_all(*current());
  give_back(found->first);
  return CUDA_SUCCESS;
}

CUresult State::default_pool(CUmemoryPool* pool, CUdevice device) {
  if (card(device) == nullptr) {
    return CUDA_ERROR_INVALID_DEVICE;
  }
  Pool*& known = pools_[device];
  if (known == nullptr) {
    known = make<Pool>("pool");
    known->context = nullptr;
    known->device = device;
  }
  *pool = reinterpret_cast<CUmemoryPool>(known);
  return CUDA_SUCCESS;
}

CUresult State::pool_attribute(CUmemoryPool pool, CUmemPoolAttribute attribute, uint64_t* value,
                               bool set) {
  Pool* const found = find<Pool>(pool, "memory pool");
  if (found == nullptr) {
    return CUDA_ERROR_INVALID_HANDLE;
  }
  uint64_t used = 0;
  for (const auto& [start, block] : blocks_) {
    used += block.pooled && block.context->device == found->device ? block.range.bytes : 0;
  }
  if (set) {
    if (attribute == CU_MEMPOOL_ATTR_RELEASE_THRESHOLD) {
      found->release_threshold = *value;
      return CUDA_SUCCESS;
    }
    if (*value != 0) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    if (attribute == CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH) {
      found->reserved_high = used + found->kept;
    } else if (attribute == CU_MEMPOOL_ATTR_USED_MEM_HIGH) {
      found->used_high = used;
    } else {
      return CUDA_ERROR_INVALID_VALUE;
    }
    return CUDA_SUCCESS;
  }
  switch (attribute) {
    case CU_MEMPOOL_ATTR_RELEASE_THRESHOLD:
      *value = found->release_threshold;
      return CUDA_SUCCESS;
    case CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT:
      *value = used + found->kept;
      return CUDA_SUCCESS;
    case CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH:
      *value = found->reserved_high;
      return CUDA_SUCCESS;
    case CU_MEMPOOL_ATTR_USED_MEM_CURRENT:
      *value = used;
      return CUDA_SUCCESS;
    case CU_MEMPOOL_ATTR_USED_MEM_HIGH:
      *value = found->used_high;
      return CUDA_SUCCESS;
  }
  return CUDA_ERROR_INVALID_VALUE;
}

CUresult State::trim_pool(CUmemoryPool pool, size_t bytes_to_keep) {
  Pool* const found = find<Pool>(pool, "memory pool");
  if (found == nullptr) {
    return CUDA_ERROR_INVALID_HANDLE;
  }
  found->kept = std::min<uint64_t>(found->kept, bytes_to_keep);
  write_ledger(found->device);
  return CUDA_SUCCESS;
}

}  // namespace mynah::gpu::fake
