// What vocoders are made of: a source of sines, short-time Fourier transforms and their inverse.
#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "backend/cuda/cuda_backend_class.h"

namespace mynah::cuda {

namespace {

constexpr int64_t kThreads = 256;

// Utterances of `frames` frames or of `samples` samples, one of which the other is made of.
struct StftSpans {
  std::vector<simt::StftSpan> spans;
  int64_t most_frames = 0;
  int64_t most_samples = 0;
  int64_t frames = 0;

  void add(int64_t samples, int64_t own_frames) {
    const simt::StftSpan before = spans.empty() ? simt::StftSpan{} : spans.back();
    spans.push_back({.samples_begin = before.samples_begin + before.samples,
                     .samples = samples,
                     .frames_begin = before.frames_begin + before.frames,
                     .frames = own_frames});
    most_frames = std::max(most_frames, own_frames);
    most_samples = std::max(most_samples, samples);
    frames += own_frames;
  }
};

}  // namespace

// Periodic Hann, cosines and sines of each n-th of a turn.
const float* CudaBackend::wave_table(int64_t n) {
  const std::lock_guard lock(tables_mutex_);
  BufferRef& table = wave_tables_[n];
  if (table.get() == nullptr) {
    std::vector<float> values;
    for (int64_t i = 0; i < n; ++i) {
      const double angle = 2.0 * std::numbers::pi * static_cast<double>(i) / static_cast<double>(n);
      values.push_back(static_cast<float>(0.5 - 0.5 * std::cos(angle)));
      values.push_back(static_cast<float>(std::cos(angle)));
      values.push_back(static_cast<float>(std::sin(angle)));
    }
    table = kept_on_device(std::as_bytes(std::span(values)));
  }
  return reinterpret_cast<const float*>(table.get()->data());
}

void CudaBackend::sine_source(const Tensor& pitch, const Lengths& lengths,
                              const SineSourceParams& params, const Tensor& out) {
  const int64_t harmonics = params.weights->dim(0);
  std::vector<int32_t> owners;
  for (int64_t u = 0; u < lengths.count(); ++u) {
    owners.insert(owners.end(), static_cast<size_t>(lengths[u].length), static_cast<int32_t>(u));
  }
  const BufferRef utterances = on_device(lengths.spans());
  const BufferRef owners_buffer = on_device(std::span<const int32_t>(owners));
  const BufferRef phases =
      allocate(storage_bytes(DType::F32, std::max<int64_t>(1, lengths.total() * harmonics)));
  const simt::SineSourceArgs args{
      .pitch = rows_of(pitch),
      .utterances = reinterpret_cast<const simt::RowSpan*>(utterances.get()->data()),
      .utterance_of_row = reinterpret_cast<const int32_t*>(owners_buffer.get()->data()),
      .phases = reinterpret_cast<float*>(phases.get()->data()),
      .weights = params.weights->data<const float>(),
      .out = out_rows_of(out),
      .count = lengths.count(),
      .rows = lengths.total(),
      .samples = params.samples,
      .harmonics = static_cast<int32_t>(harmonics),
      .rate = params.rate,
      .amplitude = params.amplitude,
      .voiced = params.voiced,
      .bias = params.bias};
  launch(kernels::sine_phases, {.x = blocks_for(lengths.count() * harmonics, kThreads)}, kThreads,
         args);
  launch(kernels::sine_source, {.x = blocks_for(lengths.total() * params.samples, kThreads)},
         kThreads, args);
}

void CudaBackend::stft(const Tensor& x, const Lengths& lengths, const StftParams& params,
                       const Tensor& out) {
  StftSpans spans;
  for (const Span& span : lengths.spans()) {
    spans.add(span.length, params.frames(span.length));
  }
  const BufferRef utterances = on_device(std::span<const simt::StftSpan>(spans.spans));
  launch(kernels::stft,
         {.x = blocks_for(spans.most_frames * params.bins(), kThreads), .y = lengths.count()},
         kThreads,
         {.samples = x.data<const float>(),
          .out_samples = nullptr,
          .frames = {},
          .out_frames = out_rows_of(out),
          .utterances = reinterpret_cast<const simt::StftSpan*>(utterances.get()->data()),
          .table = wave_table(params.n_fft),
          .hop = params.hop,
          .points = static_cast<int32_t>(params.n_fft),
          .bins = static_cast<int32_t>(params.bins())});
}

void CudaBackend::inverse_stft(const Tensor& x, const Lengths& lengths, const StftParams& params,
                               const Tensor& out) {
  StftSpans spans;
  for (const Span& span : lengths.spans()) {
    spans.add(params.samples(span.length), span.length);
  }
  const BufferRef utterances = on_device(std::span<const simt::StftSpan>(spans.spans));
  const int64_t columns = 2 * params.bins();
  const BufferRef parts = allocate(storage_bytes(DType::F32, spans.frames * columns));
  auto* const parts_data = reinterpret_cast<float*>(parts.get()->data());
  simt::StftArgs args{
      .samples = nullptr,
      .out_samples = out.data<float>(),
      .frames = rows_of(x),
      .out_frames = {.data = parts_data, .stride = columns},
      .utterances = reinterpret_cast<const simt::StftSpan*>(utterances.get()->data()),
      .table = wave_table(params.n_fft),
      .hop = params.hop,
      .points = static_cast<int32_t>(params.n_fft),
      .bins = static_cast<int32_t>(params.bins())};
  launch(kernels::polar_parts,
         {.x = blocks_for(spans.most_frames * params.bins(), kThreads), .y = lengths.count()},
         kThreads, args);
  args.frames = {.data = parts_data, .stride = columns};
  launch(kernels::overlap_add,
         {.x = blocks_for(spans.most_samples, kThreads), .y = lengths.count()}, kThreads, args);
}

}  // namespace mynah::cuda
