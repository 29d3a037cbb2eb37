#include "backend/cuda/step_memory.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/check.h"

namespace mynah::cuda {

namespace {

// Of inputs, and of the result after the fault's number: what kernels read at a time at most.
constexpr size_t kAlignment = 16;

constexpr size_t kLeastPacked = 16 << 10;  // a step of a large model with one sequence

size_t aligned(size_t bytes) {
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

}  // namespace

// Memory of a tensor, then of another.
class StepMemory::Block final : public Buffer {
 public:
  explicit Block(BufferRef memory)
      : Buffer(memory.get()->data(), memory.get()->size()), memory_(std::move(memory)) {}

  [[nodiscard]] bool taken() const { return taken_; }

  BufferRef take() {
    taken_ = true;
    return BufferRef(this);
  }

 private:
  void release() override { taken_ = false; }

  BufferRef memory_;
  bool taken_ = false;
};

// A part of memory that somebody else holds.
class StepMemory::View final : public Buffer {
 public:
  View() : Buffer(nullptr, 0) {}

  [[nodiscard]] bool taken() const { return taken_; }

  BufferRef take(std::byte* data, size_t bytes) {
    data_ = data;
    size_ = bytes;
    taken_ = true;
    return BufferRef(this);
  }

 private:
  void release() override { taken_ = false; }

  bool taken_ = false;
};

StepMemory::StepMemory(DevicePool& pool) : pool_(pool) {}

StepMemory::~StepMemory() = default;

bool StepMemory::in_use() const {
  return std::ranges::any_of(blocks_, [](const auto& block) { return block->taken(); }) ||
         std::ranges::any_of(views_, [](const auto& view) { return view->taken(); });
}

void StepMemory::begin(Processor& processor, size_t result_bytes) {
  views_taken_ = 0;
  if (packed_.size() != 1) {
    size_t bytes = kLeastPacked;
    for (const Packed& packed : packed_) {
      bytes += packed.device.get()->size();
    }
    packed_.clear();
    add_packed(std::bit_ceil(bytes));
  }
  packed_.front().host.clear();
  const size_t wanted = kAlignment + result_bytes;
  if (result_.get() == nullptr || result_.get()->size() < wanted) {
    result_ = pool_.allocate(wanted);
    constexpr uint64_t kNoFault = 0;
    processor.upload(&kNoFault, result_.get()->data(), sizeof(kNoFault));
  }
}

void StepMemory::add_packed(size_t bytes) {
  packed_.push_back({.device = pool_.allocate(bytes), .host = {}});
  packed_.back().host.reserve(bytes);
}

BufferRef StepMemory::allocate(size_t bytes) {
  // The first that is free, and not much too large: the same one whenever the same was asked for
  // before it.
  constexpr size_t kSpare = 4;
  const auto fits = [&](const auto& block) {
    return !block->taken() && block->size() >= bytes && block->size() <= 2 * bytes + kSpare * 256;
  };
  const auto found = std::ranges::find_if(blocks_, fits);
  if (found != blocks_.end()) {
    return (*found)->take();
  }
  return blocks_.emplace_back(std::make_unique<Block>(pool_.allocate(bytes)))->take();
}

BufferRef StepMemory::view(std::byte* data, size_t bytes) {
  if (views_taken_ == views_.size()) {
    views_.push_back(std::make_unique<View>());
  }
  return views_[views_taken_++]->take(data, bytes);
}

BufferRef StepMemory::input(std::span<const std::byte> values) {
  const size_t bytes = aligned(std::max<size_t>(1, values.size()));
  if (packed_.back().host.size() + bytes > packed_.back().device.get()->size()) {
    add_packed(std::max(bytes, 2 * packed_.back().device.get()->size()));
  }
  Packed& packed = packed_.back();
  const size_t at = packed.host.size();
  packed.host.resize(at + bytes);
  std::ranges::copy(values, packed.host.begin() + static_cast<ptrdiff_t>(at));
  return view(packed.device.get()->data() + at, bytes);
}

BufferRef StepMemory::result() {
  return view(result_.get()->data() + kAlignment, result_.get()->size() - kAlignment);
}

uint64_t* StepMemory::row_fault() const {
  return reinterpret_cast<uint64_t*>(result_.get()->data());
}

void StepMemory::upload(Processor& processor) {
  for (const Packed& packed : packed_) {
    if (!packed.host.empty()) {
      processor.upload(packed.host.data(), packed.device.get()->data(), packed.host.size());
    }
  }
}

uint64_t StepMemory::download(Processor& processor, std::span<std::byte> result) {
  downloaded_.resize(kAlignment + result.size());
  processor.download(result_.get()->data(), downloaded_.data(), downloaded_.size());
  uint64_t fault = 0;
  std::memcpy(&fault, downloaded_.data(), sizeof(fault));
  std::ranges::copy(std::span(downloaded_).subspan(kAlignment), result.begin());
  return fault;
}

}  // namespace mynah::cuda
