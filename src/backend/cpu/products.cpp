// Matrix products and convolutions: activations against packed panels, tile by tile.
#include <algorithm>
#include <cstring>

#include "backend/cpu/cpu_backend_class.h"
#include "backend/cpu/packed.h"
#include "tensor/quantize.h"

namespace mynah::cpu {
namespace {

int64_t row_tiles_of(int64_t rows, int64_t tile_rows) {
  return (rows + tile_rows - 1) / tile_rows;
}

// Multiplications after which a thread may take another task, some 20 us: others wait no longer
// for the last one.
constexpr int64_t kTaskWork = 10 * kSerialWork;

// Tasks that share the panels of one tile of rows, where the tiles alone are too few: four tasks a
// thread let a thread that lost its core be made up for.
int64_t tasks_of_rows(int64_t row_tiles, int64_t threads) {
  return std::max<int64_t>(1, (threads * 4 + row_tiles - 1) / row_tiles);
}

// Rows of a tile of products in int16. What a panel's run costs to read is little beside them, and
// small tiles are shared out more evenly.
constexpr int64_t kInt16TileRows = 48;

}  // namespace

void CpuBackend::for_tiles(int64_t rows, int64_t panels, int64_t work_per_tile_row,
                           FunctionRef<void(int64_t, int64_t, int64_t, int64_t)> fn,
                           int64_t tile_rows) {
  const int64_t row_tiles = row_tiles_of(rows, tile_rows);
  const int64_t threads = rows * panels * work_per_tile_row < kSerialWork ? 1 : pool_.size();
  const int64_t shares = threads == 1 ? 1 : tasks_of_rows(row_tiles, threads);
  const int64_t tile_work = std::min(rows, kTileRows) * panels * work_per_tile_row;
  const int64_t groups =
      shares == 1 ? 1 : std::min(panels, std::max(shares, tile_work / kTaskWork));
  const int64_t group = (panels + groups - 1) / groups;
  const auto task = [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t row = i / groups * tile_rows;
      const int64_t panel = i % groups * group;
      fn(row, std::min(row + tile_rows, rows), panel, std::min(panel + group, panels));
    }
  };
  const int64_t tasks = row_tiles * groups;
  pool_.parallel_for(tasks, threads == 1 ? tasks : 1, task);
}

void CpuBackend::for_rounded_tiles(int64_t rows, int64_t width, int64_t panels,
                                   int64_t work_per_tile_row, FunctionRef<void(int64_t)> round,
                                   FunctionRef<void(int64_t, int64_t, int64_t, int64_t)> fn,
                                   int64_t tile_rows) {
  const bool shared = tasks_of_rows(row_tiles_of(rows, tile_rows), pool_.size()) > 1;
  if (shared) {
    for_rows(rows, width, round);
  }
  for_tiles(
      rows, panels, work_per_tile_row,
      [&](int64_t row, int64_t row_end, int64_t panel, int64_t panel_end) {
        for (int64_t r = row; !shared && r < row_end; ++r) {
          round(r);
        }
        fn(row, row_end, panel, panel_end);
      },
      tile_rows);
}

void CpuBackend::for_rows(int64_t rows, int64_t work_per_row, FunctionRef<void(int64_t)> fn) {
  const int64_t grain = std::max<int64_t>(1, kSerialWork / std::max<int64_t>(1, work_per_row));
  pool_.parallel_for(rows, std::max(grain / 4, (rows + pool_.size() * 4 - 1) / (pool_.size() * 4)),
                     [&](int64_t begin, int64_t end) {
                       for (int64_t i = begin; i < end; ++i) {
                         fn(i);
                       }
                     });
}

void CpuBackend::product_i8(const Rows& rows, const LinearWeight& w, const Target& target) {
  const PackedView view(w);
  const int64_t k4 = view.steps();
  const Scratch<uint8_t> quantized(memory_, rows.count * k4 * 4);
  const Scratch<float> scales(memory_, rows.count);
  const auto quantize = [&](int64_t r) {
    scales[r] = kernels_.quantize_row(rows.data + r * rows.stride, w.in_features,
                                      quantized.data() + r * k4 * 4, k4);
  };
  for_rounded_tiles(
      rows.count, w.in_features, view.panels(), k4 * 4 * kPanel / 4, quantize,
      [&](int64_t row, int64_t row_end, int64_t panel, int64_t panel_end) {
        alignas(64) int32_t tile[kTileRows * kPanel];
        for (int64_t p = panel; p < panel_end; ++p) {
          kernels_.gemm_i8(quantized.data() + row * k4 * 4, k4 * 4, row_end - row, k4,
                           reinterpret_cast<const int8_t*>(view.panel(p)), tile, kPanel);
          kernels_.finish_i8(
              tile, row_end - row, view.columns(p),
              {.rows = scales.data() + row, .columns = view.scales(p), .column_sums = view.sums(p)},
              target.finish(row, p * kPanel), target.data + row * target.stride + p * kPanel,
              target.stride);
        }
      });
}

void CpuBackend::product_close(const Rows& rows, const LinearWeight& w, const Target& target) {
  const PackedView view(w);
  const int64_t k4 = view.steps();
  // The upper and the lower bytes of each row.
  const Scratch<uint8_t> quantized(memory_, 2 * rows.count * k4 * 4);
  const Scratch<float> scales(memory_, rows.count);
  for_rows(rows.count, w.in_features, [&](int64_t r) {
    uint8_t* const high = quantized.data() + 2 * r * k4 * 4;
    scales[r] = kernels_.quantize_row_close(rows.data + r * rows.stride, w.in_features, high,
                                            high + k4 * 4, k4);
  });
  for_tiles(
      rows.count, view.panels(), 2 * k4 * 4 * kPanel / 4,
      [&](int64_t row, int64_t row_end, int64_t panel, int64_t panel_end) {
        alignas(64) int32_t sums[2 * kTileRows * kPanel];
        alignas(64) float tile[kTileRows * kPanel];
        const int64_t m = row_end - row;
        for (int64_t p = panel; p < panel_end; ++p) {
          kernels_.gemm_i8(quantized.data() + 2 * row * k4 * 4, k4 * 4, 2 * m, k4,
                           reinterpret_cast<const int8_t*>(view.panel(p)), sums, kPanel);
          kernels_.join_close(
              sums, m,
              {.rows = scales.data() + row, .columns = view.scales(p), .column_sums = view.sums(p)},
              tile);
          kernels_.finish(tile, m, view.columns(p), target.finish(row, p * kPanel),
                          target.data + row * target.stride + p * kPanel, target.stride);
        }
      });
}

void CpuBackend::product_i16(const Rows& rows, const LinearWeight& w, const Target& target) {
  const PackedView view(w);
  const int64_t k = w.in_features;
  const int64_t stride = 2 * view.steps();
  const int64_t runs = view.runs();
  const auto length = [k](int64_t run) { return std::min(kInt16Run, k - run * kInt16Run); };
  const Scratch<int16_t> codes(memory_, rows.count * stride);
  const Scratch<float> scales(memory_, rows.count * runs);
  const auto quantize = [&](int64_t r) {
    for (int64_t run = 0; run < runs; ++run) {
      const int64_t begin = run * kInt16Run;
      scales[r * runs + run] = kernels_.quantize_run_i16(
          rows.data + r * rows.stride + begin, length(run), codes.data() + r * stride + begin);
    }
  };
  for_rounded_tiles(
      rows.count, k, view.panels(), k * kPanel / 2, quantize,
      [&](int64_t row, int64_t row_end, int64_t panel, int64_t panel_end) {
        alignas(64) float tile[kInt16TileRows * kPanel];
        for (int64_t p = panel; p < panel_end; ++p) {
          const auto* weights = reinterpret_cast<const int16_t*>(view.panel(p));
          for (int64_t run = 0; run < runs; ++run) {
            const int64_t begin = run * kInt16Run;
            kernels_.gemm_i16({.rows = codes.data() + row * stride + begin,
                               .row_stride = stride,
                               .row_scales = scales.data() + row * runs + run,
                               .scale_stride = runs,
                               .panel = weights + begin * kPanel,
                               .column_scales = view.scales(p) + run * kPanel,
                               .steps = (length(run) + 1) / 2,
                               .adds = run > 0},
                              row_end - row, tile);
          }
          kernels_.finish(tile, row_end - row, view.columns(p), target.finish(row, p * kPanel),
                          target.data + row * target.stride + p * kPanel, target.stride);
        }
      },
      kInt16TileRows);
}

void CpuBackend::product_bf16(const Rows& rows, const LinearWeight& w, const Target& target) {
  const PackedView view(w);
  const int64_t k2 = view.steps();
  const Scratch<uint16_t> rounded(memory_, rows.count * k2 * 2);
  for_rows(rows.count, w.in_features, [&](int64_t r) {
    uint16_t* to = rounded.data() + r * k2 * 2;
    to[k2 * 2 - 1] = 0;  // K may be odd
    kernels_.to_bf16(rows.data + r * rows.stride, w.in_features, to);
  });
  for_tiles(
      rows.count, view.panels(), k2 * kPanel,
      [&](int64_t row, int64_t row_end, int64_t panel, int64_t panel_end) {
        alignas(64) float tile[kTileRows * kPanel];
        for (int64_t p = panel; p < panel_end; ++p) {
          kernels_.gemm_bf16(rounded.data() + row * k2 * 2, k2 * 2, row_end - row, k2,
                             reinterpret_cast<const uint16_t*>(view.panel(p)), 1, 0, tile, kPanel);
          kernels_.finish(tile, row_end - row, view.columns(p), target.finish(row, p * kPanel),
                          target.data + row * target.stride + p * kPanel, target.stride);
        }
      });
}

void CpuBackend::product_f32(const Rows& rows, const LinearWeight& w, const Target& target) {
  if (w.dtype == DType::F32 && rows.count <= 2) {
    product_few(rows, w, target);
    return;
  }
  const PackedView view(w);
  const int64_t k = w.in_features;
  for_tiles(rows.count, view.panels(), k * kPanel,
            [&](int64_t row, int64_t row_end, int64_t panel, int64_t panel_end) {
              alignas(64) float tile[kTileRows * kPanel];
              const bool widen = w.dtype != DType::F32;
              const Scratch<float> wide(memory_, widen ? widened_rows(w) * kPanel : 1);
              for (int64_t p = panel; p < panel_end; ++p) {
                const auto* weights = reinterpret_cast<const float*>(view.panel(p));
                if (widen) {
                  widen_panel(kernels_, w, p, wide.data());
                  weights = wide.data();
                }
                kernels_.gemm_f32(rows.data + row * rows.stride, rows.stride, row_end - row, k,
                                  weights, tile, kPanel);
                kernels_.finish(tile, row_end - row, view.columns(p),
                                target.finish(row, p * kPanel),
                                target.data + row * target.stride + p * kPanel, target.stride);
              }
            });
}

void CpuBackend::product(const Rows& rows, const LinearWeight& w, Precision precision,
                         const Target& target) {
  if (precision == Precision::Fast && w.dtype == DType::I8) {
    product_i8(rows, w, target);
  } else if (precision == Precision::Close && w.dtype == DType::I8) {
    product_close(rows, w, target);
  } else if (precision != Precision::Exact && w.dtype == DType::I16) {
    product_i16(rows, w, target);
  } else if (precision == Precision::Fast && is_block_type(w.dtype)) {
    product_blocks(rows, w, target);
  } else if (precision == Precision::Fast && w.dtype == DType::BF16 &&
             kernels_.gemm_bf16 != nullptr) {
    product_bf16(rows, w, target);
  } else {
    product_f32(rows, w, target);
  }
}

void CpuBackend::linear(const Tensor& x, const LinearWeight& w, const LinearParams& params,
                        const Tensor& out) {
  product({x.data<float>(), x.stride(-2), x.dim(-2)}, w, params.precision, target_of(params, out));
}

void CpuBackend::matmul(const Tensor& a, const Tensor& b, bool transpose_b, const Tensor& out) {
  const int64_t m = a.dim(1);
  const int64_t k = a.dim(2);
  const int64_t n = out.dim(2);
  const int64_t panels = (n + kPanel - 1) / kPanel;
  pool_.parallel_for(a.dim(0) * panels, 1, [&](int64_t begin, int64_t end) {
    const Scratch<float> panel(memory_, k * kPanel);
    const Scratch<float> tile(memory_, m * kPanel);
    for (int64_t i = begin; i < end; ++i) {
      const int64_t batch = i / panels;
      const int64_t column = i % panels * kPanel;
      const int64_t columns = std::min(kPanel, n - column);
      const float* right = b.data<float>() + batch * b.stride(0);
      for (int64_t row = 0; row < k; ++row) {
        for (int64_t c = 0; c < kPanel; ++c) {
          const int64_t at =
              transpose_b ? (column + c) * b.stride(1) + row : row * b.stride(1) + column + c;
          panel[row * kPanel + c] = c < columns ? right[at] : 0.0F;
        }
      }
      kernels_.gemm_f32(a.data<float>() + batch * a.stride(0), a.stride(1), m, k, panel.data(),
                        tile.data(), kPanel);
      kernels_.finish(tile.data(), m, columns, {},
                      out.data<float>() + batch * out.stride(0) + column, out.stride(1));
    }
  });
}

void CpuBackend::embedding(const Tensor& table, const Tensor& ids, const Tensor& out) {
  const int64_t d = table.dim(1);
  const size_t row_bytes = storage_bytes(table.dtype(), d);
  for_rows(ids.dim(0), d * kCheapElement, [&](int64_t i) {
    const auto row = static_cast<size_t>(ids.data<int32_t>()[i]);
    mynah::dequantize(table.dtype(), table.raw() + row * row_bytes,
                      {out.data<float>() + i * out.stride(0), static_cast<size_t>(d)});
  });
}

}  // namespace mynah::cpu
