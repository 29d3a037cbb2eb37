// Products of few rows in f32: a voice detector's frame, whose time is the weights' way from the
// second-level cache. Sums are in the order of products.cpp's, so that the choice between the two
// is not seen in the result.
#include <algorithm>
#include <cstring>

#include "backend/cpu/cpu_backend_class.h"
#include "backend/cpu/packed.h"

namespace mynah::cpu {
namespace {

// Rows of an utterance's convolution that one pass over the weights serves.
constexpr int64_t kFewRows = 4;

// Multiplications of a row that one thread does alone: some 5 us. No product of a voice detector's
// frame has as many, and a frame comes 32 ms after the last, when the other threads sleep.
constexpr int64_t kAloneWork = 150'000;

// The taps of output row t that fall on an utterance's `length` rows.
Span taps_inside(const Conv1dParams& params, int64_t length, int64_t t) {
  const int64_t before = params.padding_left - t * params.stride;  // rows before the first
  const int64_t first = std::clamp(before, int64_t{0}, params.kernel);
  return {first, std::clamp(before + length, first, params.kernel) - first};
}

// The output rows of `rows` whose tap falls on an utterance's `length` rows.
Span rows_of_tap(const Conv1dParams& params, int64_t length, int64_t rows, int64_t tap) {
  int64_t first = 0;
  while (first < rows && first * params.stride + tap < params.padding_left) {
    ++first;
  }
  int64_t last = first;
  while (last < rows && last * params.stride + tap < params.padding_left + length) {
    ++last;
  }
  return {first, last - first};
}

}  // namespace

void CpuBackend::few_row(const float* x, int64_t k, const float* panels, const LinearWeight& w,
                         const Target& target) {
  const PackedView view(w);
  const Scratch<int32_t> at(memory_, k + 1);
  const Scratch<float> sums(memory_, view.panels() * kPanel);
  const int64_t count = kernels_.nonzeros(x, k, at.data());
  const int64_t panel_stride = w.in_features * kPanel;
  pool_.parallel_for(view.panels(), std::max(kAloneWork / (count * kPanel + 1), int64_t{1}),
                     [&](int64_t begin, int64_t end) {
                       kernels_.matvec_f32(x, at.data(), count, panels + begin * panel_stride,
                                           panel_stride, end - begin, sums.data() + begin * kPanel);
                     });
  kernels_.finish(sums.data(), 1, w.out_features, target.finish(0, 0), target.data, 0);
}

void CpuBackend::product_few(const Rows& rows, const LinearWeight& w, const Target& target) {
  const auto* panels = reinterpret_cast<const float*>(PackedView(w).panel(0));
  for (int64_t r = 0; r < rows.count; ++r) {
    few_row(rows.data + r * rows.stride, w.in_features, panels, w, target.from_row(r));
  }
}

bool CpuBackend::is_short_conv1d(const Tensor& x, const Lengths& lengths, const LinearWeight& w,
                                 const Conv1dParams& params) {
  return w.dtype == DType::F32 && params.groups == 1 && params.dilation == 1 &&
         x.stride(0) == x.dim(1) && std::ranges::all_of(lengths.spans(), [&](const Span& span) {
           return params.out_rows(span.length) <= kFewRows;
         });
}

void CpuBackend::conv1d_short(const Tensor& x, const Lengths& lengths, const LinearWeight& w,
                              const Conv1dParams& params, const Tensor& out) {
  const int64_t count = lengths.count();
  const Target all = target_of(params, out);
  const int64_t tasks = int64_t{4} * pool_.size();
  pool_.parallel_for(count, (count + tasks - 1) / tasks, [&](int64_t begin, int64_t end) {
    int64_t out_row = 0;
    for (int64_t u = 0; u < end; ++u) {
      const int64_t rows = params.out_rows(lengths[u].length);
      if (u >= begin && rows > 0) {
        short_utterance(x.data<float>() + lengths[u].begin * x.stride(0), lengths[u].length, w,
                        params, all.from_row(out_row), rows);
      }
      out_row += rows;
    }
  });
}

void CpuBackend::short_utterance(const float* x, int64_t length, const LinearWeight& w,
                                 const Conv1dParams& params, const Target& target, int64_t rows) {
  const PackedView view(w);
  const int64_t channels = w.in_features / params.kernel;
  const auto* panels = reinterpret_cast<const float*>(view.panel(0));
  if (rows <= 2) {
    // A pass over the weights for each row costs no more than one for both: zeros are skipped.
    for (int64_t t = 0; t < rows; ++t) {
      const Span taps = taps_inside(params, length, t);
      const int64_t first = t * params.stride - params.padding_left + taps.begin;
      few_row(x + first * channels, taps.length * channels, panels + taps.begin * channels * kPanel,
              w, target.from_row(t));
    }
    return;
  }
  alignas(64) float tile[kFewRows * kPanel];
  for (int64_t p = 0; p < view.panels(); ++p) {
    const float* panel = panels + p * w.in_features * kPanel;
    std::memset(tile, 0, sizeof(tile));
    for (int64_t tap = 0; tap < params.kernel; ++tap) {
      const Span hit = rows_of_tap(params, length, rows, tap);
      const int64_t first = hit.begin * params.stride - params.padding_left + tap;
      kernels_.gemm_add_f32(x + first * channels, params.stride * channels, hit.length, channels,
                            panel + tap * channels * kPanel, tile + hit.begin * kPanel);
    }
    kernels_.finish(tile, rows, view.columns(p), target.finish(0, p * kPanel),
                    target.data + p * kPanel, target.stride);
  }
}

}  // namespace mynah::cpu
