// What attention's kernels have in common, above all the order of their sums: a query's result has
// the same bits whichever kernel computes it, beside whichever other queries.
//
// Keys go in tiles of 32, tiles in segments of 128. A tile's scores are dot products from column 0
// on, in units of log2; its peak is the largest of them rounded up to a whole number; its weights
// are 2^(score - peak), its mass their sum by halves, its mix the sum of weight times value from
// the first key on. A segment is its tiles folded one after the other, the result its segments
// folded likewise. As peaks are whole numbers, what is folded is scaled by powers of two: exactly.
#pragma once

#include "backend/cuda/kernels/attention_args.h"
#include "backend/cuda/kernels/math.h"
#include "backend/cuda/simt/simt.h"

namespace mynah::simt {

inline namespace MYNAH_OF_LEVEL {

inline constexpr int kTileKeys = kWarp;
inline constexpr int kSegmentTiles = kSegmentKeys / kTileKeys;
inline constexpr float kLog2E = 1.44269504F;

// Peak and mass of some keys; a peak of -infinity: of none.
struct Mass {
  float peak = -kInfinity;
  float sum = 0.0F;
};

// 2^n of a whole number n of at most 0; 0 where that is no normal number.
inline float power_of_two(float n) {
  constexpr float kLowest = -127.0F;
  const float limited = maximum(n, kLowest);  // also where n is none
  return float_of(static_cast<uint32_t>(static_cast<int>(limited) + 127) << 23);
}

// What two mixes are multiplied with before they are added.
struct Factors {
  float total = 1.0F;
  float part = 0.0F;
};

// Adds a part's mass. For `part` of some keys; parts of none are left out.
inline Factors fold(Mass& total, const Mass& part) {
  const float peak = maximum(total.peak, part.peak);
  const Factors factors{power_of_two(total.peak - peak), power_of_two(part.peak - peak)};
  total.peak = peak;
  total.sum = multiply_add(part.sum, factors.part, total.sum * factors.total);
  return factors;
}

inline float fold(float total, float part, const Factors& factors) {
  return multiply_add(part, factors.part, total * factors.total);
}

// What a sink adds to the sum of the weights beside this peak.
MYNAH_INLINE float sink_weight(const AttentionArgs& args, int64_t head, float peak) {
  float weight = 0.0F;
  if (args.sinks != nullptr) {
    const float sink = Global<const float>(args.sinks)[head];
    weight = exp2_fast(sink * kLog2E - peak);
  }
  return weight;
}

// A mix of a head to a result: zeros where no key was seen.
MYNAH_INLINE float normalised(const AttentionArgs& args, int64_t head, float mix,
                              const Mass& mass) {
  return mass.peak == -kInfinity ? 0.0F : mix / (mass.sum + sink_weight(args, head, mass.peak));
}

// A score, in units of log2, after the cap.
MYNAH_INLINE float capped(const AttentionArgs& args, float score) {
  return args.score_cap > 0.0F ? args.score_cap * tanh(score / args.score_cap) : score;
}

// A head of a query: its row of q, the head, and the keys that it sees.
struct Line {
  int64_t row;
  int head;  // of q
  int seen;
};

// Line `number` of the tile, which must have it.
inline Line line_of(const AttentionArgs& args, const AttentionTile& tile,
                    const Global<const int32_t>& rows, int number) {
  const int query = (tile.skip + number) / args.group;
  const int head = block_index_y() * args.group + (tile.skip + number) % args.group;
  const int most = tile.own + tile.tail;
  int seen = tile.seen + query * args.causal;
  seen = seen < 0 ? 0 : seen > most ? most : seen;
  return {rows[tile.first_row + query], head, seen};
}

// Where the rows of a tile's own keys lie: one after the other, or page by page.
struct OwnRows {
  Global<const int32_t> pages{nullptr};  // none: one after the other
  int bits = 0;                          // a page has 2^bits rows

  [[nodiscard]] int at(int n) const {
    int row = n;
    if (!pages.empty()) {
      const int page = pages[n >> bits];
      row = (page << bits) + (n & ((1 << bits) - 1));
    }
    return row;
  }
};

// Of a tile whose rows may be apart.
inline OwnRows own_rows(const AttentionArgs& args, const AttentionTile& tile) {
  return {Global<const int32_t>(tile.first_page < 0 ? nullptr : args.pages + tile.first_page),
          args.page_bits};
}

// Keys or values that a tile's lines see, one after the other: the utterance's own, then the
// tail's. Rows can be read 16 bytes at a time.
template <class T>
struct KeyRows {
  using Element = T;
  static constexpr int kChunk = 16 / static_cast<int>(sizeof(T));

  Global<const T> own;
  Global<const T> tail;
  int stride;
  int own_rows;
  int rows;
  int width;  // a multiple of kChunk
  OwnRows apart;

  // kChunk columns of row n from `column` on; zeros where there is nothing.
  [[nodiscard]] Vector<T, kChunk> chunk(int n, int column) const {
    Vector<T, kChunk> values{};
    if (n < rows && column < width) {
      const bool is_own = n < own_rows;
      const Global<const T>& from = is_own ? own : tail;
      const int row = is_own ? apart.at(n) : n - own_rows;
      values = from.template load<kChunk>(static_cast<int64_t>(row) * stride + column);
    }
    return values;
  }

  // The same to the block's memory, on its way until it is waited for.
  void copy(int n, int column, const Shared<T>& to) const {
    const bool inside = n < rows && column < width;
    const bool is_tail = inside && n >= own_rows;
    const int row = is_tail ? n - own_rows : inside ? apart.at(n) : 0;
    const Global<const T>& from = is_tail ? tail : own;
    copy_16_async(to, from.from(static_cast<int64_t>(row) * stride + (inside ? column : 0)),
                  inside);
  }
};

// Blocks of Q8_0 (ggml-common.h block_q8_0), as a type of keys: a scale in half precision, then a
// code for each of its columns.
struct Q8 {
  static constexpr int kColumns = 32;
  static constexpr int kWords = 1 + kColumns / 2;  // of two bytes, as they are aligned
};

// The same of such blocks, in which there is no tail; read as the numbers that they are.
template <>
struct KeyRows<Q8> {
  using Element = float;
  static constexpr int kChunk = 4;

  Global<const uint16_t> own;
  int blocks;  // from a row to the next
  int rows;
  int width;
  OwnRows apart;

  [[nodiscard]] Vector<float, kChunk> chunk(int n, int column) const {
    Vector<float, kChunk> values{};
    if (n < rows && column < width) {
      const int64_t block =
          (static_cast<int64_t>(apart.at(n)) * blocks + column / Q8::kColumns) * Q8::kWords;
      const uint16_t scale_bits = own[block];
      const float scale = to_float(F16{scale_bits});
      const int64_t first = block + 1 + column % Q8::kColumns / 2;
      MYNAH_UNROLLED
      for (int i = 0; i < kChunk; i += 2) {
        const uint16_t two = own[first + i / 2];
        values[i] = scale * static_cast<float>(static_cast<int8_t>(two & 0xFFU));
        values[i + 1] = scale * static_cast<float>(static_cast<int8_t>(two >> 8U));
      }
    }
    return values;
  }

  void copy(int n, int column, const Shared<float>& to) const {
    to.store<kChunk>(0, chunk(n, column));
  }
};

// Of the block's head: `own` and `tail` are the first rows of head 0.
template <class T>
inline KeyRows<T> key_rows(const AttentionArgs& args, const AttentionTile& tile, const void* own,
                           const void* tail, int32_t stride, const OwnRows& apart = {}) {
  const int64_t head = block_index_y();
  if constexpr (__is_same(T, Q8)) {
    return {Global<const uint16_t>(static_cast<const uint16_t*>(own) +
                                   head * tile.head_stride / Q8::kColumns * Q8::kWords),
            stride / Q8::kColumns, tile.own, args.width, apart};
  } else {
    const T* const tail_rows = tile.tail == 0
                                   ? nullptr
                                   : static_cast<const T*>(tail) + head * args.tail_head_stride +
                                         static_cast<int64_t>(tile.tail_first) * stride;
    return {Global<const T>(static_cast<const T*>(own) + head * tile.head_stride),
            Global<const T>(tail_rows),
            stride,
            tile.own,
            tile.own + tile.tail,
            args.width,
            apart};
  }
}

// The queries of a block's lines, scaled, in shared memory: `lines` rows of `columns`, `pitch`
// apart; zeros where there is none.
inline void stage_queries(const AttentionArgs& args, const AttentionTile& tile,
                          const Global<const int32_t>& rows, int lines, int columns, int pitch,
                          const Shared<float>& to) {
  const Global<const float> q(args.q);
  for (int i = thread_index(); i < lines * columns; i += thread_count()) {
    const int number = i / columns;
    const int column = i % columns;
    float value = 0.0F;
    if (number < tile.lines && column < args.head_dim) {
      const Line line = line_of(args, tile, rows, number);
      value = q[line.row * args.q_stride + line.head * args.head_dim + column] * args.scale;
    }
    to[number * pitch + column] = value;
  }
}

// Where a tile's partial of a segment and line stands, of tiles of `lines` lines.
MYNAH_INLINE int64_t partial_at(const AttentionArgs& args, int tile, int segment, int line,
                                int lines) {
  const int64_t head = static_cast<int64_t>(tile) * args.kv_heads + block_index_y();
  return (head * args.segments + segment) * lines + line;
}

}  // namespace MYNAH_OF_LEVEL

}  // namespace mynah::simt
