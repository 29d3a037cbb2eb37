#include "backend/cuda/simt/shared_shadow.h"

#include <algorithm>

#include <fmt/format.h>

#include "backend/cuda/simt/sim_thread.h"

namespace mynah::simt::detail {

void SharedShadow::begin(size_t bytes, int warps) {
  clock_ = 1;
  barrier_clock_ = 1;
  exchange_clocks_.assign(static_cast<size_t>(warps), 1);
  known_.clear();
  std::fill_n(cells_.begin(), used_, Cell());
  used_ = 0;
  cells_.resize(bytes);
}

bool SharedShadow::ordered(int other, int other_warp, uint32_t clock, int thread) const {
  const int warp = thread / kLanes;
  return other == thread || clock < barrier_clock_ ||
         (other_warp == warp && clock < exchange_clocks_[static_cast<size_t>(warp)]) ||
         clock < known(thread, other_warp);
}

bool SharedShadow::ordered_after_all(uint32_t clock, int thread) const {
  if (clock < barrier_clock_) {
    return true;
  }
  const int warps = static_cast<int>(exchange_clocks_.size());
  for (int warp = 0; warp < warps; ++warp) {
    if (warp != thread / kLanes && clock >= known(thread, warp)) {
      return false;
    }
  }
  return warps > 1;
}

uint32_t SharedShadow::known(int thread, int warp) const {
  return known_.empty() ? 0 : known_[static_cast<size_t>(thread)][static_cast<size_t>(warp)];
}

void SharedShadow::release(int thread, Knowledge& to) const {
  const size_t warps = exchange_clocks_.size();
  const auto own = static_cast<size_t>(thread / kLanes);
  to.resize(warps);
  for (size_t warp = 0; warp < warps; ++warp) {
    to[warp] = std::max(
        {to[warp], known(thread, static_cast<int>(warp)), warp == own ? exchange_clocks_[own] : 0});
  }
}

void SharedShadow::acquire(int thread, const Knowledge& from) {
  const size_t warps = exchange_clocks_.size();
  if (known_.empty()) {
    known_.assign(warps * kLanes, Knowledge(warps));
  }
  Knowledge& own = known_[static_cast<size_t>(thread)];
  for (size_t warp = 0; warp < from.size(); ++warp) {
    own[warp] = std::max(own[warp], from[warp]);
  }
}

void SharedShadow::end_copy(size_t begin, size_t count, int thread, Knowledge& to) {
  end_copy(begin, count, thread);
  to.resize(exchange_clocks_.size());
  to[static_cast<size_t>(thread / kLanes)] = ++clock_;
}

void SharedShadow::note_reader(Cell& cell, int thread) const {
  const auto warp = static_cast<uint16_t>(thread / kLanes);
  const bool alone = cell.reader == kNobody ||
                     (cell.reader != kSeveral &&
                      ordered(cell.reader, cell.reader_warp, cell.read_clock, thread)) ||
                     ordered_after_all(cell.read_clock, thread);
  if (alone) {
    cell.reader = static_cast<uint16_t>(thread);
    cell.reader_warp = warp;
  } else {
    cell.reader = cell.reader != kSeveral && cell.reader_warp == warp ? kSeveralOfAWarp : kSeveral;
  }
  cell.read_clock = clock_;
}

std::optional<std::string> SharedShadow::note(size_t begin, size_t count, int thread, bool writes) {
  const std::string_view verb = writes ? "writes" : "reads";
  used_ = std::max(used_, begin + count);
  for (size_t i = begin; i < begin + count; ++i) {
    Cell& cell = cells_[i];
    if (cell.writer == kNobody && !writes) {
      return fmt::format("reads byte {} of shared memory, which nobody wrote", i);
    }
    if (cell.writer == kOnItsWay) {
      return fmt::format("{} byte {} of shared memory, to which a copy is still on its way", verb,
                         i);
    }
    if (cell.writer != kNobody &&
        !ordered(cell.writer, cell.writer / kLanes, cell.write_clock, thread)) {
      return fmt::format(
          "{} byte {} of shared memory, which thread {} wrote with no barrier between", verb, i,
          cell.writer);
    }
    if (!writes) {
      note_reader(cell, thread);
      continue;
    }
    const bool read_before = cell.reader != kNobody;
    const bool several = cell.reader == kSeveral;
    if (read_before &&
        (several ? !ordered_after_all(cell.read_clock, thread)
                 : !ordered(cell.reader, cell.reader_warp, cell.read_clock, thread))) {
      return fmt::format("writes byte {} of shared memory, which {} read with no barrier between",
                         i,
                         cell.reader >= kSeveral ? std::string("other threads")
                                                 : fmt::format("thread {}", cell.reader));
    }
    cell.writer = static_cast<uint16_t>(thread);
    cell.write_clock = clock_;
    cell.reader = kNobody;
  }
  return std::nullopt;
}

std::optional<std::string> SharedShadow::begin_copy(size_t begin, size_t count, int thread) {
  if (auto wrong = note(begin, count, thread, true)) {
    return wrong;
  }
  for (size_t i = begin; i < begin + count; ++i) {
    cells_[i].writer = kOnItsWay;
  }
  return std::nullopt;
}

void SharedShadow::end_copy(size_t begin, size_t count, int thread) {
  for (size_t i = begin; i < begin + count; ++i) {
    cells_[i] = {.write_clock = clock_,
                 .read_clock = 0,
                 .writer = static_cast<uint16_t>(thread),
                 .reader = kNobody,
                 .reader_warp = 0};
  }
}

}  // namespace mynah::simt::detail
