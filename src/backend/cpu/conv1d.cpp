// One-dimensional convolutions.
#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "backend/cpu/cpu_backend_class.h"
#include "backend/cpu/packed.h"

namespace mynah::cpu {
namespace {

// How each utterance's rows are seen.
class Inputs {
 public:
  // `inverses` has room for x's channels.
  Inputs(const Conv1dInput* input, int64_t channels, float* inverses) : channels_(channels) {
    if (input == nullptr) {
      return;
    }
    all_.slope = input->slope;
    if (input->alpha != nullptr) {
      all_.alpha = input->alpha->data<float>();
      all_.inverse = inverses;
      std::transform(all_.alpha, all_.alpha + channels, inverses,
                     [](float alpha) { return 1.0F / alpha; });
    }
    factors_ = input->factors;
  }

  [[nodiscard]] InputRow of(int64_t utterance) const {
    InputRow row = all_;
    if (factors_ != nullptr) {
      row.scale = factors_->data<float>() + utterance * factors_->stride(0);
      row.shift = row.scale + channels_;
    }
    return row;
  }

 private:
  int64_t channels_;
  InputRow all_;
  const Tensor* factors_ = nullptr;
};

// Neighbouring rows of an utterance's result.
struct Tile {
  int64_t utterance = 0;
  Span span;          // of x
  int64_t first = 0;  // of the utterance's result
  int64_t rows = 0;
  int64_t out_begin = 0;  // the utterance's first row of the result
};

// Windows of a dilated convolution are runs of memory where the rows that they see, `dilation`
// apart, lie one after another: a tile's input is kept as `dilation` runs, the rows 0, d, 2 d, ...,
// then 1, d + 1, ... . Window `i` of run `p` is that of the tile's row p + i * d.
struct Runs {
  int64_t dilation = 1;
  int64_t rows = 0;  // of the tile's result
  int64_t kernel = 1;

  // Rows of input that the tile sees.
  [[nodiscard]] int64_t seen() const { return rows + dilation * (kernel - 1); }

  // Where run p begins, in rows: those before it have seen() / d rows, and one more for each of the
  // first seen() % d.
  [[nodiscard]] int64_t begin(int64_t p) const {
    return p * (seen() / dilation) + std::min(p, seen() % dilation);
  }

  // Where row q of the input is kept.
  [[nodiscard]] int64_t place(int64_t q) const { return begin(q % dilation) + q / dilation; }

  // Rows of the result in run p.
  [[nodiscard]] int64_t count(int64_t p) const { return (rows - p + dilation - 1) / dilation; }
};

// Rows of a tile: a multiple of the kernels' 12 in each run.
int64_t tile_rows(int64_t dilation) {
  constexpr int64_t kRows = 12;
  constexpr int64_t kMost = 96;
  return kRows * dilation * std::max<int64_t>(1, kMost / (kRows * dilation));
}

// More than any run of a tile has.
constexpr int64_t kMostRunRows = 96;

enum class Kept : uint8_t { F32, Bf16, I8 };

size_t bytes_of(Kept kept) {
  return kept == Kept::F32 ? 4 : kept == Kept::Bf16 ? 2 : 1;
}

}  // namespace

Tensor CpuBackend::conv1d_seen(const Tensor& x, const Lengths& lengths, const Conv1dInput& input) {
  const int64_t channels = x.dim(1);
  const Scratch<float> inverses(memory_, channels);
  const Inputs inputs(&input, channels, inverses.data());
  Tensor seen(allocate(static_cast<size_t>(x.elements()) * sizeof(float)), 0, x.shape(), DType::F32,
              device());
  for (int64_t u = 0; u < lengths.count(); ++u) {
    const InputRow how = inputs.of(u);
    for_rows(lengths[u].length, channels * 8, [&](int64_t t) {
      const int64_t row = lengths[u].begin + t;
      kernels_.input_row(x.data<float>() + row * x.stride(0), how, channels,
                         seen.data<float>() + row * channels);
    });
  }
  return seen;
}

void CpuBackend::conv1d_tiles(const Tensor& x, const Lengths& lengths, const LinearWeight& w,
                              const Conv1dParams& params, const Tensor& out) {
  const int64_t channels = x.dim(1);
  const int64_t most_rows = tile_rows(params.dilation);
  std::vector<Tile> tiles;
  int64_t out_rows = 0;
  for (int64_t u = 0; u < lengths.count(); ++u) {
    const int64_t rows = params.out_rows(lengths[u].length);
    for (int64_t first = 0; first < rows; first += most_rows) {
      tiles.push_back({.utterance = u,
                       .span = lengths[u],
                       .first = first,
                       .rows = std::min(most_rows, rows - first),
                       .out_begin = out_rows});
    }
    out_rows += rows;
  }
  const bool fast = params.precision == Precision::Fast;
  const Kept kept = fast && w.dtype == DType::I8                                      ? Kept::I8
                    : fast && w.dtype == DType::BF16 && kernels_.gemm_bf16 != nullptr ? Kept::Bf16
                                                                                      : Kept::F32;
  const Scratch<float> inverses(memory_, channels);
  const Inputs inputs(params.input, channels, inverses.data());
  const PackedView view(w);
  const auto runs_of = [&](const Tile& tile) {
    return Runs{.dilation = params.dilation, .rows = tile.rows, .kernel = params.kernel};
  };
  // The last window of a tile is read in whole steps of the products, which the weights' zeros
  // meet.
  constexpr int64_t kPad = 4;
  const int64_t seen_rows =
      Runs{.dilation = params.dilation, .rows = most_rows, .kernel = params.kernel}.seen();
  const int64_t tile_bytes = (seen_rows * channels + kPad) * static_cast<int64_t>(bytes_of(kept));

  // What a tile sees, in its runs; returns int8's scale.
  const auto prepare = [&](const Tile& tile, std::byte* to) {
    const Runs runs = runs_of(tile);
    const InputRow how = inputs.of(tile.utterance);
    const int64_t seen = runs.seen();
    const int64_t first = tile.first - params.padding_left;  // row of the utterance, may be before
    const int64_t begin = std::clamp<int64_t>(-first, 0, seen);
    const int64_t end = std::clamp<int64_t>(tile.span.length - first, begin, seen);
    const auto row_of_x = [&](int64_t q) {
      return x.data<float>() + (tile.span.begin + first + q) * x.stride(0);
    };
    std::memset(to + static_cast<size_t>(seen * channels) * bytes_of(kept), 0,
                kPad * bytes_of(kept));
    for (int64_t q = 0; q < seen; ++q) {
      if (q < begin || q >= end) {
        std::memset(to + static_cast<size_t>(runs.place(q) * channels) * bytes_of(kept),
                    kept == Kept::I8 ? 128 : 0, static_cast<size_t>(channels) * bytes_of(kept));
      }
    }
    if (kept == Kept::F32) {
      for (int64_t q = begin; q < end; ++q) {
        kernels_.input_row(row_of_x(q), how, channels,
                           reinterpret_cast<float*>(to) + runs.place(q) * channels);
      }
      return 0.0F;
    }
    if (kept == Kept::Bf16) {
      const Scratch<float> row(memory_, channels);
      for (int64_t q = begin; q < end; ++q) {
        kernels_.input_row(row_of_x(q), how, channels, row.data());
        kernels_.to_bf16(row.data(), channels,
                         reinterpret_cast<uint16_t*>(to) + runs.place(q) * channels);
      }
      return 0.0F;
    }
    const Scratch<float> values(memory_, seen * channels);
    float peak = 0.0F;
    for (int64_t q = begin; q < end; ++q) {
      peak = std::max(peak,
                      kernels_.input_row(row_of_x(q), how, channels, values.data() + q * channels));
    }
    const float inverse = peak > 0.0F ? 127.0F / peak : 0.0F;
    for (int64_t q = begin; q < end; ++q) {
      kernels_.codes(values.data() + q * channels, channels, inverse,
                     reinterpret_cast<uint8_t*>(to) + runs.place(q) * channels);
    }
    return peak / 127.0F;
  };

  // Panels [panel, panel_end) of a tile.
  const Target target = target_of(params, out);
  const auto multiply = [&](const Tile& tile, const std::byte* from, float scale, int64_t panel,
                            int64_t panel_end) {
    const Runs runs = runs_of(tile);
    alignas(64) int32_t sums[kMostRunRows * kPanel];
    auto* const floats = reinterpret_cast<float*>(sums);
    std::array<float, kMostRunRows> scales;
    scales.fill(scale);
    const bool widen = kept == Kept::F32 && w.dtype != DType::F32;
    const Scratch<float> wide(memory_, widen ? widened_rows(w) * kPanel : 1);
    for (int64_t p = panel; p < panel_end; ++p) {
      const auto* weights = reinterpret_cast<const float*>(view.panel(p));
      if (widen) {
        widen_panel(kernels_, w, p, wide.data());
        weights = wide.data();
      }
      for (int64_t run = 0; run < std::min(params.dilation, tile.rows); ++run) {
        const int64_t m = runs.count(run);
        const std::byte* const a =
            from + static_cast<size_t>(runs.begin(run) * channels) * bytes_of(kept);
        const int64_t row = tile.out_begin + tile.first + run;
        Finish finish = target.finish(row, p * kPanel);
        finish.residual_stride *= params.dilation;
        float* const to = target.data + row * target.stride + p * kPanel;
        const int64_t stride = target.stride * params.dilation;
        switch (kept) {
          case Kept::I8:
            kernels_.gemm_i8(reinterpret_cast<const uint8_t*>(a), channels, m, view.steps(),
                             reinterpret_cast<const int8_t*>(view.panel(p)), sums, kPanel);
            kernels_.finish_i8(
                sums, m, view.columns(p),
                {.rows = scales.data(), .columns = view.scales(p), .column_sums = view.sums(p)},
                finish, to, stride);
            break;
          case Kept::Bf16:
            kernels_.gemm_bf16(reinterpret_cast<const uint16_t*>(a), channels, m, view.steps(),
                               reinterpret_cast<const uint16_t*>(view.panel(p)), 1, 0, floats,
                               kPanel);
            kernels_.finish(floats, m, view.columns(p), finish, to, stride);
            break;
          case Kept::F32:
            kernels_.gemm_f32(reinterpret_cast<const float*>(a), channels, m, w.in_features,
                              weights, floats, kPanel);
            kernels_.finish(floats, m, view.columns(p), finish, to, stride);
            break;
        }
      }
    }
  };

  // Where there are few tiles, threads share the panels of each.
  const auto count = static_cast<int64_t>(tiles.size());
  const int64_t wanted = 8 * pool_.size();
  if (count >= wanted || pool_.size() == 1) {
    pool_.parallel_for(count, 1, [&](int64_t begin, int64_t end) {
      const Scratch<std::byte> seen(memory_, tile_bytes);
      for (int64_t i = begin; i < end; ++i) {
        const Tile& tile = tiles[static_cast<size_t>(i)];
        multiply(tile, seen.data(), prepare(tile, seen.data()), 0, view.panels());
      }
    });
    return;
  }
  const Scratch<std::byte> seen(memory_, count * tile_bytes);
  const Scratch<float> scales(memory_, count);
  pool_.parallel_for(count, 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      scales[i] = prepare(tiles[static_cast<size_t>(i)], seen.data() + i * tile_bytes);
    }
  });
  const int64_t groups = std::min(view.panels(), (wanted + count - 1) / count);
  const int64_t group = (view.panels() + groups - 1) / groups;
  pool_.parallel_for(count * groups, 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t tile = i / groups;
      const int64_t panel = i % groups * group;
      multiply(tiles[static_cast<size_t>(tile)], seen.data() + tile * tile_bytes, scales[tile],
               std::min(panel, view.panels()), std::min(panel + group, view.panels()));
    }
  });
}

void CpuBackend::conv1d(const Tensor& x, const Lengths& lengths, const LinearWeight& w,
                        const Conv1dParams& params, const Tensor& out) {
  const bool seen = params.input != nullptr;
  if (params.groups == 1 && params.stride == 1 && (seen || params.dilation > 1)) {
    conv1d_tiles(x, lengths, w, params, out);
    return;
  }
  if (seen) {
    Conv1dParams rest = params;
    rest.input = nullptr;
    conv1d(conv1d_seen(x, lengths, *params.input), lengths, w, rest, out);
    return;
  }
  if (params.groups == x.dim(1) && params.groups == w.out_features && params.groups > 1) {
    conv1d_depthwise(x, lengths, w, params, out);
    return;
  }
  if (params.groups > 1) {
    conv1d_grouped(x, lengths, w, params, out);
    return;
  }
  if (is_short_conv1d(x, lengths, w, params)) {
    conv1d_short(x, lengths, w, params, out);
    return;
  }
  const int64_t channels = x.dim(1);
  int64_t out_row = 0;
  for (const Span& span : lengths.spans()) {
    const int64_t out_rows = params.out_rows(span.length);
    if (out_rows == 0) {
      continue;
    }
    // A window of `kernel` rows of a padded utterance is one run of memory: the product reads
    // windows in place, `stride` rows apart. Dilated windows are not, and are laid out one by one.
    const bool runs = params.dilation == 1 || params.kernel == 1;
    const int64_t padded_rows = params.padding_left + span.length + params.padding_right;
    const Scratch<float> padded(memory_, padded_rows * channels);
    std::memset(padded.data(), 0,
                static_cast<size_t>(params.padding_left * channels) * sizeof(float));
    for (int64_t r = 0; r < span.length; ++r) {
      std::memcpy(padded.data() + (params.padding_left + r) * channels,
                  x.data<float>() + (span.begin + r) * x.stride(0),
                  static_cast<size_t>(channels) * sizeof(float));
    }
    std::memset(padded.data() + (params.padding_left + span.length) * channels, 0,
                static_cast<size_t>(params.padding_right * channels) * sizeof(float));
    const int64_t window = params.kernel * channels;
    Rows rows{padded.data(), params.stride * channels, out_rows};
    const Scratch<float> windows(memory_, runs ? 1 : out_rows * window);
    if (!runs) {
      for (int64_t i = 0; i < out_rows * params.kernel; ++i) {
        const int64_t from =
            i / params.kernel * params.stride + i % params.kernel * params.dilation;
        std::memcpy(windows.data() + i * channels, padded.data() + from * channels,
                    static_cast<size_t>(channels) * sizeof(float));
      }
      rows = {windows.data(), window, out_rows};
    }
    product(rows, w, params.precision, target_of(params, out).from_row(out_row));
    out_row += out_rows;
  }
}

void CpuBackend::conv1d_depthwise(const Tensor& x, const Lengths& lengths, const LinearWeight& w,
                                  const Conv1dParams& params, const Tensor& out) {
  const int64_t channels = x.dim(1);
  const Scratch<float> taps(memory_, params.kernel * channels);  // (kernel, channels)
  for (int64_t c = 0; c < channels; ++c) {
    for (int64_t j = 0; j < params.kernel; ++j) {
      taps[j * channels + c] = w.data.data<float>()[c * params.kernel + j];
    }
  }
  const Target target = target_of(params, out);
  int64_t out_begin = 0;
  for (const Span& span : lengths.spans()) {
    const int64_t out_rows = params.out_rows(span.length);
    for_rows(out_rows, w.in_features * channels, [&](int64_t t) {
      const Scratch<float> sums(memory_, channels + kPanel);  // read in whole vectors
      std::fill_n(sums.data(), channels, 0.0F);
      for (int64_t j = 0; j < params.kernel; ++j) {
        const int64_t row = t * params.stride - params.padding_left + j * params.dilation;
        if (row >= 0 && row < span.length) {
          kernels_.add_products(x.data<float>() + (span.begin + row) * x.stride(0),
                                taps.data() + j * channels, channels, sums.data());
        }
      }
      kernels_.finish(sums.data(), 1, channels, target.finish(out_begin + t, 0),
                      out.data<float>() + (out_begin + t) * out.stride(0), 0);
    });
    out_begin += out_rows;
  }
}

void CpuBackend::conv1d_grouped(const Tensor& x, const Lengths& lengths, const LinearWeight& w,
                                const Conv1dParams& params, const Tensor& out) {
  const int64_t in = x.dim(1) / params.groups;
  const int64_t group_out = w.out_features / params.groups;
  const auto* weights = w.data.data<float>();  // (out, kernel, in / groups)
  const Target target = target_of(params, out);
  int64_t out_begin = 0;
  for (const Span& span : lengths.spans()) {
    const int64_t out_rows = params.out_rows(span.length);
    for_rows(out_rows, w.out_features * w.in_features, [&](int64_t t) {
      const Scratch<float> sums(memory_, w.out_features + kPanel);  // read in whole vectors
      for (int64_t o = 0; o < w.out_features; ++o) {
        float sum = 0.0F;
        for (int64_t j = 0; j < params.kernel; ++j) {
          const int64_t row = t * params.stride - params.padding_left + j * params.dilation;
          if (row < 0 || row >= span.length) {
            continue;
          }
          float dot = 0.0F;
          kernels_.dots_f32(weights + (o * params.kernel + j) * in,
                            x.data<float>() + (span.begin + row) * x.stride(0) + o / group_out * in,
                            0, 1, in, 1.0F, &dot);
          sum += dot;
        }
        sums[o] = sum;
      }
      kernels_.finish(sums.data(), 1, w.out_features, target.finish(out_begin + t, 0),
                      out.data<float>() + (out_begin + t) * out.stride(0), 0);
    });
    out_begin += out_rows;
  }
}

}  // namespace mynah::cpu
