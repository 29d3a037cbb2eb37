// What a card would pay for products on matrix units: every transfer whole, no lane waiting for
// another's bank, and as many products as the sizes say.
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "backend/cuda/kernels/list.h"
#include "backend/cuda/simt/kernel_table.h"
#include "backend/cuda/simt/simulator.h"
#include "base/thread_pool.h"

namespace mynah::simt {
namespace {

class UnitsTraffic : public testing::Test {
 protected:
  static constexpr int64_t kChunks = 8;
  static constexpr int64_t kIn = kChunks * kChunk;

  std::byte* zeros(size_t bytes) {
    std::byte* const memory = card_.allocate(bytes);
    std::memset(memory, 0, bytes);
    return memory;
  }

  // A product of zeros, `value_bytes` each of weights and of packed rows.
  UnitsArgs product(int64_t rows, int64_t columns, size_t value_bytes) {
    const auto in = static_cast<size_t>(kIn);
    const auto out_bytes = static_cast<size_t>(rows * columns) * sizeof(float);
    return {
        .packed = reinterpret_cast<uint8_t*>(zeros(static_cast<size_t>(rows) * in * value_bytes)),
        .windows = {},
        .row_scales = nullptr,
        .x = {reinterpret_cast<float*>(zeros(static_cast<size_t>(rows) * in * sizeof(float))), kIn},
        .in = kIn,
        .aligned = true,
        .panels = 2,
        .weights = {.values = reinterpret_cast<uint8_t*>(
                        zeros(static_cast<size_t>(columns) * in * value_bytes)),
                    .high = nullptr,
                    .headers = nullptr,
                    .factors = nullptr,
                    .scales = nullptr,
                    .panels = columns / kPanel,
                    .chunks = kChunks},
        .finish = {.bias = nullptr,
                   .residual = {},
                   .out = {reinterpret_cast<float*>(zeros(out_bytes)), columns},
                   .rows = rows,
                   .columns = columns,
                   .activation = Activation::None,
                   .aligned = true}};
  }

  template <int kLevel = 80>
  Traffic run(const cuda::Kernel<UnitsArgs>& kernel, const GridSize& grid, int threads,
              int shared_bytes, const UnitsArgs& args) {
    const HostKernel* const found = kernel_table<kLevel>()[static_cast<size_t>(kernel.id)];
    const Status status =
        card_.launch(*found, grid, threads, static_cast<size_t>(shared_bytes), &args);
    EXPECT_TRUE(status.has_value()) << status.error().message;
    return card_.traffic(found->name);
  }

  // One tile: each side's panels once, the result once.
  template <class Tile, int kLevel = 80>
  void expect_tile(const cuda::Kernel<UnitsArgs>& kernel, size_t value_bytes) {
    const Traffic traffic = run<kLevel>(kernel, {}, Tile::kThreads, Tile::shared_bytes(kLevel),
                                        product(Tile::kRows, Tile::kColumns, value_bytes));
    EXPECT_EQ(traffic.coalescing(), 1.0);
    EXPECT_EQ(traffic.bank_conflicts(), 1.0);
    const uint64_t sides = (Tile::kRows + Tile::kColumns) * kIn * value_bytes;
    EXPECT_EQ(traffic.global_bytes, sides + Tile::kRows * Tile::kColumns * sizeof(float));
    // 16 by 8 of the result, and 32 bytes deep.
    EXPECT_EQ(traffic.matrix_products,
              Tile::kRows / 8 * (Tile::kColumns / 16) * (kIn * value_bytes / 32));
  }

  // A convolution of kernel 4 of one utterance, without padding: `rows` windows of kIn elements.
  Windows windows(int64_t rows, int stride) {
    constexpr int kKernel = 4;
    constexpr auto kChannels = static_cast<int>(kIn / kKernel);
    const int64_t x_rows = (rows - 1) * stride + kKernel;
    auto* const utterance = reinterpret_cast<Utterance*>(zeros(sizeof(Utterance)));
    *utterance = {.begin = 0, .length = x_rows, .out_begin = 0};
    const auto x_bytes = static_cast<size_t>(x_rows * kChannels) * sizeof(float);
    return {.utterances = utterance,
            .count = 1,
            .x = {reinterpret_cast<float*>(zeros(x_bytes)), kChannels},
            .rows = rows,
            .channels = kChannels,
            .kernel = kKernel,
            .stride = stride,
            .padding = 0,
            .dilation = 1,
            .aligned = true};
  }

  // One tile of windows in place: from memory as much as where they are laid out, by whole
  // transfers; besides, each warp asks for each of its panels which utterance the rows are of.
  template <class Tile, int kLevel = 80>
  void expect_tile_of_windows(const cuda::Kernel<UnitsArgs>& kernel, int stride) {
    UnitsArgs args = product(Tile::kRows, Tile::kColumns, sizeof(uint16_t));
    args.windows = windows(Tile::kRows, stride);
    const Traffic traffic =
        run<kLevel>(kernel, {}, Tile::kThreads, Tile::shared_bytes(kLevel), args);
    EXPECT_EQ(traffic.bank_conflicts(), 1.0);
    constexpr uint64_t kSides = (Tile::kRows + Tile::kColumns) * kIn * sizeof(uint16_t);
    constexpr uint64_t kMatrices = kSides + Tile::kRows * Tile::kColumns * sizeof(float);
    constexpr uint64_t kSectorBytes = 32;
    EXPECT_EQ(traffic.global_bytes, kMatrices + Tile::kRowPanels * sizeof(Utterance));
    EXPECT_EQ(traffic.global_sectors * kSectorBytes, kMatrices + Tile::kRowPanels * kSectorBytes);
    EXPECT_EQ(traffic.matrix_products, Tile::kRows / 8 * (Tile::kColumns / 16) * (kIn / 16));
  }

  Traffic pack(const cuda::Kernel<PackArgs>& kernel, const PackArgs& args) {
    constexpr int kThreads = 128;
    const HostKernel* const found = kernel_table<80>()[static_cast<size_t>(kernel.id)];
    const int64_t chunks = (args.rows + kPanel - 1) / kPanel * ((args.in + kChunk - 1) / kChunk);
    const Status status =
        card_.launch(*found, {.x = static_cast<int>((chunks + 3) / 4)}, kThreads, 0, &args);
    EXPECT_TRUE(status.has_value()) << status.error().message;
    return card_.traffic(found->name);
  }

  ThreadPool pool_{1};
  Simulator card_{pool_, {.count_traffic = true, .shared_bytes = 227 << 10}};
};

TEST_F(UnitsTraffic, LargeTilesPayForNothingTwice) {
  expect_tile<UnitsTile128>(cuda::kernels::units_linear_f16_128, sizeof(uint16_t));
}

TEST_F(UnitsTraffic, SmallTilesPayForNothingTwice) {
  expect_tile<UnitsTile64>(cuda::kernels::units_linear_f16_64, sizeof(uint16_t));
}

TEST_F(UnitsTraffic, WarpgroupsPayForNothingTwice) {
  expect_tile<WarpgroupTile, 90>(cuda::kernels::units_linear_f16_128, sizeof(uint16_t));
  expect_tile<UnitsTile64, 90>(cuda::kernels::units_linear_f16_64, sizeof(uint16_t));
}

TEST_F(UnitsTraffic, WindowsInPlaceCostTilesNothing) {
  expect_tile_of_windows<UnitsTile128>(cuda::kernels::units_conv1d_f16_128, 1);
  expect_tile_of_windows<UnitsTile128>(cuda::kernels::units_conv1d_bf16_128, 2);
  expect_tile_of_windows<UnitsTile64>(cuda::kernels::units_conv1d_f16_64, 2);
  expect_tile_of_windows<UnitsTile64>(cuda::kernels::units_conv1d_bf16_64, 1);
}

TEST_F(UnitsTraffic, WindowsInPlaceCostTilesOfLevel90Nothing) {
  expect_tile_of_windows<UnitsTile128, 90>(cuda::kernels::units_conv1d_f16_128, 1);
  expect_tile_of_windows<UnitsTile64, 90>(cuda::kernels::units_conv1d_f16_64, 2);
}

TEST_F(UnitsTraffic, TilesOfCodesPayForNothingTwice) {
  expect_tile<UnitsTile128>(cuda::kernels::units_linear_i8_128, 1);
  expect_tile<UnitsTile64>(cuda::kernels::units_linear_i8_64, 1);
}

TEST_F(UnitsTraffic, TilesOfCodesAtLevel90PayForNothingTwice) {
  expect_tile<UnitsTile128, 90>(cuda::kernels::units_linear_i8_128, 1);
}

// Blocks' codes are unpacked and scaled on the way: shared memory is what may wait.
TEST_F(UnitsTraffic, TilesOfBlocksHaveNoBankConflicts) {
  constexpr int64_t kRows = kTileRows;
  constexpr int64_t kColumns = kTileColumns;
  const auto view = [&](size_t bytes_of_chunk) {
    return reinterpret_cast<const uint8_t*>(
        zeros(static_cast<size_t>(kColumns * kChunks) * bytes_of_chunk));
  };
  const UnitsArgs sizes = product(kRows, kColumns, 1);
  const LinearArgs args{
      .x = {},
      .in = kIn,
      .aligned = true,
      .coded = {.codes = const_cast<uint8_t*>(sizes.packed),
                .sums = reinterpret_cast<float*>(zeros(kRows * kChunks * 2 * sizeof(float))),
                .scales = reinterpret_cast<float*>(zeros(kRows * kChunks * sizeof(float)))},
      .panels = 1,
      .weights = {.values = view(32),
                  .high = view(8),
                  .headers = view(4),
                  .factors = view(4),
                  .scales = nullptr,
                  .panels = kColumns / kPanel,
                  .chunks = kChunks},
      .finish = sizes.finish};
  for (const auto& [kernel, of_chunk] : {std::pair{cuda::kernels::linear_int8_q8_0, 1},
                                         std::pair{cuda::kernels::linear_int8_q4_k, 1},
                                         std::pair{cuda::kernels::linear_int8_q6_k, 2}}) {
    const HostKernel* const found = kernel_table<80>()[static_cast<size_t>(kernel.id)];
    const Status status = card_.launch(*found, {}, kTileThreads, 0, &args);
    ASSERT_TRUE(status.has_value()) << status.error().message;
    const Traffic traffic = card_.traffic(found->name);
    EXPECT_EQ(traffic.bank_conflicts(), 1.0) << found->name;
    // Halves of a chunk that have scales of their own are products of their own.
    EXPECT_EQ(traffic.matrix_products,
              static_cast<uint64_t>(kRows / 8 * (kColumns / 16) * kChunks * of_chunk))
        << found->name;
  }
}

TEST_F(UnitsTraffic, PackingReadsAndWritesWholeTransfers) {
  constexpr int64_t kRows = 16;
  const UnitsArgs sizes = product(kRows, kTileColumns, sizeof(uint16_t));
  constexpr uint64_t kBytes = kRows * kIn * (sizeof(float) + sizeof(uint16_t));
  uint64_t packed = 0;
  for (const bool in_panels : {true, false}) {
    const Traffic traffic =
        pack(cuda::kernels::pack_rows_f16, {.x = sizes.x,
                                            .windows = {},
                                            .rows = kRows,
                                            .in = kIn,
                                            .aligned = true,
                                            .in_panels = in_panels,
                                            .packed = const_cast<uint8_t*>(sizes.packed)});
    EXPECT_EQ(traffic.coalescing(), 1.0);
    EXPECT_EQ(traffic.global_bytes, ++packed * kBytes);
  }
}

// What is saved before the product: x moves once, and not once for each of four taps.
TEST_F(UnitsTraffic, PackingRowsMovesAQuarterOfPackingTheirWindows) {
  constexpr int64_t kRows = 61;
  const Windows of = windows(kRows, 1);
  const int64_t x_rows = kRows - 1 + of.kernel;
  auto* const packed = reinterpret_cast<uint8_t*>(zeros((kRows + 3) * kIn * sizeof(uint16_t)));
  const Traffic laid_out = pack(cuda::kernels::pack_windows_f16, {.x = {},
                                                                  .windows = of,
                                                                  .rows = kRows,
                                                                  .in = kIn,
                                                                  .aligned = false,
                                                                  .in_panels = true,
                                                                  .packed = packed});
  const Traffic in_place = pack(cuda::kernels::pack_rows_f16, {.x = of.x,
                                                               .windows = {},
                                                               .rows = x_rows,
                                                               .in = of.channels,
                                                               .aligned = true,
                                                               .in_panels = false,
                                                               .packed = packed});
  constexpr uint64_t kElementBytes = sizeof(float) + sizeof(uint16_t);
  EXPECT_GE(laid_out.global_bytes, kRows * kIn * kElementBytes);
  EXPECT_EQ(in_place.global_bytes, static_cast<uint64_t>(x_rows * of.channels) * kElementBytes);
}

// Each weight once, by whole transfers.
TEST_F(UnitsTraffic, FewRowsReadEachWeightOnce) {
  constexpr int64_t kRows = 16;
  constexpr int64_t kColumns = 32;
  constexpr int kWarps = 2;
  const UnitsFewMemory memory{.warps = kWarps, .row_panels = kRows / kPanel};
  const Traffic traffic =
      run(cuda::kernels::units_few_rows_f16, {.x = 2}, kWarps * kWarpThreads,
          memory.elements() * static_cast<int>(sizeof(float)), product(kRows, kColumns, 2));
  EXPECT_EQ(traffic.coalescing(), 1.0);
  const uint64_t weights = kColumns * kIn * 2;
  const uint64_t rows = 2 * kRows * kIn * 2;  // by each block
  EXPECT_EQ(traffic.global_bytes, weights + rows + kRows * kColumns * sizeof(float));
  EXPECT_EQ(traffic.matrix_products, kRows / 8 * (kColumns / 16) * (kIn / 16));
}

}  // namespace
}  // namespace mynah::simt
