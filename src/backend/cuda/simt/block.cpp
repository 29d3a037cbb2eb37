#include "backend/cuda/simt/block.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <span>

#include <boost/context/protected_fixedsize_stack.hpp>
#include <fmt/format.h>
#ifdef __SSE__
#include <xmmintrin.h>
#endif

#include "base/check.h"

namespace mynah::simt::detail {

namespace {

// A kernel keeps its values in registers: what it has on the stack is small, and an unoptimised
// build's frames are not.
constexpr size_t kStackBytes = 128 << 10;
constexpr size_t kAlignment = 16;  // of each named piece of shared memory

// A stack with an unreadable page below it, whose place is told.
class ToldStack {
 public:
  explicit ToldStack(StackSwitch& listener) : listener_(&listener) {}

  boost::context::stack_context allocate() {
    boost::context::stack_context stack = inner_.allocate();
    listener_->set_stack(static_cast<std::byte*>(stack.sp) - stack.size, stack.size);
    return stack;
  }

  void deallocate(boost::context::stack_context& stack) {
    StackSwitch::clear(static_cast<std::byte*>(stack.sp) - stack.size, stack.size);
    inner_.deallocate(stack);
  }

 private:
  boost::context::protected_fixedsize_stack inner_{kStackBytes};
  StackSwitch* listener_;
};

// Sets the flags of inexact results, underflow and the like, which nobody reads, on the stack that
// runs. A switch of stacks keeps and restores them with the rest of MXCSR: where one stack has a
// flag and the other has not, each switch changes the register, and the next read of it waits for
// all that is under way. Measured: six times as long a switch.
void even_out_float_flags() {
#ifdef __SSE__
  _mm_setcsr(_mm_getcsr() | _MM_EXCEPT_MASK);
#endif
}

}  // namespace

thread_local constinit SimThread* SimThread::running = nullptr;

Bounds SimThread::bounds_of(const void* pointer) const {
  return block_->bounds_of(pointer);
}

void* SimThread::block_memory(const void* key, size_t bytes) {
  return block_->memory(key, bytes);
}

void* SimThread::dynamic_memory() const {
  return block_->dynamic_memory();
}

void SimThread::reach_barrier(int line) {
  block_->reach_barrier(*this, line);
}

const std::byte* SimThread::exchange(const void* value, size_t bytes, int line, WarpUnit unit) {
  return block_->exchange(*this, value, bytes, line, unit);
}

void SimThread::check_shared(uintptr_t address, size_t bytes, size_t alignment, bool writes) {
  block_->check_shared(*this, address, bytes, alignment, writes);
}

void SimThread::note(uintptr_t address, size_t bytes, bool shared) {
  log_->note(index_ % kLanes,
             {.address = address, .bytes = static_cast<uint32_t>(bytes), .shared = shared});
}

void SimThread::fail_global(const Bounds& bounds, uintptr_t address, size_t bytes, size_t alignment,
                            bool writes) const {
  const std::string_view verb = writes ? "writes" : "reads";
  if (bounds.begin == bounds.end) {
    throw Fault(fmt::format("{} {} bytes at an address that is in no allocation", verb, bytes));
  }
  const auto offset = static_cast<int64_t>(address) - static_cast<int64_t>(bounds.begin);
  if (address < bounds.begin || address + bytes > bounds.end) {
    throw Fault(fmt::format("{} {} bytes at offset {} of an allocation of {}", verb, bytes, offset,
                            bounds.end - bounds.begin));
  }
  throw Fault(fmt::format("{} {} bytes at offset {}, which is no multiple of {}", verb, bytes,
                          offset, alignment));
}

Block::Block(const Simulator& simulator)
    : simulator_(simulator), memory_(simulator.options().shared_bytes) {}

Block::~Block() {
  abandon();
}

Bounds Block::bounds_of(const void* pointer) {
  if (pointer == nullptr) {
    return {};  // what a kernel can do without
  }
  const auto address = reinterpret_cast<uintptr_t>(pointer);
  const auto known = std::ranges::find_if(bounds_, [address](const Bounds& bounds) {
    return bounds.begin <= address && address < bounds.end;
  });
  if (known != bounds_.end()) {
    return *known;
  }
  const Bounds found = simulator_.bounds_of(pointer);
  if (address < found.end) {  // at its end the next one is looked for anew
    bounds_.push_back(found);
  }
  return found;
}

std::optional<std::string> Block::run(const Launch& launch, int64_t number) {
  prepare(launch, number);
  even_out_float_flags();
  while (!fault_ &&
         std::ranges::any_of(lanes_.begin(), lanes_.begin() + launch.threads,
                             [](const auto& lane) { return lane->state != State::Done; })) {
    if (!run_ready() && !fault_ && !end_bulk_copy()) {
      release_barrier();
    }
  }
  if (!fault_ && !bulk_copies_.empty()) {
    fault_ = "all threads end while copies are on their way";
  }
  settle_traffic();
  traffic_.block_sectors += sectors_.size();
  all_sectors_.merge(sectors_);
  sectors_.clear();
  if (!fault_) {
    return std::nullopt;
  }
  abandon();
  return fmt::format("kernel {}, block ({}, {}, {}): {}", launch.kernel.name, x(), y(), z(),
                     *fault_);
}

void Block::prepare(const Launch& launch, int64_t number) {
  launch_ = &launch;
  threads_ = launch.threads;
  x_ = static_cast<int>(number % launch.grid.x);
  y_ = static_cast<int>(number / launch.grid.x % launch.grid.y);
  z_ = static_cast<int>(number / launch.grid.x / launch.grid.y);
  count_x_ = launch.grid.x;
  fault_.reset();
  ++traffic_.blocks;
  bounds_.clear();
  named_.clear();
  mbarriers_.clear();
  bulk_copies_.clear();
  const int warps = launch.threads / kLanes;
  memory_used_ = (launch.dynamic_bytes + kAlignment - 1) / kAlignment * kAlignment;
  MYNAH_CHECK(memory_used_ <= memory_.size(), "more shared memory than a block has");
  if (simulator_.options().check_shared) {
    shadow_.begin(memory_.size(), warps);
  }
  make_lanes(launch.threads);
  while (warps_.size() < static_cast<size_t>(warps)) {
    warps_.push_back(std::make_unique<Warp>());
  }
  for (const auto& warp : warps_) {
    warp->waiting = 0;
  }
  for (int i = 0; i < launch.threads; ++i) {
    Lane& lane = *lanes_[static_cast<size_t>(i)];
    lane.state = State::Ready;
    lane.thread.copies_.clear();
    lane.thread.copy_group_ = 0;
    lane.thread.products_.clear();
    lane.thread.may_multiply_ = false;
    lane.thread.looks_at_shared_ = simulator_.options().check_shared;
    lane.thread.log_ = simulator_.options().count_traffic
                           ? &warps_[static_cast<size_t>(i / kLanes)]->log
                           : nullptr;
  }
  order_.resize(static_cast<size_t>(warps));
  std::iota(order_.begin(), order_.end(), 0);
  random_.seed(
      static_cast<uint32_t>(simulator_.options().seed * 7919 + static_cast<uint64_t>(number) + 1));
}

void Block::make_lanes(int count) {
  while (lanes_.size() < static_cast<size_t>(count)) {
    auto lane = std::make_unique<Lane>();
    lane->thread.facts_ = this;
    lane->thread.block_ = this;
    lane->thread.index_ = static_cast<int>(lanes_.size());
    lanes_.push_back(std::move(lane));
  }
  for (size_t i = 0; i < static_cast<size_t>(count); ++i) {
    if (!lanes_[i]->fiber) {
      lanes_[i]->fiber = boost::context::fiber(std::allocator_arg, ToldStack(lanes_[i]->stack),
                                               [this, i](boost::context::fiber&& scheduler) {
                                                 lanes_[i]->stack.at_begin();
                                                 lanes_[i]->scheduler = std::move(scheduler);
                                                 return lane_main(i);
                                               });
    }
  }
}

// One thread of every block that this object runs, one after the other.
boost::context::fiber Block::lane_main(size_t index) {
  Lane& lane = *lanes_[index];
  even_out_float_flags();
  while (true) {
    try {
      launch_->kernel.run(launch_->args);
      if (!lane.thread.copies_.empty()) {
        throw Fault("ends while its copies are on their way");
      }
      if (!lane.thread.products_.empty()) {
        throw Fault("ends while its products are on their way");
      }
    } catch (const Fault& fault) {
      fault_ = fmt::format("thread {} {}", index, fault.what());
    }
    lane.state = State::Done;
    yield(lane);
  }
}

void Block::yield(Lane& lane) {
  lane.stack.before_leaving();
  lane.scheduler = std::move(lane.scheduler).resume();
  lane.stack.after_coming_back();
}

void Block::run_lane(Lane& lane) {
  SimThread::running = &lane.thread;
  lane.stack.before_entering();
  lane.fiber = std::move(lane.fiber).resume();
  lane.stack.after_returning();
  SimThread::running = nullptr;
}

bool Block::run_ready() {
  bool ran = false;
  if (simulator_.options().seed != 0) {
    std::ranges::shuffle(order_, random_);
  }
  for (const int warp : order_) {
    for (int i = warp * kLanes; i < (warp + 1) * kLanes; ++i) {
      Lane& lane = *lanes_[static_cast<size_t>(i)];
      if (lane.state != State::Ready) {
        continue;
      }
      run_lane(lane);
      ran = true;
      if (fault_) {
        return true;
      }
    }
  }
  return ran;
}

void Block::release_barrier() {
  const auto lanes = std::span(lanes_).first(static_cast<size_t>(threads_));
  const int line = lanes.front()->line;
  const bool all = std::ranges::all_of(lanes, [line](const auto& lane) {
    return lane->state == State::AtBarrier && lane->line == line;
  });
  if (!all) {
    fault_ = why_stuck();
    return;
  }
  shadow_.on_barrier();
  ++traffic_.barriers;
  settle_traffic();
  for (const auto& lane : lanes) {
    lane->state = State::Ready;
  }
}

std::string Block::why_stuck() const {
  const auto lanes = std::span(lanes_).first(static_cast<size_t>(threads_));
  const auto waiting =
      std::ranges::find_if(lanes, [](const auto& lane) { return lane->state != State::Done; });
  const Lane& first = **waiting;
  const auto other = std::ranges::find_if(lanes, [&first](const auto& lane) {
    return lane->state != first.state || lane->line != first.line;
  });
  const auto place = [](const Lane& lane) {
    switch (lane.state) {
      case State::AtBarrier:
        return fmt::format("waits at the barrier of line {}", lane.line);
      case State::InExchange:
        return fmt::format("waits for its warp at line {}", lane.line);
      case State::AtMbarrier:
        return fmt::format("waits at the mbarrier of line {}", lane.line);
      default:
        return std::string("has ended");
    }
  };
  return fmt::format("thread {} {}, and thread {} {}: not all reach it", waiting - lanes.begin(),
                     place(first), other - lanes.begin(), place(**other));
}

void* Block::memory(const void* key, size_t bytes) {
  for (const Named& named : named_) {
    if (named.key == key) {
      return memory_.data() + named.begin;
    }
  }
  if (memory_used_ + bytes > memory_.size()) {
    throw Fault(fmt::format("wants {} bytes of shared memory more than the {} of {} that are left",
                            bytes, memory_.size() - memory_used_, memory_.size()));
  }
  named_.push_back({.key = key, .begin = memory_used_, .bytes = bytes});
  memory_used_ += (bytes + kAlignment - 1) / kAlignment * kAlignment;
  return memory_.data() + named_.back().begin;
}

void* Block::dynamic_memory() const {
  return const_cast<std::byte*>(memory_.data());
}

void Block::reach_barrier(const SimThread& thread, int line) {
  Lane& lane = *lanes_[static_cast<size_t>(thread.index())];
  lane.state = State::AtBarrier;
  lane.line = line;
  yield(lane);
}

const std::byte* Block::exchange(const SimThread& thread, const void* value, size_t bytes, int line,
                                 WarpUnit unit) {
  const int number = thread.index() / kLanes;
  Warp& warp = *warps_[static_cast<size_t>(number)];
  Lane& lane = *lanes_[static_cast<size_t>(thread.index())];
  if (warp.waiting == 0) {
    warp.line = line;
    warp.odd = !warp.odd;
  } else if (warp.line != line) {
    throw Fault(
        fmt::format("is at line {} while another lane of its warp is at line {}", line, warp.line));
  }
  std::byte* slots = warp.slots[warp.odd ? 1 : 0];
  if (bytes > 0) {
    std::memcpy(slots + static_cast<size_t>(thread.index() % kLanes) * kExchangeBytes, value,
                bytes);
  }
  lane.line = line;
  if (++warp.waiting < kLanes) {
    lane.state = State::InExchange;
    yield(lane);
    return slots;
  }
  warp.waiting = 0;
  if (unit != nullptr) {
    traffic_.matrix_products += static_cast<uint64_t>(unit(slots));
  }
  warp.log.settle(traffic_, sectors_);
  if (simulator_.options().check_shared) {
    shadow_.on_exchange(number);
  }
  for (int i = number * kLanes; i < (number + 1) * kLanes; ++i) {
    lanes_[static_cast<size_t>(i)]->state = State::Ready;
  }
  return slots;
}

size_t Block::offset_of(uintptr_t address, size_t bytes, size_t alignment,
                        std::string_view verb) const {
  const auto begin = reinterpret_cast<uintptr_t>(memory_.data());
  // A view's end is the block's: what stands behind it is another's, and that is found as a race
  // or as what nobody wrote.
  if (address < begin || address + bytes > begin + memory_used_) {
    throw Fault(fmt::format("{} {} bytes at offset {} of {} bytes of shared memory", verb, bytes,
                            static_cast<int64_t>(address) - static_cast<int64_t>(begin),
                            memory_used_));
  }
  if (address % alignment != 0) {
    throw Fault(fmt::format("{} {} bytes of shared memory at offset {}, which is no multiple of {}",
                            verb, bytes, address - begin, alignment));
  }
  return address - begin;
}

void Block::check_shared(const SimThread& thread, uintptr_t address, size_t bytes, size_t alignment,
                         bool writes) {
  const size_t offset = offset_of(address, bytes, alignment, writes ? "writes" : "reads");
  if (auto wrong = shadow_.note(offset, bytes, thread.index(), writes)) {
    throw Fault(*std::move(wrong));
  }
}

void Block::settle_traffic() {
  for (const auto& warp : warps_) {
    warp->log.settle(traffic_, sectors_);
  }
}

Traffic Block::take_traffic(Sectors& seen) {
  seen.merge(all_sectors_);
  all_sectors_.clear();
  return std::exchange(traffic_, {});
}

// Threads in the middle of a kernel are not to be used again.
void Block::abandon() {
  for (const auto& lane : lanes_) {
    if (lane->fiber) {
      lane->stack.before_entering();
      lane->fiber = {};  // unwinds its stack, on it
      lane->stack.after_unwinding();
    }
  }
}

}  // namespace mynah::simt::detail
