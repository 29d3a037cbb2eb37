#include "backend/cuda/packed.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <span>

#include "base/check.h"
#include "tensor/blocks.h"
#include "tensor/quantize.h"

namespace mynah::cuda {

namespace {

using simt::ChunkLayout;
using simt::kChunk;
using simt::kPanel;
using simt::kSuperChunks;
using simt::kUnitBytes;

constexpr size_t kHalf = kChunk / 2;
constexpr size_t kSuperBlock = size_t{kChunk} * kSuperChunks;

uint8_t byte_at(const std::byte* p, int64_t i) {
  return std::to_integer<uint8_t>(p[i]);
}

std::byte as_byte(int value) {
  return static_cast<std::byte>(value & 255);
}

// The two bytes that scale chunk `chunk` of a super-block's codes, as ggml-common.h has them:
// unsigned scales and minima in four or six bits each, or signed scales.
std::array<std::byte, 2> header_bytes(DType dtype, const std::byte* block, int64_t chunk) {
  switch (dtype) {
    case DType::Q2_K:
      return {block[2 * chunk], block[2 * chunk + 1]};
    case DType::Q3_K: {
      std::array<std::byte, 2> scales{};
      for (int64_t half = 0; half < 2; ++half) {
        const int64_t s = 2 * chunk + half;
        const std::byte* packed = block + 96;
        const int low = s < 8 ? byte_at(packed, s) & 15 : byte_at(packed, s - 8) >> 4;
        const int high = byte_at(packed, 8 + s % 4) >> (s / 4 * 2) & 3;
        scales[static_cast<size_t>(half)] = as_byte((low | high << 4) - 32);
      }
      return scales;
    }
    case DType::Q6_K:
      return {block[192 + 2 * chunk], block[192 + 2 * chunk + 1]};
    case DType::IQ4_XS: {  // one for both halves
      const std::byte scale =
          as_byte(unpack_shared_scales(dtype, block).scale_codes[static_cast<size_t>(chunk)]);
      return {scale, scale};
    }
    case DType::MXFP4: {
      std::array<int8_t, kChunk> codes{};
      float scale = 0.0F;
      float minimum = 0.0F;
      unpack_block(dtype, block, codes.data(), &scale, &minimum);
      std::array<std::byte, 2> bytes{};
      const uint16_t bits = f32_to_bf16(scale);
      std::memcpy(bytes.data(), &bits, sizeof bits);
      return bytes;
    }
    default: {  // Q4_K, Q5_K
      const std::byte* packed = block + 4;
      if (chunk < 4) {
        return {as_byte(byte_at(packed, chunk) & 63), as_byte(byte_at(packed, chunk + 4) & 63)};
      }
      const int low = byte_at(packed, chunk + 4);
      return {as_byte((low & 15) | byte_at(packed, chunk - 4) >> 6 << 4),
              as_byte(low >> 4 | byte_at(packed, chunk) >> 6 << 4)};
    }
  }
}

// Where the f16 factors of a super-block's headers stand in it.
int64_t factors_at(DType dtype) {
  switch (dtype) {
    case DType::Q2_K:
      return 80;
    case DType::Q3_K:
      return 108;
    case DType::Q6_K:
      return 208;
    default:
      return 0;
  }
}

class Packer {
 public:
  Packer(int64_t out_features, int64_t in_features, DType dtype)
      : dtype_(dtype),
        layout_(simt::layout_of(storage_of(dtype))),
        regions_(out_features, in_features, dtype),
        bytes_(regions_.bytes()) {}

  void floats(int64_t row, std::span<const float> values) {
    if (dtype_ == DType::I8) {
      std::vector<int8_t> codes(values.size());
      const float scale = quantize_row_i8(values, codes.data());
      std::memcpy(bytes_.data() + regions_.scales() + static_cast<size_t>(row) * sizeof(scale),
                  &scale, sizeof(scale));
      units(row, std::as_bytes(std::span(codes)));
      return;
    }
    std::vector<std::byte> stored(storage_bytes(dtype_, static_cast<int64_t>(values.size())));
    quantize(dtype_, values, stored.data());
    units(row, stored);
  }

  void blocks(int64_t row, const std::byte* block) {
    const int64_t chunks_of_block = block_elements(dtype_) / kChunk;
    // A header that a block of 32 begins with.
    const bool in_file = layout_.factor_bytes == 0 && dtype_ != DType::MXFP4;
    std::array<int8_t, kSuperBlock> codes{};
    std::array<float, kSuperBlock / kHalf> scales{};
    std::array<float, kSuperBlock / kHalf> minima{};
    for (int64_t first = 0; first < regions_.chunks(); first += chunks_of_block) {
      unpack_block(dtype_, block, codes.data(), scales.data(), minima.data());
      for (int64_t c = 0; c < chunks_of_block; ++c) {
        chunk_codes(row, first + c, codes.data() + c * kChunk);
        const std::array<std::byte, 2> scaling =
            in_file ? std::array<std::byte, 2>{} : header_bytes(dtype_, block, c);
        put(regions_.headers(), row, first + c, regions_.chunks(),
            {in_file ? block : scaling.data(), static_cast<size_t>(layout_.header_bytes)});
      }
      if (layout_.factor_bytes > 0) {
        put(regions_.factors(), row, first / kSuperChunks, regions_.chunks() / kSuperChunks,
            {block + factors_at(dtype_), static_cast<size_t>(layout_.factor_bytes)});
      }
      block += block_bytes(dtype_);
    }
  }

  [[nodiscard]] std::vector<std::byte> take() { return std::move(bytes_); }

 private:
  // Writes piece `i` of a row that has `pieces` of one size in the region at `region`.
  void put(size_t region, int64_t row, int64_t i, int64_t pieces,
           std::span<const std::byte> piece) {
    const int64_t at = ((row / kPanel * pieces + i) * kPanel + row % kPanel);
    std::memcpy(bytes_.data() + region + static_cast<size_t>(at) * piece.size(), piece.data(),
                piece.size());
  }

  // A row's values in units, the last one filled up.
  void units(int64_t row, std::span<const std::byte> values) {
    const int64_t count = regions_.chunks() * layout_.value_bytes / kUnitBytes;
    for (int64_t i = 0; i * kUnitBytes < static_cast<int64_t>(values.size()); ++i) {
      std::array<std::byte, kUnitBytes> unit{};
      const auto first = static_cast<size_t>(i * kUnitBytes);
      const size_t bytes = std::min(unit.size(), values.size() - first);
      std::memcpy(unit.data(), values.data() + first, bytes);
      put(0, row, i, count, unit);
    }
  }

  // What a code is stored as.
  [[nodiscard]] int numbered(int8_t code) const {
    const auto* const table = code_table(dtype_);
    return table == nullptr ? code + layout_.offset
                            : static_cast<int>(std::ranges::find(*table, code) - table->begin());
  }

  // The bits of 32 codes, where weights.h looks for them.
  void chunk_codes(int64_t row, int64_t chunk, const int8_t* codes) {
    if (layout_.low_bits == 8) {
      const auto bytes = std::as_bytes(std::span(codes, kChunk));
      const int64_t count = regions_.chunks() * 2;
      put(0, row, chunk * 2, count, bytes.first(kUnitBytes));
      put(0, row, chunk * 2 + 1, count, bytes.last(kUnitBytes));
      return;
    }
    std::array<std::byte, kUnitBytes> low{};
    std::array<std::byte, 8> high{};
    for (size_t element = 0; element < kChunk; ++element) {
      const size_t half = element / kHalf;
      const size_t word = element % kHalf / 4;
      const size_t in_word = element % 4;
      const int code = numbered(codes[element]);
      const int low_code = code & ((1 << layout_.low_bits) - 1);
      const int high_code = code >> layout_.low_bits;
      if (layout_.low_bits == 4) {
        low[word * 4 + in_word] |= as_byte(low_code << (half * 4));
      } else {
        low[word % 2 * 4 + in_word] |= as_byte(low_code << (half * 4 + word / 2 * 2));
      }
      if (layout_.high_bits == 1) {
        high[in_word] |= as_byte(high_code << (half * 4 + word));
      } else if (layout_.high_bits == 2) {
        high[half * 4 + in_word] |= as_byte(high_code << (word * 2));
      }
    }
    put(0, row, chunk, regions_.chunks(),
        std::span(low).first(static_cast<size_t>(layout_.value_bytes)));
    if (layout_.high_bytes > 0) {
      put(regions_.high(), row, chunk, regions_.chunks(),
          std::span(high).first(static_cast<size_t>(layout_.high_bytes)));
    }
  }

  DType dtype_;
  ChunkLayout layout_;
  PackedRegions regions_;
  std::vector<std::byte> bytes_;
};

// (in, kernel) -> (kernel, in).
void turn(std::span<const float> row, int64_t kernel, std::span<float> out) {
  const auto taps = static_cast<size_t>(kernel);
  const size_t in = row.size() / taps;
  for (size_t c = 0; c < in; ++c) {
    for (size_t k = 0; k < taps; ++k) {
      out[k * in + c] = row[c * taps + k];
    }
  }
}

}  // namespace

simt::Storage storage_of(DType dtype) {
  static_assert(static_cast<int>(simt::Storage::I64) == static_cast<int>(DType::I64));
  static_assert(static_cast<int>(simt::Storage::MXFP4) == static_cast<int>(DType::MXFP4));
  static_assert(static_cast<int>(DType::I16) == kDTypeCount - 1);  // which no card stores
  return static_cast<simt::Storage>(dtype);
}

PackedRegions::PackedRegions(int64_t out_features, int64_t in_features, DType dtype)
    : panels_((out_features + kPanel - 1) / kPanel), chunks_((in_features + kChunk - 1) / kChunk) {
  const ChunkLayout layout = simt::layout_of(storage_of(dtype));
  const auto rows = static_cast<size_t>(panels_ * kPanel);
  const size_t of_chunks = rows * static_cast<size_t>(chunks_);
  high_ = of_chunks * static_cast<size_t>(layout.value_bytes);
  headers_ = high_ + of_chunks * static_cast<size_t>(layout.high_bytes);
  factors_ = headers_ + of_chunks * static_cast<size_t>(layout.header_bytes);
  scales_ = factors_ + of_chunks / kSuperChunks * static_cast<size_t>(layout.factor_bytes);
  bytes_ = scales_ + (dtype == DType::I8 ? rows * sizeof(float) : 0);
}

simt::Weights weights_of(const LinearWeight& w) {
  const PackedRegions regions(w.out_features, w.in_features, w.dtype);
  const auto* bytes = w.data.data<const uint8_t>();
  return {.values = bytes,
          .high = bytes + regions.high(),
          .headers = bytes + regions.headers(),
          .factors = bytes + regions.factors(),
          .scales = w.dtype == DType::I8 ? reinterpret_cast<const float*>(bytes + regions.scales())
                                         : nullptr,
          .panels = regions.panels(),
          .chunks = regions.chunks()};
}

std::vector<std::byte> pack_rows(const Tensor& w, DType storage, int64_t kernel) {
  const int64_t rows = w.dim(0);
  const int64_t in = w.elements() / rows;
  Packer packer(rows, in, storage);
  std::vector<float> values(static_cast<size_t>(in));
  std::vector<float> turned(kernel == 1 ? 0 : values.size());
  for (int64_t row = 0; row < rows; ++row) {
    const std::byte* source = w.raw() + storage_bytes(w.dtype(), row * w.stride(0));
    if (is_block_type(storage)) {
      packer.blocks(row, source);
      continue;
    }
    dequantize(w.dtype(), source, values);
    if (kernel > 1) {
      turn(values, kernel, turned);
    }
    packer.floats(row, kernel > 1 ? turned : values);
  }
  return packer.take();
}

}  // namespace mynah::cuda
