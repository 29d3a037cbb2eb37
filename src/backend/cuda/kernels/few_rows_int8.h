// linear for few rows with activations rounded to int8. As in few_rows.h memory's speed is what
// counts, and eight lanes of a warp take the rows of a panel, four chunks at once; but all of a
// block's warps take all of its panels, each other chunks: a lane multiplies a chunk of x, which it
// reads from shared memory once, with a row of each panel. Short rows are rounded by each block
// itself: it saves a launch.
#pragma once

#include "backend/cuda/kernels/few_rows.h"
#include "backend/cuda/kernels/quantize.h"

namespace mynah::simt {

// What is this block's, and this lane's of it.
struct CodedFewBlock {
  int64_t first_row;
  int64_t first_panel;
  FewRowsMemory memory;
  int chunk;  // of this lane, among those that the block takes at once
};

inline CodedFewBlock coded_few_block(const LinearArgs& args) {
  const int64_t first_row = static_cast<int64_t>(block_index_y()) * kFewRows;
  const int64_t rows = args.finish.rows - first_row;
  return {first_row,
          static_cast<int64_t>(block_index_x()) * args.panels,
          {static_cast<int>(rows < kFewRows ? rows : kFewRows), warp_count() * kFewRowsChunks,
           args.panels},
          warp() * kFewRowsChunks + lane() / kPanel};
}

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
    const float peak = peak_of(warp_max_bits(bits));
    if (lane() == 0) {
      scales[r] = peak / 127.0F;
      scales[kFewRows + r] = inverse_scale(peak);
    }
  }
}

// A chunk of a row's codes, with what those of each half sum to where minima want it.
struct CodedHalves {
  Vector<int, 4> words[2];
  int sums[2];
};

template <Storage kStorage>
inline CodedHalves coded_halves(const Shared<int>& codes) {
  constexpr int kOnes = 0x01010101;
  CodedHalves x{};
  MYNAH_UNROLLED for (int half = 0; half < 2; ++half) {
    x.words[half] = codes.load<4>(half * kHalfWords);
    if constexpr (layout_of(kStorage).minima) {
      MYNAH_UNROLLED for (int i = 0; i < kHalfWords; ++i) {
        x.sums[half] = dot4(x.words[half][i], kOnes, x.sums[half]);
      }
    }
  }
  return x;
}

// The products of one chunk of weights and one of a row's codes.
template <Storage kStorage>
inline typename SumOf<kStorage>::Type coded_product(const HalfChunk<kStorage> (&stored)[2],
                                                    const CodedHalves& x) {
  using Row = WeightRow<kStorage>;
  constexpr ChunkLayout kLayout = layout_of(kStorage);
  int dots[2] = {0, 0};
  MYNAH_UNROLLED for (int half = 0; half < 2; ++half) {
    MYNAH_UNROLLED for (int i = 0; i < kHalfWords; ++i) {
      dots[half] = dot4(x.words[half][i], Row::codes(stored[half], half, i), dots[half]);
    }
  }
  const auto first_sum = static_cast<float>(x.sums[0]);
  const auto second_sum = static_cast<float>(x.sums[1]);
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

// Four values of a row, from element k on; zeros after its last.
inline Vector<float, 4> four_of(const Global<const float>& row, int k, int in, bool aligned) {
  if (aligned && k + 4 <= in) {
    return row.load<4>(k);
  }
  Vector<float, 4> values{};
  for (int i = 0; i < 4; ++i) {
    if (k + i < in) {
      values[i] = row[k + i];
    }
  }
  return values;
}

inline int word_of(const Vector<float, 4>& values, float inverse) {
  uint32_t word = 0;
  for (int i = 0; i < 4; ++i) {
    word |= (static_cast<uint32_t>(code_of(values[i], inverse)) & 255U) << (i * 8);
  }
  return static_cast<int>(word);
}

// The rows' chunks from `first` on, as codes, and with kByChunk their scales. A warp's lanes have
// whole chunks, and all come here: words of a row are a multiple of a warp.
template <bool kByChunk>
inline void code_rows(const LinearArgs& args, const CodedFewBlock& block,
                      const Global<const float>& rows, const Shared<float>& scales, int first,
                      const Shared<int>& codes) {
  constexpr int kWords = FewRowsMemory::kCodeWords;
  const int words = block.memory.chunks * kWords;  // of a row
  const int chunks = static_cast<int>(args.weights.chunks);
  const Global<const int> coded(reinterpret_cast<const int*>(args.coded.codes));
  const Global<const float> coded_scales(args.coded.scales);
  MYNAH_ROLLED for (int i = thread_index(); i < block.memory.rows * words; i += thread_count()) {
    const int r = i / words;
    const int at = first * kWords + i - r * words;
    int word = 0;
    float scale = 0.0F;
    if (coded.empty()) {
      const Vector<float, 4> values =
          four_of(rows.from(r * args.x.stride), at * 4, static_cast<int>(args.in), args.aligned);
      float inverse = 0.0F;
      if constexpr (kByChunk) {
        const float peak = peak_of(chunk_max_bits(largest_bits(values)));
        inverse = inverse_scale(peak);
        scale = peak / 127.0F;
      } else {
        inverse = scales[kFewRows + r];
      }
      word = word_of(values, inverse);
    } else if (at < chunks * kWords) {
      word = coded[(block.first_row + r) * chunks * kWords + at];
      if (kByChunk && at % kWords == 0) {
        scale = coded_scales[(block.first_row + r) * chunks + at / kWords];
      }
    }
    codes[i] = word;
    if (kByChunk && i % kWords == 0) {
      scales[i / kWords] = scale;
    }
  }
}

// The sums of the lane's chunk with each row, a panel after the other.
template <Storage kStorage>
inline void put_products(const CodedFewBlock& block,
                         const HalfChunk<kStorage> (&stored)[kFewRowsPanels][2],
                         const Shared<int>& codes, const Shared<float>& scales,
                         const Shared<typename SumOf<kStorage>::Type>& sums) {
  const FewRowsMemory& memory = block.memory;
  MYNAH_ROLLED for (int r = 0; r < memory.rows; ++r) {
    const int place = r * memory.chunks + block.chunk;
    const CodedHalves x = coded_halves<kStorage>(codes.from(place * FewRowsMemory::kCodeWords));
    float scale = 0.0F;
    if constexpr (kStorage != Storage::I8) {
      scale = scales[place];
    }
    MYNAH_UNROLLED for (int p = 0; p < kFewRowsPanels; ++p) {
      if (p < memory.panels) {
        const int at =
            block.chunk * memory.sums_apart() + (p * memory.rows + r) * kPanel + lane() % kPanel;
        if constexpr (kStorage == Storage::I8) {
          sums[at] = coded_product<kStorage>(stored[p], x);
        } else {
          sums[at] = scale * coded_product<kStorage>(stored[p], x);
        }
      }
    }
  }
}

template <Storage kStorage>
inline void few_rows_int8(const LinearArgs& args) {
  using Sum = typename SumOf<kStorage>::Type;
  constexpr bool kByChunk = kStorage != Storage::I8;
  MYNAH_DYNAMIC_SHARED(int, codes);
  MYNAH_DYNAMIC_SHARED(float, floats);
  MYNAH_DYNAMIC_SHARED(Sum, all_sums);
  const CodedFewBlock block = coded_few_block(args);
  const FewRowsMemory& memory = block.memory;
  const int code_words = memory.rows * memory.chunks * FewRowsMemory::kCodeWords;
  const Shared<Sum> sums = all_sums.from(code_words);
  const Shared<float> scales = floats.from(code_words + memory.sums());
  const Global<const float> rows(args.x.data + block.first_row * args.x.stride);
  if constexpr (!kByChunk) {
    const Global<const float> coded_scales(args.coded.scales);
    if (coded_scales.empty()) {
      find_scales(rows, args.x.stride, args.in, memory.rows, scales);
    } else if (thread_index() < memory.rows) {
      scales[thread_index()] = coded_scales[block.first_row + thread_index()];
    }
    barrier();
  }
  Sum sum = 0;
  const int chunks = static_cast<int>(args.weights.chunks);
  MYNAH_ROLLED for (int first = 0; first < chunks; first += memory.chunks) {
    // On their way from memory while x is fetched.
    const int chunk = first + block.chunk;
    const bool inside = chunk < chunks;
    HalfChunk<kStorage> stored[kFewRowsPanels][2] = {};
    MYNAH_UNROLLED for (int p = 0; p < kFewRowsPanels; ++p) {
      if (inside && p < memory.panels) {
        const WeightRow<kStorage> weights(args.weights,
                                          (block.first_panel + p) * kPanel + lane() % kPanel);
        weights.load(chunk, stored[p]);
      }
    }
    code_rows<kByChunk>(args, block, rows, scales, first, codes);
    barrier();
    if (inside) {
      put_products<kStorage>(block, stored, codes, scales, sums);
    }
    barrier();
    add_sums(memory, sums, chunks - first, sum);
  }
  finish_few_rows(args, memory, block.first_row, block.first_panel * kPanel, [&](int row) {
    const auto value = static_cast<float>(sum);
    return kByChunk ? value : scales[row] * value;
  });
}

}  // namespace mynah::simt
