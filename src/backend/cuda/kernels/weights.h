// Reading packed weights (weight_layout.h): half a chunk, sixteen elements of a row, at a time, as
// floats or as small whole numbers with their scale.
#pragma once

#include "backend/cuda/kernels/weight_layout.h"
#include "backend/cuda/simt/simt.h"

namespace mynah::simt {

inline constexpr int kHalf = kChunk / 2;
inline constexpr int kHalfWords = kHalf / 4;  // of its codes

// Sixteen elements as they are stored, in registers.
template <Storage kStorage>
struct HalfChunk {
  static constexpr ChunkLayout kLayout = layout_of(kStorage);
  // Codes of fewer than eight bits stand in one unit for both halves.
  static constexpr bool kTogether = kLayout.value_bytes < 2 * kUnitBytes;
  static constexpr int kUnits = kTogether ? 1 : kLayout.value_bytes / 2 / kUnitBytes;
  static constexpr int kUnitWords = kTogether ? kLayout.value_bytes / 4 : kUnitBytes / 4;

  Vector<uint32_t, kUnitWords> units[kUnits];
  uint32_t high;
  uint32_t header;
  uint32_t factors;
};

// A row of a packed matrix.
template <Storage kStorage>
class WeightRow {
 public:
  using Half = HalfChunk<kStorage>;
  static constexpr ChunkLayout kLayout = Half::kLayout;

  // Of a row past the last panel load() gives zeros.
  WeightRow(const Weights& weights, int64_t row)
      : values_(Global<const uint32_t>(reinterpret_cast<const uint32_t*>(weights.values))),
        high_(Global<const uint32_t>(reinterpret_cast<const uint32_t*>(weights.high))),
        headers_(weights.headers),
        factors_(weights.factors),
        inside_(row < weights.panels * kPanel) {
    const int64_t panel = row / kPanel * weights.chunks;
    const int in_panel = static_cast<int>(row % kPanel);
    values_ =
        values_.from(panel * (kPanel * kLayout.value_bytes / 4) + in_panel * Half::kUnitWords);
    high_ =
        high_.from(panel * (kPanel * kLayout.high_bytes / 4) + in_panel * (kLayout.high_bytes / 4));
    headers_ = headers_.from((panel * kPanel + in_panel) * kLayout.header_bytes);
    factors_ = factors_.from((panel / kSuperChunks * kPanel + in_panel) * kLayout.factor_bytes);
  }

  [[nodiscard]] Half load(int64_t chunk, int half) const {
    Half x{};
    if (!inside_) {
      return x;
    }
    const int64_t first = chunk * (kPanel * kLayout.value_bytes / 4);
    const int apart = Half::kTogether ? 0 : half * Half::kUnits * kPanel * Half::kUnitWords;
    for (int u = 0; u < Half::kUnits; ++u) {
      x.units[u] =
          values_.template load<Half::kUnitWords>(first + apart + u * kPanel * Half::kUnitWords);
    }
    if constexpr (kLayout.high_bits == 1) {
      x.high = high_[chunk * kPanel];
    } else if constexpr (kLayout.high_bits == 2) {
      x.high = high_[chunk * (kPanel * 2) + half];
    }
    x.header = number<kLayout.header_bytes>(headers_, chunk);
    x.factors = number<kLayout.factor_bytes>(factors_, chunk / kSuperChunks);
    return x;
  }

  // Both halves of a chunk: what they have in common is read once.
  void load(int64_t chunk, Half (&x)[2]) const {
    x[0] = load(chunk, 0);
    if constexpr (!Half::kTogether) {
      x[1] = load(chunk, 1);
    } else {
      x[1] = x[0];
      if constexpr (kLayout.high_bits == 2) {
        if (inside_) {
          x[1].high = high_[chunk * (kPanel * 2) + 1];
        }
      }
    }
  }

  // The elements' values; of I8 without the row's scale.
  static void widen(const Half& x, int half, float (&out)[kHalf]) {
    if constexpr (kStorage == Storage::F32) {
      for (int i = 0; i < kHalf; ++i) {
        out[i] = float_of(x.units[i / 4][i % 4]);
      }
    } else if constexpr (kLayout.low_bits == 0) {
      for (int i = 0; i < kHalf; ++i) {
        const uint32_t pair = x.units[i / 8][i % 8 / 2];
        out[i] = half_precision(static_cast<uint16_t>(i % 2 == 0 ? pair : pair >> 16));
      }
    } else {
      const float factor = scale(x, half);
      const float lowest = minimum(x, half);
      MYNAH_UNROLLED for (int i = 0; i < kHalf; ++i) {
        // The code in the last bits of 2^23, whose unit is 1: no conversion needed.
        const uint32_t code = from_zero(x, half, i / 4) >> (i % 4 * 8) & 255U;
        const float number = float_of(0x4B000000U | code) - (8388608.0F + kOffset);
        out[i] = kStorage == Storage::I8 ? number : multiply_add(number, factor, lowest);
      }
    }
  }

  // Codes 4 i to 4 i + 3 as four int8.
  static int codes(const Half& x, int half, int i) {
    const uint32_t word = from_zero(x, half, i);
    if constexpr (kOffset == 0) {
      return static_cast<int>(word);
    } else {
      // Byte by byte: no code needs the eighth bit, which keeps each difference within its byte.
      constexpr uint32_t kOffsets = static_cast<uint32_t>(kOffset) * 0x01010101U;
      return static_cast<int>(kOffset == 128 ? word ^ 0x80808080U
                                             : ((word | 0x80808080U) - kOffsets) ^ 0x80808080U);
    }
  }

  // An element is code * scale + minimum, as dequantize_row_* of ggml-quants.c computes it.
  static float scale(const Half& x, int half) {
    if constexpr (kLayout.header == Header::None) {
      return 1.0F;
    } else if constexpr (kLayout.header == Header::Nibbles) {
      return factor(x) * static_cast<float>(x.header >> (half * 8) & 15U);
    } else if constexpr (kLayout.header == Header::SignedBytes) {
      return factor(x) * static_cast<float>(static_cast<int8_t>(x.header >> (half * 8)));
    } else if constexpr (kLayout.header == Header::ScaleMinimumBytes) {
      return factor(x) * static_cast<float>(x.header & 255U);
    } else if constexpr (kLayout.header == Header::Bf16Scale) {
      return to_float(Bf16{static_cast<uint16_t>(x.header)});
    } else {
      return to_float(F16{static_cast<uint16_t>(x.header)});
    }
  }

  static float minimum(const Half& x, int half) {
    if constexpr (!kLayout.minima) {
      return 0.0F;
    } else if constexpr (kLayout.header == Header::ScaleMinimum) {
      return to_float(F16{static_cast<uint16_t>(x.header >> 16)});
    } else {
      const float of_minima = to_float(F16{static_cast<uint16_t>(x.factors >> 16)});
      const uint32_t number =
          kLayout.header == Header::Nibbles ? x.header >> (half * 8 + 4) & 15U : x.header >> 8;
      return -(of_minima * static_cast<float>(number));
    }
  }

 private:
  // Codes of eight bits, and of tables, have their sign; from_zero() counts them from -128.
  static constexpr int kOffset = kLayout.low_bits == 8 || kLayout.table ? 128 : kLayout.offset;

  static float half_precision(uint16_t bits) {
    if constexpr (kStorage == Storage::F16) {
      return to_float(F16{bits});
    } else {
      return to_float(Bf16{bits});
    }
  }

  static float factor(const Half& x) { return to_float(F16{static_cast<uint16_t>(x.factors)}); }

  // Codes 4 i to 4 i + 3, counted from the lowest.
  static uint32_t from_zero(const Half& x, int half, int i) {
    if constexpr (kLayout.low_bits == 8) {
      return x.units[0][i] ^ 0x80808080U;
    } else {
      uint32_t word = 0;
      if constexpr (kLayout.low_bits == 4) {
        word = x.units[0][i] >> (half * 4) & 0x0F0F0F0FU;
        if constexpr (kLayout.table) {
          return from_table(word) ^ 0x80808080U;
        }
      } else {
        word = x.units[0][i % 2] >> (half * 4 + i / 2 * 2) & 0x03030303U;
      }
      if constexpr (kLayout.high_bits == 1) {
        word |= (x.high >> (half * 4 + i) & 0x01010101U) << kLayout.low_bits;
      } else if constexpr (kLayout.high_bits == 2) {
        word |= (x.high >> (i * 2) & 0x03030303U) << kLayout.low_bits;
      }
      return word;
    }
  }

  // Four codes that bytes number.
  static uint32_t from_table(uint32_t numbers) {
    constexpr auto& kTable = kStorage == Storage::MXFP4 ? kMxfp4Table : kIq4Table;
    // The numbers as four bits each, of which the last says which half of the table.
    const uint32_t pairs = (numbers | numbers >> 4) & 0x00FF00FFU;
    const uint32_t places = (pairs | pairs >> 8) & 0x7777U;
    const uint32_t low = pick_bytes(kTable[0], kTable[1], places);
    const uint32_t high = pick_bytes(kTable[2], kTable[3], places);
    const uint32_t is_high = (numbers >> 3 & 0x01010101U) * 255U;
    return (low & ~is_high) | (high & is_high);
  }

  // A number of so many bytes, of which each row of a panel has one.
  template <int kBytes>
  static uint32_t number(const Global<const uint8_t>& from, int64_t i) {
    if constexpr (kBytes == 2) {
      const Vector<uint8_t, 2> bytes = from.template load<2>(i * (kPanel * 2));
      return bytes[0] | static_cast<uint32_t>(bytes[1]) << 8;
    } else if constexpr (kBytes == 4) {
      const Vector<uint8_t, 4> bytes = from.template load<4>(i * (kPanel * 4));
      return bytes[0] | static_cast<uint32_t>(bytes[1]) << 8 |
             static_cast<uint32_t>(bytes[2]) << 16 | static_cast<uint32_t>(bytes[3]) << 24;
    } else {
      return 0;
    }
  }

  Global<const uint32_t> values_;
  Global<const uint32_t> high_;
  Global<const uint8_t> headers_;
  Global<const uint8_t> factors_;
  bool inside_;
};

}  // namespace mynah::simt
