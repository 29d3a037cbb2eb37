// Products with weights of ggml's block types: chunk by chunk of a panel, unpacked into the
// first-level cache and met by all rows of a tile.
#include "backend/cpu/cpu_backend_class.h"
#include "backend/cpu/packed.h"
#include "backend/cpu/packed_blocks.h"

namespace mynah::cpu {

void CpuBackend::product_blocks(const Rows& rows, const LinearWeight& w, const Target& target) {
  const PackedView view(w);
  const BlockPanels panels(w);
  const BlockFormat& format = panels.format();
  const int64_t blocks = w.in_features / kBlockRows;
  const int64_t groups = rows.count * blocks * format.groups;
  const Scratch<int8_t> codes(memory_, rows.count * w.in_features);
  const Scratch<float> scales(memory_, rows.count * blocks);
  const Scratch<float> sums(memory_, format.minima ? groups : 1);
  const Scratch<int32_t> starts(memory_, groups);
  const BlockRows rounded{.codes = codes.data(),
                          .scales = scales.data(),
                          .sums = format.minima ? sums.data() : nullptr,
                          .starts = starts.data(),
                          .blocks = blocks,
                          .groups = format.groups,
                          .zero = format.zero};
  for_rows(rows.count, w.in_features * kCostlyElement,
           [&](int64_t r) { kernels_.quantize_blocks(rows.data + r * rows.stride, rounded, r); });
  for_tiles(rows.count, view.panels(), w.in_features * kPanel / 4,
            [&](int64_t row, int64_t row_end, int64_t panel, int64_t panel_end) {
              ChunkScratch scratch;
              alignas(64) float tile[kTileRows * kPanel];
              const int64_t m = row_end - row;
              for (int64_t p = panel; p < panel_end; ++p) {
                for (int64_t c = 0; c < panels.chunks(); ++c) {
                  kernels_.block_products(rounded, row, m,
                                          panels.unpack(kernels_, p, c, m, scratch), tile);
                }
                kernels_.finish(tile, m, view.columns(p), target.finish(row, p * kPanel),
                                target.data + row * target.stride + p * kPanel, target.stride);
              }
            });
}

}  // namespace mynah::cpu
