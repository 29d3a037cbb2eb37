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
  std::span<const int32_t> pages = {};  // of the utterance's own; none: rows follow each other
  int64_t page_rows = 0;
  size_t key_bytes = 0;  // from a row of keys to the next, where there are no pages
  size_t value_bytes = 0;
};

// Tiles of the four kinds of kernels. The first three give a query the same bits; the fourth rounds
// what it multiplies, so a query must not come to it by what else there is: runs of more than
// kFewQueries queries and kMostFew lines do, an encoder's or a prompt's, each by its own length.
// The tokens of a text that are guessed and checked at once are fewer.
class AttentionPlan {
 public:
  // For one line, up to kFewLines, up to kTiledLines, on matrix units.
  enum Kind : uint8_t { One, Few, Tiled, Units };

  static constexpr std::array<Kind, 4> kKinds = {One, Few, Tiled, Units};

  // Whether a run of so many queries is for the last two kinds, which read keys that lie one after
  // the other.
  static bool is_long(int64_t queries, int64_t group) {
    return queries > kFewQueries && queries * group > kMostFew;
  }

  // `group` heads of q share a head of keys. `units_lines`: that a tile of matrix units has; 0
  // where they are not to be used. `alone`: each line is a tile, of heads so wide that a block has
  // no room for more.
  AttentionPlan(int64_t group, bool causal, int64_t units_lines, int64_t window = simt::kNoWindow,
                bool alone = false)
      : group_(group), causal_(causal), units_lines_(units_lines), window_(window), alone_(alone) {}

  // The queries of these rows of q see these keys; a span is a run. Where attention is causal,
  // there is one.
  void add(const SeenKeys& keys, std::span<const Span> rows);

  [[nodiscard]] int64_t group() const { return group_; }

  [[nodiscard]] bool causal() const { return causal_; }

  // As AttentionArgs has it.
  [[nodiscard]] int64_t window() const { return window_; }

  [[nodiscard]] int64_t tiles(Kind kind) const { return static_cast<int64_t>(tiles_[kind].size()); }

  // Segments of keys that the longest tile has; at least 1.
  [[nodiscard]] int64_t segments(Kind kind) const;

  // Whether any of the keys are in pages.
  [[nodiscard]] bool has_pages() const { return !pages_.empty(); }

  // All that kernels read, in one piece, and where in it the tiles, the rows and the pages begin.
  [[nodiscard]] std::vector<std::byte> bytes() const;
  [[nodiscard]] size_t tiles_offset(Kind kind) const;
  [[nodiscard]] size_t rows_offset() const;
  [[nodiscard]] size_t pages_offset() const;

 private:
  // Up to two blocks that read the same keys are quicker than one that computes with twice as many
  // lines as there are.
  static constexpr int64_t kMostFew = 2 * simt::kFewLines;
  static constexpr int64_t kFewQueries = 7;

  // Tiles of one kind of these rows, side by side.
  void add_rows(const SeenKeys& keys, std::span<const Span> rows, bool on_units);

  int64_t group_;
  bool causal_;
  int64_t units_lines_;
  int64_t window_;
  bool alone_;
  std::array<std::vector<simt::AttentionTile>, kKinds.size()> tiles_;
  std::vector<int32_t> rows_;
  std::vector<int32_t> pages_;
};

}  // namespace mynah::cuda
