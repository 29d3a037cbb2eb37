// few_rows.h with activations rounded to int8, each block by itself: the rows are few and short,
// and it saves a launch.
#pragma once

#include "backend/cuda/kernels/few_rows.h"
#include "backend/cuda/kernels/quantize.h"

namespace mynah::simt {

// I8's sums stay whole.
template <Storage kStorage>
struct SumOf {
  using Type = float;
};

template <>
struct SumOf<Storage::I8> {
  using Type = int;
};

// A row's scale and its inverse, of which `scales` has kFewRows each: a warp a row.
inline void find_scales(const Global<const float>& rows, int64_t stride, int64_t in, int count,
                        const Shared<float>& scales) {
  for (int r = warp(); r < count; r += warp_count()) {
    int bits = 0;
    for (int64_t k = lane(); k < in; k += kWarp) {
      const int of_value = magnitude_bits(rows[r * stride + k]);
      bits = of_value > bits ? of_value : bits;
    }
    const float peak = float_of(static_cast<uint32_t>(warp_max_bits(bits)));
    if (lane() == 0) {
      scales[r] = peak / 127.0F;
      scales[kFewRows + r] = inverse_scale(peak);
    }
  }
}

// The products of one chunk of weights and one of a row's.
template <Storage kStorage>
inline typename SumOf<kStorage>::Type coded_product(const HalfChunk<kStorage> (&stored)[2],
                                                    const Shared<int>& codes) {
  using Row = WeightRow<kStorage>;
  constexpr ChunkLayout kLayout = layout_of(kStorage);
  constexpr int kOnes = 0x01010101;
  int dots[2] = {0, 0};
  int code_sums[2] = {0, 0};
  MYNAH_UNROLLED for (int half = 0; half < 2; ++half) {
    const Vector<int, 4> words = codes.load<4>(half * kHalfWords);
    MYNAH_UNROLLED for (int i = 0; i < kHalfWords; ++i) {
      dots[half] = dot4(words[i], Row::codes(stored[half], half, i), dots[half]);
      if constexpr (kLayout.minima) {
        code_sums[half] = dot4(words[i], kOnes, code_sums[half]);
      }
    }
  }
  const auto first_sum = static_cast<float>(code_sums[0]);
  const auto second_sum = static_cast<float>(code_sums[1]);
  if constexpr (kStorage == Storage::I8) {
    return dots[0] + dots[1];
  } else if constexpr (kLayout.halves) {
    const float value = add_scaled<kStorage>(static_cast<float>(dots[0]), Row::scale(stored[0], 0),
                                             Row::minimum(stored[0], 0), first_sum, 0.0F);
    return add_scaled<kStorage>(static_cast<float>(dots[1]), Row::scale(stored[1], 1),
                                Row::minimum(stored[1], 1), second_sum, value);
  } else {
    return add_scaled<kStorage>(static_cast<float>(dots[0] + dots[1]), Row::scale(stored[0], 0),
                                Row::minimum(stored[0], 0), first_sum + second_sum, 0.0F);
  }
}

// Four codes of a row, from element k on; zeros after its last.
inline int coded_word(const Global<const float>& row, int k, int in, bool aligned, float inverse) {
  Vector<float, 4> values{};
  if (aligned && k + 4 <= in) {
    values = row.load<4>(k);
  } else {
    for (int i = 0; i < 4; ++i) {
      if (k + i < in) {
        values[i] = row[k + i];
      }
    }
  }
  uint32_t word = 0;
  for (int i = 0; i < 4; ++i) {
    word |= (static_cast<uint32_t>(code_of(values[i], inverse)) & 255U) << (i * 8);
  }
  return static_cast<int>(word);
}

// The rows' chunks from `first` on, as codes.
inline void code_rows(const LinearArgs& args, const FewRowsBlock& block,
                      const Global<const float>& rows, const Shared<float>& scales, int first,
                      const Shared<int>& codes) {
  constexpr int kWords = FewRowsMemory::kCodeWords;
  const int words = block.memory.chunks * kWords;  // of a row
  const int row_words = static_cast<int>(args.weights.chunks) * kWords;
  const Global<const int> coded(reinterpret_cast<const int*>(args.coded.codes));
  MYNAH_ROLLED for (int i = thread_index(); i < block.memory.rows * words; i += thread_count()) {
    const int r = i / words;
    const int at = first * kWords + i - r * words;
    int word = 0;
    if (coded.empty()) {
      word = coded_word(rows.from(r * args.x.stride), at * 4, static_cast<int>(args.in),
                        args.aligned, scales[kFewRows + r]);
    } else if (at < row_words) {
      word = coded[(block.first_row + r) * row_words + at];
    }
    codes[i] = word;
  }
}

template <Storage kStorage>
inline void few_rows_int8(const LinearArgs& args) {
  using Sum = typename SumOf<kStorage>::Type;
  MYNAH_DYNAMIC_SHARED(int, codes);
  MYNAH_DYNAMIC_SHARED(float, floats);
  MYNAH_DYNAMIC_SHARED(Sum, all_sums);
  const FewRowsBlock block = few_rows_block(args);
  const FewRowsMemory& memory = block.memory;
  constexpr int kWords = FewRowsMemory::kCodeWords;
  const int places = memory.rows * memory.chunks;
  const Shared<Sum> sums = all_sums.from(places * kWords);
  const Shared<float> scales = floats.from(places * kWords + memory.sums());
  const Global<const float> rows(args.x.data + block.first_row * args.x.stride);
  const WeightRow<kStorage> weights(args.weights, block.first_column + block.column);
  const Global<const float> coded_scales(args.coded.scales);
  if (coded_scales.empty()) {
    find_scales(rows, args.x.stride, args.in, memory.rows, scales);
  } else if (thread_index() < memory.rows) {
    scales[thread_index()] = coded_scales[block.first_row + thread_index()];
  }
  barrier();
  Sum sum = 0;
  const int chunks = static_cast<int>(args.weights.chunks);
  MYNAH_ROLLED for (int first = 0; first < chunks; first += memory.chunks) {
    const int chunk = first + block.chunk;
    const bool inside = chunk < chunks;
    HalfChunk<kStorage> stored[2] = {};
    if (inside) {
      stored[0] = weights.load(chunk, 0);
      stored[1] = weights.load(chunk, 1);
    }
    code_rows(args, block, rows, scales, first, codes);
    barrier();
    if (inside) {
      MYNAH_ROLLED for (int r = 0; r < memory.rows; ++r) {
        const int place = (r * memory.chunks + block.chunk) * kWords;
        sums[block.sum_place(r)] = coded_product<kStorage>(stored, codes.from(place));
      }
    }
    barrier();
    add_sums(block, sums, chunks - first, sum);
  }
  finish_few_rows(args, block, [&](int row) { return scales[row] * static_cast<float>(sum); });
}

}  // namespace mynah::simt
