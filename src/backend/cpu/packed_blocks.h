// Weights of ggml's block types in panels: the codes of 32 columns side by side, in as many bits as
// a file has for them, since a product of few rows takes as long as its weights take to be read.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "backend/cpu/kernels.h"
#include "tensor/op_params.h"

namespace mynah::cpu {

// Blocks of kBlockRows elements of K that are unpacked together.
inline constexpr int64_t kChunkBlocks = 8;

// What the scales of groups are stored as: numbers of their own, or small whole numbers times a
// number (f16) that 256 elements share.
enum class ScaleKind : uint8_t { F16, Bf16, Shared };

// How a block type is stored in panels. An element is (code - zero) * scale + minimum.
struct BlockFormat {
  CodeBits bits = CodeBits::Four;
  ScaleKind scales = ScaleKind::F16;
  int zero = 0;
  int64_t groups = 1;  // that a block of 32 has scales for
  bool minima = false;
};

[[nodiscard]] BlockFormat block_format(DType dtype);

// Where a chunk is unpacked to.
struct ChunkScratch {
  alignas(64) uint8_t codes[kChunkBlocks * kBlockRows * kPanel];
  alignas(64) float scales[2 * kChunkBlocks * kPanel];
  alignas(64) float minima[2 * kChunkBlocks * kPanel];
};

// Views the bytes of a LinearWeight of a block type. A panel is chunk after chunk the codes
// (block, ...) as Kernels::unpack_codes reads them, the scales and, where the type has them, the
// minima:
//   numbers of their own   (group, 32), (group, 32)
//   shared                 f16 (32), f16 (32) for minima, then s8 (group, 32), s8 (group, 32)
class BlockPanels {
 public:
  explicit BlockPanels(const LinearWeight& w);

  [[nodiscard]] const BlockFormat& format() const { return format_; }

  [[nodiscard]] size_t panel_bytes() const { return panel_bytes_; }

  // Chunks of a panel, the last of which may be shorter.
  [[nodiscard]] int64_t chunks() const { return chunks_; }

  // Packs 32 (or fewer) rows of blocks, as they lie in a file, into panel p.
  void pack(int64_t p, const std::byte* rows) const;

  // Chunk c of panel p for `rows` rows, its codes packed where Kernels::block_products reads them
  // so; valid as long as scratch and weight are.
  [[nodiscard]] BlockChunk unpack(const Kernels& kernels, int64_t p, int64_t c, int64_t rows,
                                  ChunkScratch& scratch) const;

  // Panel p to f32 (K, 32).
  void widen(const Kernels& kernels, int64_t p, float* out) const;

 private:
  // Where the parts of a chunk begin, in bytes.
  struct Layout {
    Layout(const BlockFormat& format, int64_t blocks);

    int64_t blocks;
    int64_t groups;          // of a column
    size_t numbers;          // scales of two bytes, then minima
    size_t group_codes = 0;  // of shared ones
    size_t bytes = 0;
  };

  [[nodiscard]] const Layout& layout(int64_t c) const { return c + 1 < chunks_ ? whole_ : last_; }

  [[nodiscard]] std::byte* chunk(int64_t p, int64_t c) const {
    return data_ + static_cast<size_t>(p) * panel_bytes_ + static_cast<size_t>(c) * whole_.bytes;
  }

  struct FileBlock;
  // Packs a file's block of column c, which begins `first` blocks into the chunk.
  void pack_block(const FileBlock& block, const Layout& layout, int64_t first, int64_t c,
                  std::byte* chunk) const;

  DType dtype_;
  int64_t in_features_;
  int64_t out_features_;
  std::byte* data_;
  BlockFormat format_;
  int64_t chunks_;
  Layout whole_;
  Layout last_;
  size_t panel_bytes_;
  std::array<uint8_t, 16> table_{};    // of CodeBits::Table: codes + zero
  std::array<uint8_t, 256> stored_{};  // what a code, by its byte, is packed as
};

}  // namespace mynah::cpu
