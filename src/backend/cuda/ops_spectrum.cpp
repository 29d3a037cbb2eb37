// Fourier transforms: the log-mel front end and magnitudes.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <string>
#include <vector>

#include "backend/cuda/cuda_backend_class.h"
#include "base/check.h"

namespace mynah::cuda {

namespace {

// Transforms of a block: as many as keep its threads at work, and have room.
struct Group {
  int32_t each;
  size_t shared_bytes;
};

Group group_of(const char* op, int64_t points) {
  constexpr int64_t kMost = 4;
  constexpr int64_t kRoom = 40 << 10;
  const int64_t bytes = simt::kTransformBytes * points;
  MYNAH_CHECK(bytes <= kRoom, "[", op, "] a transform of at most ",
              std::to_string(kRoom / simt::kTransformBytes), " points, got ",
              std::to_string(points));
  const int64_t each = std::clamp<int64_t>(kRoom / bytes, 1, kMost);
  return {static_cast<int32_t>(each), static_cast<size_t>(each * bytes)};
}

const simt::RowSpan* spans_at(const BufferRef& buffer) {
  return reinterpret_cast<const simt::RowSpan*>(buffer.get()->data());
}

}  // namespace

const float* CudaBackend::transform_table(int64_t n) {
  const std::lock_guard lock(tables_mutex_);
  BufferRef& table = transform_tables_[n];
  if (table.get() == nullptr) {
    std::vector<float> values;
    std::vector<float> window;
    for (int64_t i = 0; i < n; ++i) {
      const double angle = 2.0 * std::numbers::pi * static_cast<double>(i) / static_cast<double>(n);
      values.push_back(static_cast<float>(std::cos(angle)));
      values.push_back(static_cast<float>(std::sin(angle)));
      window.push_back(static_cast<float>(0.5 - 0.5 * std::cos(angle)));
    }
    values.insert(values.end(), window.begin(), window.end());
    table = kept_on_device(std::as_bytes(std::span(values)));
  }
  return reinterpret_cast<const float*>(table.get()->data());
}

void CudaBackend::magnitude_spectrum(const Tensor& x, const Tensor& window, const Tensor& out) {
  constexpr int kThreads = 128;
  const int64_t points = x.dim(1);
  const Group group = group_of("magnitude_spectrum", points);
  launch(kernels::magnitude_spectrum, {.x = blocks_for(x.dim(0), group.each)}, kThreads,
         {.x = rows_of(x),
          .window = window.data<const float>(),
          .table = transform_table(points),
          .out = out_rows_of(out),
          .rows = x.dim(0),
          .points = static_cast<int32_t>(points),
          .each = group.each},
         group.shared_bytes);
}

void CudaBackend::log_mel(const Tensor& waveform, const LogMelParams& params, const Tensor& out) {
  constexpr int kThreads = 256;
  constexpr int kWarp = 32;
  const Group group = group_of("log_mel", params.n_fft);
  const int64_t mels = params.filters->dim(0);
  int64_t longest = 0;
  for (const Span& span : params.frames) {
    longest = std::max(longest, span.length);
  }
  const auto utterances = static_cast<int64_t>(params.frames.size());
  const int64_t groups = blocks_for(longest, group.each);
  const BufferRef samples = on_device(params.samples);
  const BufferRef frames = on_device(params.frames);
  const BufferRef ranges = allocate(static_cast<size_t>(mels) * sizeof(simt::BinRange));
  const BufferRef largest = allocate(static_cast<size_t>(utterances * groups) * sizeof(float));
  const simt::MelRangesArgs of_filters{
      .filters = rows_of(*params.filters),
      .ranges = reinterpret_cast<simt::BinRange*>(ranges.get()->data()),
      .bins = static_cast<int32_t>(params.filters->dim(1))};
  const simt::LogMelArgs args{.waveform = waveform.data<const float>(),
                              .samples = spans_at(samples),
                              .frames = spans_at(frames),
                              .table = transform_table(params.n_fft),
                              .filters = of_filters.filters,
                              .ranges = of_filters.ranges,
                              .out = out_rows_of(out),
                              .largest = reinterpret_cast<float*>(largest.get()->data()),
                              .groups = groups,
                              .hop = params.hop,
                              .points = static_cast<int32_t>(params.n_fft),
                              .mels = static_cast<int32_t>(mels),
                              .each = group.each};
  const GridSize grid{.x = groups, .y = utterances};
  launch(kernels::mel_ranges, {.x = mels}, kWarp, of_filters);
  launch(kernels::log_mel, grid, kThreads, args, group.shared_bytes);
  launch(kernels::log_mel_floor, grid, kThreads, args);
}

}  // namespace mynah::cuda
