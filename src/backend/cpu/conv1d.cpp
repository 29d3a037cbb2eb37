// One-dimensional convolutions.
#include <algorithm>
#include <cstring>

#include "backend/cpu/conv_tiles.h"
#include "backend/cpu/cpu_backend_class.h"
#include "backend/cpu/packed.h"

namespace mynah::cpu {

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
  const ConvTiles tiles(kernels_, memory_, x, lengths, w, params, out);
  const int64_t bytes = tiles.tile_bytes();
  const int64_t wanted = 8 * pool_.size();
  if (tiles.count() >= wanted || pool_.size() == 1) {
    pool_.parallel_for(tiles.count(), 1, [&](int64_t begin, int64_t end) {
      const Scratch<std::byte> seen(memory_, bytes);
      for (int64_t i = begin; i < end; ++i) {
        tiles.multiply(i, seen.data(), tiles.prepare(i, seen.data()), 0, tiles.panels());
      }
    });
    return;
  }
  // There are few: threads share the panels of each.
  const Scratch<std::byte> seen(memory_, tiles.count() * bytes);
  const Scratch<float> scales(memory_, tiles.count());
  pool_.parallel_for(tiles.count(), 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      scales[i] = tiles.prepare(i, seen.data() + i * bytes);
    }
  });
  const int64_t groups = std::min(tiles.panels(), (wanted + tiles.count() - 1) / tiles.count());
  const int64_t group = (tiles.panels() + groups - 1) / groups;
  pool_.parallel_for(tiles.count() * groups, 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t tile = i / groups;
      const int64_t panel = std::min(i % groups * group, tiles.panels());
      tiles.multiply(tile, seen.data() + tile * bytes, scales[tile], panel,
                     std::min(panel + group, tiles.panels()));
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
    const int64_t grain = kSerialWork / (4 * w.in_features * channels) + 1;
    pool_.parallel_for(out_rows, grain, [&](int64_t begin, int64_t end) {
      const Scratch<float> sums(memory_, channels + kPanel);  // read in whole vectors
      for (int64_t t = begin; t < end; ++t) {
        // Taps [first, last) see rows of the utterance.
        const int64_t row = t * params.stride - params.padding_left;
        const int64_t first =
            std::min(params.kernel, row < 0 ? (-row + params.dilation - 1) / params.dilation : 0);
        const int64_t last = std::clamp((span.length - row + params.dilation - 1) / params.dilation,
                                        first, params.kernel);
        kernels_.sum_products(
            x.data<float>() + (span.begin + row + first * params.dilation) * x.stride(0),
            params.dilation * x.stride(0), taps.data() + first * channels, last - first, channels,
            sums.data());
        kernels_.finish(sums.data(), 1, channels, target.finish(out_begin + t, 0),
                        out.data<float>() + (out_begin + t) * out.stride(0), 0);
      }
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
          const float* const seen = x.data<float>() + (span.begin + row) * x.stride(0);
          kernels_.dots_f32({.rows = weights + (o * params.kernel + j) * in},
                            {.rows = reinterpret_cast<const std::byte*>(seen + o / group_out * in),
                             .n = 1,
                             .d = in},
                            1.0F, &dot, 0);
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
