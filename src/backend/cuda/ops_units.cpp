// Products on matrix units: which kernel, and the rows packed for it.
#include "backend/cuda/cuda_backend_class.h"
#include "backend/cuda/launch_sizes.h"
#include "backend/cuda/packed.h"

namespace mynah::cuda {

namespace {

using simt::UnitsTile128;
using simt::UnitsTile64;

// From this level on cards have units of half precision, and of bfloat16.
constexpr int kLevelOfHalves = 75;
constexpr int kLevelOfBfloats = 80;

// So many large tiles are work enough for most of a large card at once: fewer would leave more of
// it idle than small tiles, which read either side twice as often, cost.
constexpr int64_t kEnoughTiles = 96;

// Rows that the kernel for few rounds by itself. More would take each block longer than a launch.
constexpr int64_t kRowsWorthALaunch = simt::kPanel;

// Warps of a block of the kernel for few rows where there are many blocks.
constexpr int kWarpsOfMany = 6;

struct UnitsKernels {
  Kernel<simt::PackArgs> pack_rows;
  Kernel<simt::PackArgs> pack_windows;
  Kernel<simt::UnitsArgs> tile_128;
  Kernel<simt::UnitsArgs> tile_64;
  Kernel<simt::UnitsArgs> few_rows;
  Kernel<simt::UnitsArgs> conv1d_128;
  Kernel<simt::UnitsArgs> conv1d_64;
};

constexpr UnitsKernels kHalves = {kernels::pack_rows_f16,        kernels::pack_windows_f16,
                                  kernels::units_linear_f16_128, kernels::units_linear_f16_64,
                                  kernels::units_few_rows_f16,   kernels::units_conv1d_f16_128,
                                  kernels::units_conv1d_f16_64};
constexpr UnitsKernels kBfloats = {kernels::pack_rows_bf16,        kernels::pack_windows_bf16,
                                   kernels::units_linear_bf16_128, kernels::units_linear_bf16_64,
                                   kernels::units_few_rows_bf16,   kernels::units_conv1d_bf16_128,
                                   kernels::units_conv1d_bf16_64};

const UnitsKernels& kernels_for(DType dtype) {
  return dtype == DType::F16 ? kHalves : kBfloats;
}

template <class Tile>
int64_t tiles_of(const simt::Finish& finish) {
  return blocks_for(finish.rows, Tile::kRows) * blocks_for(finish.columns, Tile::kColumns);
}

// A block a tile: x some rows of tiles, y all columns, z the next such rows. So blocks that run at
// once share sides on both axes, and what a long product reads is still in the second-level cache
// when it is read again. The last rows may have blocks without a tile.
template <class Tile>
GridSize units_grid(const simt::Finish& finish) {
  constexpr int64_t kMostRowsTogether = 8;
  const int64_t rows = blocks_for(finish.rows, Tile::kRows);
  const int64_t groups = blocks_for(rows, kMostRowsTogether);
  const int64_t together = blocks_for(rows, groups);
  return {.x = together,
          .y = blocks_for(finish.columns, Tile::kColumns),
          .z = blocks_for(rows, together)};
}

// Windows are gathered by the threads of a tile, at level 90 too, and codes are copied by them: by
// warpgroups their products took 1.3 times as long on an H100.
LargeTiles tiles_without_warpgroups(const Kernel<simt::UnitsArgs>& kernel, int level) {
  return {.kernel = kernel,
          .threads = UnitsTile128::kThreads,
          .shared_bytes = UnitsTile128::shared_bytes(level)};
}

LargeTiles linear_tiles(const Kernel<simt::UnitsArgs>& kernel, int level) {
  return {.kernel = kernel,
          .threads = simt::units_128_threads(level),
          .shared_bytes = simt::units_128_shared_bytes(level)};
}

}  // namespace

bool CudaBackend::uses_units(Precision precision, DType dtype) const {
  return precision == Precision::Fast &&
         ((dtype == DType::F16 && processor_->level() >= kLevelOfHalves) ||
          (dtype == DType::BF16 && processor_->level() >= kLevelOfBfloats));
}

BufferRef CudaBackend::pack_activations(const UnitsRows& rows, int64_t in, DType dtype,
                                        bool in_panels) {
  constexpr int kChunksOfBlock = 4;  // a warp each
  const UnitsKernels& kernels = kernels_for(dtype);
  const int64_t chunks = blocks_for(rows.rows, simt::kPanel) * blocks_for(in, simt::kChunk);
  BufferRef packed =
      allocate(static_cast<size_t>(chunks) * simt::kPanel * simt::kChunk * sizeof(uint16_t));
  launch(rows.windows == nullptr ? kernels.pack_rows : kernels.pack_windows,
         {.x = blocks_for(chunks, kChunksOfBlock)}, kChunksOfBlock * simt::kWarpThreads,
         {.x = rows.x,
          .windows = rows.windows == nullptr ? simt::Windows{} : *rows.windows,
          .rows = rows.rows,
          .in = in,
          .aligned = rows.aligned,
          .in_panels = in_panels,
          .packed = reinterpret_cast<uint8_t*>(packed.get()->data())});
  return packed;
}

void CudaBackend::linear_on_units(const UnitsRows& rows, const LinearWeight& w,
                                  const simt::Finish& finish) {
  const UnitsKernels& kernels = kernels_for(w.dtype);
  const bool few = rows.rows <= simt::kUnitsFewRows;
  BufferRef packed;
  simt::UnitsArgs args{.packed = nullptr,
                       .windows = {},
                       .row_scales = nullptr,
                       .x = rows.x,
                       .in = w.in_features,
                       .aligned = rows.aligned,
                       .panels = 1,
                       .weights = weights_of(w),
                       .finish = finish};
  if (rows.windows != nullptr || rows.rows > kRowsWorthALaunch) {
    packed = pack_activations(rows, w.in_features, w.dtype, true);
    args.packed = reinterpret_cast<const uint8_t*>(packed.get()->data());
  }
  if (few) {
    launch_few_rows_on_units(kernels.few_rows, args);
  } else {
    launch_tiles(linear_tiles(kernels.tile_128, processor_->level()), kernels.tile_64, args);
  }
}

void CudaBackend::conv1d_on_units(const UnitsRows& x, const simt::Windows& windows,
                                  const LinearWeight& w, const simt::Finish& finish) {
  if (windows.rows <= simt::kUnitsFewRows || !simt::read_in_place(windows)) {
    linear_on_units({.x = {}, .windows = &windows, .rows = windows.rows, .aligned = false}, w,
                    finish);
    return;
  }
  const UnitsKernels& kernels = kernels_for(w.dtype);
  const BufferRef packed = pack_activations(x, windows.channels, w.dtype, false);
  launch_tiles(tiles_without_warpgroups(kernels.conv1d_128, processor_->level()), kernels.conv1d_64,
               {.packed = reinterpret_cast<const uint8_t*>(packed.get()->data()),
                .windows = windows,
                .row_scales = nullptr,
                .x = {},
                .in = w.in_features,
                .aligned = false,
                .panels = 1,
                .weights = weights_of(w),
                .finish = finish});
}

void CudaBackend::launch_codes_on_units(const CodedBuffers& coded, const LinearWeight& w,
                                        const simt::Finish& finish) {
  const simt::CodedRows rows = coded.view();
  launch_tiles(tiles_without_warpgroups(kernels::units_linear_i8_128, processor_->level()),
               kernels::units_linear_i8_64,
               {.packed = rows.codes,
                .windows = {},
                .row_scales = rows.scales,
                .x = {},
                .in = w.in_features,
                .aligned = false,
                .panels = 1,
                .weights = weights_of(w),
                .finish = finish});
}

void CudaBackend::launch_tiles(const LargeTiles& tile_128, const Kernel<simt::UnitsArgs>& tile_64,
                               const simt::UnitsArgs& args) {
  if (tiles_of<UnitsTile128>(args.finish) >= kEnoughTiles) {
    launch(tile_128.kernel, units_grid<UnitsTile128>(args.finish), tile_128.threads, args,
           static_cast<size_t>(tile_128.shared_bytes));
  } else {
    launch(tile_64, units_grid<UnitsTile64>(args.finish), UnitsTile64::kThreads, args,
           static_cast<size_t>(UnitsTile64::shared_bytes(processor_->level())));
  }
}

void CudaBackend::launch_few_rows_on_units(const Kernel<simt::UnitsArgs>& kernel,
                                           simt::UnitsArgs args) {
  // A unit's product takes two panels; with one, half of it is idle, and the card less so.
  args.panels = args.weights.panels >= 2 * kManyBlocks ? 2 : 1;
  // Many blocks: small ones, of which several stand on a processor and wait for memory by turns.
  // Few: all of a row's weights are on their way at once.
  const int64_t blocks = blocks_for(args.weights.panels, args.panels);
  const int64_t most = blocks >= 2 * kManyBlocks ? kWarpsOfMany : simt::kUnitsFewRowsWarps;
  const int64_t groups = blocks_for(args.weights.chunks, simt::kUnitsSumSteps);
  const auto warps = static_cast<int>(blocks_for(groups, blocks_for(groups, most)));
  const simt::UnitsFewMemory memory{
      .warps = warps, .row_panels = static_cast<int>(blocks_for(args.finish.rows, simt::kPanel))};
  launch(kernel, {.x = blocks}, warps * simt::kWarpThreads, args,
         static_cast<size_t>(memory.elements()) * sizeof(float));
}

}  // namespace mynah::cuda
