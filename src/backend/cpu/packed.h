// The layout of packed weights: panels of 32 output channels, so that a product reads memory in
// order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "backend/cpu/kernels.h"
#include "tensor/op_params.h"

namespace mynah::cpu {

// Views the bytes of a LinearWeight. With K = in_features, and panels of 32 of the out_features
// (the last filled up with zeros):
//   f32   (panel, K, 32)           f16   (panel, K, 32)
//   bf16  (panel, ceil(K/2), 32, 2)
//   int8  (panel, ceil(K/4), 32, 4), then f32 scales (panel, 32), then i32 sums (panel, 32)
//   int16 (panel, ceil(K/2), 32, 2), then f32 scales (panel, runs of K, 32)
//   blocks of ggml: packed_blocks.h
class PackedView {
 public:
  explicit PackedView(const LinearWeight& w) : w_(w) {}

  [[nodiscard]] int64_t panels() const { return (w_.out_features + kPanel - 1) / kPanel; }

  // Steps of K in a panel: K, K/2 or K/4 rounded up; of types without blocks.
  [[nodiscard]] int64_t steps() const;
  [[nodiscard]] size_t panel_bytes() const;
  [[nodiscard]] size_t total_bytes() const;

  [[nodiscard]] const std::byte* panel(int64_t p) const {
    return w_.data.raw() + static_cast<size_t>(p) * panel_bytes();
  }

  [[nodiscard]] std::byte* writable_panel(int64_t p) const {
    return w_.data.raw() + static_cast<size_t>(p) * panel_bytes();
  }

  // Parts of K that have scales of their own: of int16, else one.
  [[nodiscard]] int64_t runs() const;
  // Int8 and int16: of a panel's columns (runs(), 32).
  [[nodiscard]] float* scales(int64_t p) const;
  // Int8 only.
  [[nodiscard]] int32_t* sums(int64_t p) const;
  // Columns of a panel that exist.
  [[nodiscard]] int64_t columns(int64_t p) const;

 private:
  const LinearWeight& w_;
};

// Packs 32 (or fewer) rows of f32, `k` long, into panel p.
void pack_panel(const LinearWeight& w, int64_t p, std::span<const float> rows);

// Rows that widen_panel() writes: in_features, rounded up to whole steps of int8.
[[nodiscard]] inline int64_t widened_rows(const LinearWeight& w) {
  return (w.in_features + 3) / 4 * 4;
}

// Widens panel p of any storage type to f32 (K, 32); `out` has room for widened_rows().
void widen_panel(const Kernels& kernels, const LinearWeight& w, int64_t p, float* out);

}  // namespace mynah::cpu
