// Recurrent operations whose states lie in rows of a tensor.
#include <vector>

#include "backend/cuda/cuda_backend_class.h"

namespace mynah::cuda {

namespace {

static_assert(simt::kConvTaps == kMostTaps);

std::vector<simt::RowSpan> spans_of(const Lengths& lengths) {
  std::vector<simt::RowSpan> spans;
  spans.reserve(static_cast<size_t>(lengths.count()));
  for (const Span& span : lengths.spans()) {
    spans.push_back({.begin = span.begin, .length = span.length});
  }
  return spans;
}

}  // namespace

void CudaBackend::short_conv(const Tensor& x, const Lengths& lengths, const Tensor& w,
                             Activation activation, const Tensor& slots, const Tensor& states,
                             const Tensor& out) {
  constexpr int kThreads = 128;
  const std::vector<simt::RowSpan> spans = spans_of(lengths);
  const BufferRef spans_buffer = on_device(std::span<const simt::RowSpan>(spans));
  launch(kernels::short_conv, {.x = blocks_for(x.dim(1), kThreads), .y = lengths.count()}, kThreads,
         {.x = rows_of(x),
          .weights = w.data<const float>(),
          .states = out_rows_of(states),
          .out = out_rows_of(out),
          .spans = reinterpret_cast<const simt::RowSpan*>(spans_buffer.get()->data()),
          .slots = slots.data<const int32_t>(),
          .columns = x.dim(1),
          .taps = static_cast<int32_t>(w.dim(0)),
          .activation = static_cast<simt::Activation>(activation)});
}

void CudaBackend::delta_rule(const Tensor& q, const Tensor& k, const Tensor& v,
                             const Lengths& lengths, const DeltaRuleParams& params,
                             const Tensor& slots, const Tensor& states, const Tensor& out) {
  constexpr int64_t kWarp = 32;
  const int64_t key_columns = q.dim(1) / params.key_heads;
  const int64_t value_columns = v.dim(1) / params.heads;
  const std::vector<simt::RowSpan> spans = spans_of(lengths);
  const BufferRef spans_buffer = on_device(std::span<const simt::RowSpan>(spans));
  launch(kernels::delta_rule,
         {.x = blocks_for(value_columns, simt::kDeltaColumns),
          .y = params.heads,
          .z = lengths.count()},
         simt::kDeltaParts * kWarp,
         {.q = rows_of(q),
          .k = rows_of(k),
          .v = rows_of(v),
          .gates = rows_of(*params.gates),
          .betas = rows_of(*params.betas),
          .states = out_rows_of(states),
          .out = out_rows_of(out),
          .spans = reinterpret_cast<const simt::RowSpan*>(spans_buffer.get()->data()),
          .slots = slots.data<const int32_t>(),
          .key_heads = static_cast<int32_t>(params.key_heads),
          .key_columns = static_cast<int32_t>(key_columns),
          .value_columns = static_cast<int32_t>(value_columns)},
         storage_bytes(DType::F32, key_columns * simt::kDeltaColumns));
}

}  // namespace mynah::cuda
