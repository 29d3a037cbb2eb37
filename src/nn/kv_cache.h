// KvCache: keys and values of a decoder's past, one slot a sequence.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ops/ops.h"

namespace mynah {

// A state, not a layer: who decodes owns one. Each layer has one tensor of keys and one of values,
// (slots * room, width); slot s owns rows [s * room, (s + 1) * room). The room grows with what is
// written, so that short texts in many slots take little memory.
class KvCache {
 public:
  struct Sizes {
    int64_t layers = 0;
    int64_t slots = 0;
    int64_t capacity = 0;  // positions a slot at most
    int64_t width = 0;
  };

  KvCache(Backend& backend, const Sizes& sizes, DType dtype);

  [[nodiscard]] const Sizes& sizes() const { return sizes_; }

  // Makes room for `length` positions in every slot; at most the capacity. Spans change.
  void make_room(int64_t length);

  [[nodiscard]] const Tensor& keys(int64_t layer) const {
    return keys_[static_cast<size_t>(layer)];
  }

  [[nodiscard]] const Tensor& values(int64_t layer) const {
    return values_[static_cast<size_t>(layer)];
  }

  // Positions filled in a slot.
  [[nodiscard]] int64_t length(int64_t slot) const { return lengths_[static_cast<size_t>(slot)]; }

  void set_length(int64_t slot, int64_t length) { lengths_[static_cast<size_t>(slot)] = length; }

  // The rows that a slot has filled, `more` of them included that are about to be.
  [[nodiscard]] Span span(int64_t slot, int64_t more = 0) const {
    return {slot * room_, length(slot) + more};
  }

  // Writes k and v (n, width) to rows (n) i32 of one layer.
  void write(int64_t layer, const Tensor& k, const Tensor& v, const Tensor& rows) const;

  // Slot i takes what slot sources[i] held before the call, for every i below sources.size(): what
  // beam search does to its hypotheses.
  void rearrange(std::span<const int64_t> sources);

 private:
  void copy_slots(const Tensor& cache, std::span<const int64_t> sources) const;
  [[nodiscard]] Tensor moved(const Tensor& cache, int64_t room) const;

  Backend* backend_;
  Sizes sizes_;
  DType dtype_;
  int64_t room_ = 0;  // positions a slot has now
  std::vector<Tensor> keys_;
  std::vector<Tensor> values_;
  std::vector<int64_t> lengths_;
};

}  // namespace mynah
