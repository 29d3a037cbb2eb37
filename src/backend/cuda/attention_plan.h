// AttentionPlan: how an attention's queries are shared out to blocks.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "backend/cuda/kernels/attention_args.h"
#include "tensor/lengths.h"

namespace mynah::cuda {

// Keys and values that some queries see, and where they lie.
struct SeenKeys {
  const std::byte* keys = nullptr;  // the utterance's own, row 0 of head 0
  const std::byte* values = nullptr;
  int64_t head_stride = 0;  // elements
  int64_t own = 0;          // rows
  int64_t tail_first = 0;   // rows of the tail that are seen too
  int64_t tail = 0;
  int64_t seen = 0;  // by the first query: all, where attention is not causal; may be negative
};

// Tiles of the three kinds of kernels, which give a query the same bits.
class AttentionPlan {
 public:
  enum Kind : uint8_t { One, Few, Tiled };  // for one line, up to kFewLines, up to kTiledLines

  static constexpr std::array<Kind, 3> kKinds = {One, Few, Tiled};

  // `group` heads of q share a head of keys.
  AttentionPlan(int64_t group, bool causal) : group_(group), causal_(causal) {}

  // The queries of these rows of q see these keys.
  void add(const SeenKeys& keys, std::span<const Span> rows);

  [[nodiscard]] int64_t group() const { return group_; }

  [[nodiscard]] bool causal() const { return causal_; }

  [[nodiscard]] int64_t tiles(Kind kind) const { return static_cast<int64_t>(tiles_[kind].size()); }

  // Segments of keys that the longest tile has; at least 1.
  [[nodiscard]] int64_t segments(Kind kind) const;

  // All that kernels read, in one piece, and where in it the tiles and the rows begin.
  [[nodiscard]] std::vector<std::byte> bytes() const;
  [[nodiscard]] size_t tiles_offset(Kind kind) const;
  [[nodiscard]] size_t rows_offset() const;

 private:
  int64_t group_;
  bool causal_;
  std::array<std::vector<simt::AttentionTile>, kKinds.size()> tiles_;
  std::vector<int32_t> rows_;
};

}  // namespace mynah::cuda
