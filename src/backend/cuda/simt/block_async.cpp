// What goes on by itself while a block's threads do: copies to its memory, and products of
// warpgroups; and the mbarriers that tell of it.
#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>

#include <fmt/format.h>

#include "backend/cuda/simt/block.h"
#include "base/check.h"

namespace mynah::simt::detail {

void SimThread::begin_copy(uintptr_t to, const void* value, size_t bytes) {
  Copy copy{.to = to, .bytes = bytes, .group = copy_group_, .value = {}};
  MYNAH_CHECK(bytes <= kCopyBytes, "a copy wider than the widest");
  std::memcpy(copy.value, value, bytes);
  block_->begin_copy(*this, to, bytes, bytes);
  copies_.push_back(copy);
  if (log_ != nullptr) {
    note(to, bytes, true);
  }
}

void SimThread::commit_copies() {
  ++copy_group_;
}

void SimThread::wait_for_copies(int left) {
  std::erase_if(copies_, [this, left](const Copy& copy) {
    if (copy.group >= copy_group_ - left) {
      return false;
    }
    block_->end_copy(*this, copy.to, copy.bytes);
    std::memcpy(reinterpret_cast<void*>(copy.to), copy.value, copy.bytes);
    return true;
  });
}

void SimThread::init_mbarrier(uintptr_t mbarrier, int count) {
  block_->init_mbarrier(*this, mbarrier, count);
}

void SimThread::arrive(uintptr_t mbarrier, int64_t bytes) {
  block_->arrive(*this, mbarrier, bytes);
}

void SimThread::wait_for_phase(uintptr_t mbarrier, int parity, int line) {
  block_->wait_for_phase(*this, mbarrier, parity, line);
}

void SimThread::begin_bulk_copy(uintptr_t to, const std::byte* from, size_t bytes,
                                uintptr_t mbarrier) {
  block_->begin_bulk_copy(*this, to, from, bytes, mbarrier);
}

void SimThread::begin_product(const WarpgroupProduct& product) {
  if (!may_multiply_) {
    throw Fault("multiplies without begin_products() since it last waited");
  }
  Product begun{.what = product, .sums = {}};
  const bool first = std::ranges::none_of(
      products_, [&product](const Product& other) { return other.what.sums == product.sums; });
  if (first) {
    const size_t count = static_cast<size_t>(product.panels) * 4;
    begun.sums.resize(count);
    std::memcpy(begun.sums.data(), product.sums, count * sizeof(uint32_t));
    // What reads them too early gets no number.
    const std::vector<uint32_t> none(
        count, std::bit_cast<uint32_t>(std::numeric_limits<float>::signaling_NaN()));
    std::memcpy(product.sums, none.data(), count * sizeof(uint32_t));
  }
  products_.push_back(std::move(begun));
}

void SimThread::wait_for_products(int line) {
  for (const Product& product : products_) {
    if (!product.sums.empty()) {
      std::memcpy(product.what.sums, product.sums.data(), product.sums.size() * sizeof(uint32_t));
    }
  }
  // The warp's rows of A, and all of B, are read: a piece of 16 bytes after the other by each lane.
  constexpr int kPieceBytes = 16;
  constexpr int kPanelPieces = 2 * 8;  // of a product's depth
  const auto look = [this](uintptr_t panel, int piece) {
    if (looks_at_shared_) {
      check_shared(panel + static_cast<uintptr_t>(piece) * kPieceBytes, kPieceBytes, kPieceBytes,
                   false);
    }
  };
  for (const Product& product : products_) {
    const WarpgroupProduct& what = product.what;
    const auto panel_bytes = static_cast<uintptr_t>(what.panel_bytes);
    const int warp_of_group = index_ / kLanes % kWarpsOfGroup;
    const int lane = index_ % kLanes;
    look(what.a + static_cast<uintptr_t>(2 * warp_of_group + lane / kPanelPieces) * panel_bytes,
         lane % kPanelPieces);
    for (int i = lane; i < what.panels * kPanelPieces; i += kLanes) {
      look(what.b + static_cast<uintptr_t>(i / kPanelPieces) * panel_bytes, i % kPanelPieces);
    }
    WarpgroupProduct of_warp = what;
    of_warp.a += static_cast<uintptr_t>(2 * warp_of_group) * panel_bytes;
    exchange(&of_warp, sizeof(of_warp), line, what.unit);
  }
  products_.clear();
  may_multiply_ = false;
  // The warp is through with what it read.
  exchange(nullptr, 0, line);
}

void Block::begin_copy(const SimThread& thread, uintptr_t to, size_t bytes, size_t alignment) {
  const size_t offset = offset_of(to, bytes, alignment, "copies");
  if (!simulator_.options().check_shared) {
    return;
  }
  if (auto wrong = shadow_.begin_copy(offset, bytes, thread.index())) {
    throw Fault(*std::move(wrong));
  }
}

void Block::end_copy(const SimThread& thread, uintptr_t to, size_t bytes) {
  if (simulator_.options().check_shared) {
    shadow_.end_copy(to - reinterpret_cast<uintptr_t>(memory_.data()), bytes, thread.index());
  }
}

void Block::check_mbarrier(const SimThread& thread, uintptr_t mbarrier) {
  if (!mbarriers_.exists(mbarrier)) {
    throw Fault("uses an mbarrier that nobody made");
  }
  // Whoever made it did so before a barrier.
  if (simulator_.options().check_shared) {
    check_shared(thread, mbarrier, sizeof(uint64_t), sizeof(uint64_t), false);
  }
}

void Block::init_mbarrier(const SimThread& thread, uintptr_t mbarrier, int count) {
  if (simulator_.options().check_shared) {
    check_shared(thread, mbarrier, sizeof(uint64_t), sizeof(uint64_t), true);
  }
  mbarriers_.init(mbarrier, count);
}

void Block::arrive(const SimThread& thread, uintptr_t mbarrier, int64_t bytes) {
  check_mbarrier(thread, mbarrier);
  if (simulator_.options().check_shared) {
    shadow_.release(thread.index(), mbarriers_.pending_knowledge(mbarrier));
  }
  if (!mbarriers_.arrive(mbarrier, bytes)) {
    throw Fault("arrives at an mbarrier at which all have arrived");
  }
  release_mbarrier(mbarrier);
}

void Block::wait_for_phase(const SimThread& thread, uintptr_t mbarrier, int parity, int line) {
  check_mbarrier(thread, mbarrier);
  if (!mbarriers_.is_over(mbarrier, parity)) {
    Lane& lane = *lanes_[static_cast<size_t>(thread.index())];
    lane.state = State::AtMbarrier;
    lane.line = line;
    lane.mbarrier = mbarrier;
    lane.parity = parity;
    yield(lane);
  }
  if (simulator_.options().check_shared) {
    shadow_.acquire(thread.index(), mbarriers_.knowledge(mbarrier));
  }
}

void Block::release_mbarrier(uintptr_t mbarrier) {
  for (int i = 0; i < threads(); ++i) {
    Lane& lane = *lanes_[static_cast<size_t>(i)];
    if (lane.state == State::AtMbarrier && lane.mbarrier == mbarrier &&
        mbarriers_.is_over(mbarrier, lane.parity)) {
      lane.state = State::Ready;
    }
  }
}

void Block::begin_bulk_copy(const SimThread& thread, uintptr_t to, const std::byte* from,
                            size_t bytes, uintptr_t mbarrier) {
  constexpr size_t kUnit = 16;
  check_mbarrier(thread, mbarrier);
  if (bytes == 0 || bytes % kUnit != 0) {
    throw Fault(fmt::format("copies {} bytes at once, which is no multiple of {}", bytes, kUnit));
  }
  begin_copy(thread, to, bytes, kUnit);
  bulk_copies_.push_back({.to = to,
                          .mbarrier = mbarrier,
                          .thread = thread.index(),
                          .value = std::vector<std::byte>(from, from + bytes)});
}

bool Block::end_bulk_copy() {
  if (bulk_copies_.empty()) {
    return false;
  }
  const size_t which = simulator_.options().seed == 0 ? 0 : random_() % bulk_copies_.size();
  const BulkCopy copy = std::move(bulk_copies_[which]);
  bulk_copies_.erase(bulk_copies_.begin() + static_cast<ptrdiff_t>(which));
  std::memcpy(reinterpret_cast<void*>(copy.to), copy.value.data(), copy.value.size());
  if (simulator_.options().check_shared) {
    shadow_.end_copy(copy.to - reinterpret_cast<uintptr_t>(memory_.data()), copy.value.size(),
                     copy.thread, mbarriers_.pending_knowledge(copy.mbarrier));
  }
  mbarriers_.copied(copy.mbarrier, static_cast<int64_t>(copy.value.size()));
  release_mbarrier(copy.mbarrier);
  return true;
}

}  // namespace mynah::simt::detail
