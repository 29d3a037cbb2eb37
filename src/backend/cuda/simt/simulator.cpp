#include "backend/cuda/simt/simulator.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <iterator>
#include <mutex>
#include <new>
#include <numeric>
#include <random>
#include <thread>
#include <vector>

#include "backend/cuda/simt/block.h"
#include "base/check.h"

namespace mynah::simt {

namespace {

constexpr std::align_val_t kAlignment{256};
// A launch of so many blocks is run whole whatever the sample: what prepares tables for the next
// kernel is small, and where that one goes depends on them.
constexpr int64_t kFewBlocks = 100;
constexpr unsigned char kNoNumber = 0xFF;  // four of them are a NaN

}  // namespace

Simulator::Simulator(ThreadPool& pool, const SimulatorOptions& options)
    : pool_(pool), options_(options) {}

Simulator::~Simulator() {
  for (const auto& [address, bytes] : allocations_) {
    ::operator delete(reinterpret_cast<void*>(address), kAlignment);
  }
}

std::byte* Simulator::allocate(size_t bytes) {
  void* memory = ::operator new(bytes, kAlignment, std::nothrow);
  if (memory == nullptr) {
    return nullptr;
  }
  std::memset(memory, kNoNumber, bytes);
  const std::unique_lock lock(mutex_);
  allocations_.emplace(reinterpret_cast<uintptr_t>(memory), bytes);
  return static_cast<std::byte*>(memory);
}

void Simulator::free(std::byte* memory) {
  const std::unique_lock lock(mutex_);
  const auto found = allocations_.find(reinterpret_cast<uintptr_t>(memory));
  MYNAH_CHECK(found != allocations_.end(), "freed what was not allocated, or twice");
  allocations_.erase(found);
  ::operator delete(memory, kAlignment);
}

detail::Bounds Simulator::bounds_of(const void* pointer) const {
  if (options_.foreign_memory) {
    return {.begin = 0, .end = UINTPTR_MAX};
  }
  const auto address = reinterpret_cast<uintptr_t>(pointer);
  const std::shared_lock lock(mutex_);
  auto next = allocations_.upper_bound(address);
  if (next == allocations_.begin()) {
    return {};
  }
  --next;
  const uintptr_t end = next->first + next->second;
  return address <= end ? detail::Bounds{.begin = next->first, .end = end} : detail::Bounds{};
}

std::vector<int64_t> Simulator::order_of(int64_t blocks) const {
  std::vector<int64_t> order;
  const int64_t sample = options_.sample_blocks;
  if (sample > 0 && blocks > kFewBlocks) {
    for (int64_t i = 0; i < sample; ++i) {
      order.push_back((2 * i + 1) * blocks / (2 * sample));
    }
  } else if (options_.seed != 0) {
    order.resize(static_cast<size_t>(blocks));
    std::iota(order.begin(), order.end(), 0);
  }
  if (options_.seed != 0) {
    std::minstd_rand random(static_cast<uint32_t>(options_.seed));
    std::ranges::shuffle(order, random);
  }
  return order;
}

Status Simulator::launch(const HostKernel& kernel, const GridSize& grid, int threads,
                         size_t dynamic_bytes, const void* args, Traffic* counted) {
  MYNAH_CHECK(threads > 0 && threads <= kernel.most_threads && threads % detail::kLanes == 0,
              kernel.name, ": ", std::to_string(threads), " threads a block");
  const detail::Launch launch{.kernel = kernel,
                              .grid = grid,
                              .threads = threads,
                              .dynamic_bytes = dynamic_bytes,
                              .args = args};
  const std::vector<int64_t> order = order_of(grid.blocks());
  const int64_t blocks = order.empty() ? grid.blocks() : static_cast<int64_t>(order.size());
  std::mutex fault_mutex;
  int64_t first = -1;
  std::string fault;
  std::atomic<bool> failed = false;
  detail::Sectors sectors;
  pool_.parallel_for(blocks, 1, [&](int64_t begin, int64_t end) {
    std::unique_ptr<detail::Block> block = take_block();
    for (int64_t i = begin; i < end && !failed; ++i) {
      const int64_t number = order.empty() ? i : order[static_cast<size_t>(i)];
      if (auto wrong = block->run(launch, number)) {
        const std::unique_lock lock(fault_mutex);
        failed = true;
        if (first < 0 || number < first) {
          first = number;
          fault = *std::move(wrong);
        }
      }
    }
    if (options_.count_traffic) {
      const std::unique_lock lock(mutex_);
      const Traffic traffic = block->take_traffic(sectors);
      traffic_[kernel.name] += traffic;
      if (counted != nullptr) {
        *counted += traffic;
      }
    }
    give_back(std::move(block));
  });
  if (counted != nullptr) {
    counted->launch_sectors += sectors.size();
  }
  if (failed) {
    return fail(ErrorCode::Device, "simulated card: " + fault);
  }
  return {};
}

Traffic Simulator::traffic(const std::string& kernel) const {
  const std::shared_lock lock(mutex_);
  const auto found = traffic_.find(kernel);
  return found == traffic_.end() ? Traffic() : found->second;
}

std::unique_ptr<detail::Block> Simulator::take_block() {
  const std::unique_lock lock(mutex_);
  if (idle_.empty()) {
    return std::make_unique<detail::Block>(*this);
  }
  const auto own = std::ranges::find(idle_, std::this_thread::get_id(), &IdleBlock::user);
  const auto taken = own != idle_.end() ? own : std::prev(idle_.end());
  std::unique_ptr<detail::Block> block = std::move(taken->block);
  idle_.erase(taken);
  return block;
}

void Simulator::give_back(std::unique_ptr<detail::Block> block) {
  const std::unique_lock lock(mutex_);
  idle_.push_back({.user = std::this_thread::get_id(), .block = std::move(block)});
}

}  // namespace mynah::simt
