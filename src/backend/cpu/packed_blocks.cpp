#include "backend/cpu/packed_blocks.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>

#include "base/check.h"
#include "tensor/blocks.h"
#include "tensor/quantize.h"

namespace mynah::cpu {
namespace {

// Few rows are done with a chunk before memory has the next: so far ahead of it is asked for.
constexpr int64_t kFetchAhead = 8192;

// More rows than any kernel takes of packed codes.
constexpr int64_t kAllRows = std::numeric_limits<int64_t>::max();

constexpr int64_t kChunkRows = kChunkBlocks * kBlockRows;

size_t code_bytes(CodeBits bits) {
  constexpr auto kCodes = static_cast<size_t>(kBlockRows * kPanel);
  switch (bits) {
    case CodeBits::Five:
      return kCodes * 5 / 8;
    case CodeBits::Six:
      return kCodes * 6 / 8;
    case CodeBits::Eight:
      return kCodes;
    default:
      return kCodes / 2;
  }
}

// Puts the code of element k of a block in column c where unpack_codes reads it.
void put_code(CodeBits bits, int64_t k, int64_t c, uint8_t code, uint8_t* block) {
  const int64_t step = k / 4;
  const int64_t at = c * 4 + k % 4;
  constexpr int64_t kStep = 4 * kPanel;
  if (bits == CodeBits::Eight) {
    block[step * kStep + at] = code;
    return;
  }
  uint8_t* const low = block + step / 2 * kStep + at;
  *low = static_cast<uint8_t>(*low | (code & 15) << (step % 2 * 4));
  uint8_t* const high = block + 4 * kStep + at;
  if (bits == CodeBits::Five) {
    *high = static_cast<uint8_t>(*high | code >> 4 << step);
  } else if (bits == CodeBits::Six) {
    uint8_t* const own = high + step / 4 * kStep;
    *own = static_cast<uint8_t>(*own | code >> 4 << (step % 4 * 2));
  }
}

// A number of a group in the two bytes that the panel has for it: exact, as it came from so many.
uint16_t narrow(ScaleKind kind, float value) {
  return kind == ScaleKind::Bf16 ? f32_to_bf16(value) : f32_to_f16(value);
}

void put_half(std::byte* at, int64_t i, uint16_t bits) {
  std::memcpy(at + static_cast<size_t>(i) * sizeof bits, &bits, sizeof bits);
}

// `count` numbers of two bytes of a chunk, widened.
void widen_numbers(const Kernels& kernels, ScaleKind kind, const std::byte* from, int64_t count,
                   float* out) {
  const auto* bits = reinterpret_cast<const uint16_t*>(from);
  kind == ScaleKind::Bf16 ? kernels.from_bf16(bits, count, out)
                          : kernels.from_f16(bits, count, out);
}

}  // namespace

BlockFormat block_format(DType dtype) {
  const int64_t groups = kBlockRows / block_group(dtype);
  switch (dtype) {
    case DType::Q4_0:
      return {.zero = 8};
    case DType::Q4_1:
      return {.minima = true};
    case DType::Q5_0:
      return {.bits = CodeBits::Five, .zero = 16};
    case DType::Q5_1:
      return {.bits = CodeBits::Five, .minima = true};
    case DType::Q8_0:
      return {.bits = CodeBits::Eight, .zero = 128};
    case DType::Q2_K:
    case DType::Q4_K:
      return {.scales = ScaleKind::Shared, .groups = groups, .minima = true};
    case DType::Q3_K:
      return {.scales = ScaleKind::Shared, .zero = 4, .groups = groups};
    case DType::Q5_K:
      return {.bits = CodeBits::Five, .scales = ScaleKind::Shared, .minima = true};
    case DType::Q6_K:
      return {.bits = CodeBits::Six, .scales = ScaleKind::Shared, .zero = 32, .groups = groups};
    case DType::IQ4_NL:
      return {.bits = CodeBits::Table, .zero = 128};
    case DType::IQ4_XS:
      return {.bits = CodeBits::Table, .scales = ScaleKind::Shared, .zero = 128};
    case DType::MXFP4:
      return {.bits = CodeBits::Table, .scales = ScaleKind::Bf16, .zero = 128};
    default:
      MYNAH_CHECK(false, "[block_format] not a block type: ", name(dtype));
  }
}

BlockPanels::Layout::Layout(const BlockFormat& format, int64_t n_blocks)
    : blocks(n_blocks),
      groups(blocks * format.groups),
      numbers(static_cast<size_t>(blocks) * code_bytes(format.bits)) {
  constexpr auto kColumns = static_cast<size_t>(kPanel);
  const size_t kinds = format.minima ? 2 : 1;
  if (format.scales == ScaleKind::Shared) {
    group_codes = numbers + kinds * kColumns * sizeof(uint16_t);
    bytes = group_codes + kinds * static_cast<size_t>(groups) * kColumns;
  } else {
    bytes = numbers + kinds * static_cast<size_t>(groups) * kColumns * sizeof(uint16_t);
  }
}

BlockPanels::BlockPanels(const LinearWeight& w)
    : dtype_(w.dtype),
      in_features_(w.in_features),
      out_features_(w.out_features),
      data_(w.data.defined() ? w.data.raw() : nullptr),
      format_(block_format(w.dtype)),
      chunks_((w.in_features + kChunkRows - 1) / kChunkRows),
      whole_(format_, kChunkBlocks),
      last_(format_, (w.in_features - (chunks_ - 1) * kChunkRows) / kBlockRows),
      panel_bytes_(static_cast<size_t>(chunks_ - 1) * whole_.bytes + last_.bytes) {
  for (int code = -128; code < 128; ++code) {
    stored_[static_cast<uint8_t>(code)] = static_cast<uint8_t>(code + format_.zero);
  }
  if (const auto* codes = code_table(dtype_)) {
    for (size_t i = codes->size(); i-- > 0;) {
      table_[i] = static_cast<uint8_t>((*codes)[i] + format_.zero);
      stored_[static_cast<uint8_t>((*codes)[i])] = static_cast<uint8_t>(i);
    }
  }
}

// A block of a file taken apart, as its type has it.
struct BlockPanels::FileBlock {
  FileBlock(DType dtype, const std::byte* block) : elements(block_elements(dtype)) {
    unpack_block(dtype, block, codes.data(), scales.data(), minima.data());
    if (has_shared_scales(dtype)) {
      shared = unpack_shared_scales(dtype, block);
    }
  }

  int64_t elements;
  std::array<int8_t, kSuperBlockElements> codes;
  std::array<float, kSuperBlockElements / 16> scales;
  std::array<float, kSuperBlockElements / 16> minima;
  SharedScales shared;
};

void BlockPanels::pack_block(const FileBlock& block, const Layout& layout, int64_t first, int64_t c,
                             std::byte* chunk) const {
  for (int64_t i = 0; i < block.elements; ++i) {
    const auto at = static_cast<size_t>(first + i / kBlockRows);
    const auto code = static_cast<uint8_t>(block.codes[static_cast<size_t>(i)]);
    put_code(format_.bits, i % kBlockRows, c, stored_[code],
             reinterpret_cast<uint8_t*>(chunk) + at * code_bytes(format_.bits));
  }
  std::byte* const numbers = chunk + layout.numbers;
  const bool shared = format_.scales == ScaleKind::Shared;
  if (shared) {
    put_half(numbers, c, f32_to_f16(block.shared.scale));
  }
  if (shared && format_.minima) {
    put_half(numbers, kPanel + c, f32_to_f16(block.shared.minimum));
  }
  auto* const codes = reinterpret_cast<int8_t*>(chunk + layout.group_codes);
  const int64_t groups = block.elements / kBlockRows * format_.groups;
  for (int64_t g = 0; g < groups; ++g) {
    const auto from = static_cast<size_t>(g);
    const int64_t to = (first * format_.groups + g) * kPanel + c;
    const int64_t to_minimum = to + layout.groups * kPanel;
    if (shared) {
      codes[to] = block.shared.scale_codes[from];
    } else {
      put_half(numbers, to, narrow(format_.scales, block.scales[from]));
    }
    if (shared && format_.minima) {
      codes[to_minimum] = block.shared.minimum_codes[from];
    } else if (format_.minima) {
      put_half(numbers, to_minimum, narrow(format_.scales, block.minima[from]));
    }
  }
}

void BlockPanels::pack(int64_t p, const std::byte* rows) const {
  std::memset(chunk(p, 0), 0, panel_bytes_);
  const int64_t columns = std::min(kPanel, out_features_ - p * kPanel);
  const std::byte* block = rows;
  for (int64_t column = 0; column < columns; ++column) {
    for (int64_t k = 0; k < in_features_; block += block_bytes(dtype_)) {
      const FileBlock parts(dtype_, block);
      const int64_t c = k / kChunkRows;
      pack_block(parts, layout(c), k % kChunkRows / kBlockRows, column, chunk(p, c));
      k += parts.elements;
    }
  }
}

BlockChunk BlockPanels::unpack(const Kernels& kernels, int64_t p, int64_t c, int64_t rows,
                               ChunkScratch& scratch) const {
  const Layout& own = layout(c);
  const std::byte* const from = chunk(p, c);
  BlockChunk unpacked{.codes = reinterpret_cast<const uint8_t*>(from),
                      .bits = format_.bits,
                      .table = table_.data(),
                      .scales = scratch.scales,
                      .minima = format_.minima ? scratch.minima : nullptr,
                      .first = c * kChunkBlocks,
                      .blocks = own.blocks};
  if (rows <= kernels.packed_rows) {
    unpacked.fetch = from + kFetchAhead;
    unpacked.fetch_bytes = static_cast<int64_t>(own.bytes) / own.blocks;
  } else if (format_.bits != CodeBits::Eight) {
    kernels.unpack_codes(format_.bits, from, own.blocks, table_.data(), scratch.codes);
    unpacked.codes = scratch.codes;
    unpacked.bits = CodeBits::Eight;
  }
  const std::byte* const numbers = from + own.numbers;
  const int64_t count = own.groups * kPanel;
  if (format_.scales != ScaleKind::Shared) {
    widen_numbers(kernels, format_.scales, numbers, count, scratch.scales);
    if (format_.minima) {
      widen_numbers(kernels, format_.scales, numbers + count * 2, count, scratch.minima);
    }
    return unpacked;
  }
  alignas(64) float shared[2 * kPanel];
  widen_numbers(kernels, format_.scales, numbers, format_.minima ? 2 * kPanel : kPanel, shared);
  const auto* const codes = reinterpret_cast<const int8_t*>(from + own.group_codes);
  kernels.scale_groups(shared, codes, own.groups, scratch.scales);
  if (format_.minima) {
    kernels.scale_groups(shared + kPanel, codes + count, own.groups, scratch.minima);
  }
  return unpacked;
}

void BlockPanels::widen(const Kernels& kernels, int64_t p, float* out) const {
  ChunkScratch scratch;
  for (int64_t c = 0; c < chunks_; ++c) {
    const BlockChunk unpacked = unpack(kernels, p, c, kAllRows, scratch);
    for (int64_t i = 0; i < unpacked.blocks * kBlockRows; ++i, out += kPanel) {
      const int64_t group = i * format_.groups / kBlockRows * kPanel;
      const uint8_t* codes = unpacked.codes + i / 4 * 4 * kPanel + i % 4;
      for (int64_t column = 0; column < kPanel; ++column) {
        const auto code = static_cast<float>(codes[column * 4] - format_.zero);
        const float minimum = unpacked.minima == nullptr ? 0.0F : unpacked.minima[group + column];
        out[column] = code * unpacked.scales[group + column] + minimum;
      }
    }
  }
}

}  // namespace mynah::cpu
