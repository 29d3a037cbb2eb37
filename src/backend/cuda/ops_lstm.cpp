// LSTM.
#include <algorithm>
#include <array>
#include <vector>

#include "backend/cuda/cuda_backend_class.h"
#include "backend/cuda/packed.h"
#include "base/check.h"

namespace mynah::cuda {

namespace {

Kernel<simt::LstmArgs> kernel_for(DType dtype) {
  struct Entry {
    DType dtype;
    Kernel<simt::LstmArgs> kernel;
  };

  static constexpr auto kTable = std::to_array<Entry>({
      {DType::F32, kernels::lstm_f32},
      {DType::F16, kernels::lstm_f16},
      {DType::BF16, kernels::lstm_bf16},
      {DType::I8, kernels::lstm_i8},
      {DType::Q4_0, kernels::lstm_q4_0},
      {DType::Q4_1, kernels::lstm_q4_1},
      {DType::Q5_0, kernels::lstm_q5_0},
      {DType::Q5_1, kernels::lstm_q5_1},
      {DType::Q8_0, kernels::lstm_q8_0},
      {DType::Q2_K, kernels::lstm_q2_k},
      {DType::Q3_K, kernels::lstm_q3_k},
      {DType::Q4_K, kernels::lstm_q4_k},
      {DType::Q5_K, kernels::lstm_q5_k},
      {DType::Q6_K, kernels::lstm_q6_k},
      {DType::IQ4_NL, kernels::lstm_iq4_nl},
      {DType::IQ4_XS, kernels::lstm_iq4_xs},
      {DType::MXFP4, kernels::lstm_mxfp4},
  });
  const auto* const found = std::ranges::find(kTable, dtype, &Entry::dtype);
  MYNAH_CHECK(found != kTable.end(), "[lstm] weights of type ", name(dtype));
  return found->kernel;
}

// Up to so many bytes of weights one processor reads in about the time that a launch takes (some 60
// bytes a clock from the second cache), so that one block takes all steps of an utterance; with
// more, a launch a step shares them out.
constexpr size_t kMostBytesOfABlock = 256 << 10;

}  // namespace

void CudaBackend::lstm(const Tensor& x, const Lengths& lengths, const LinearWeight& w_ih,
                       const LinearWeight& w_hh, const Tensor& bias, const LstmParams& params,
                       const Tensor& h, const Tensor& c, const Tensor& out) {
  constexpr int64_t kGates = 4;
  constexpr int64_t kWarp = 32;
  const int64_t hidden = w_hh.in_features;
  const int64_t rows = x.dim(0);
  const Tensor inputs(allocate(storage_bytes(DType::F32, rows * kGates * hidden)), 0,
                      {rows, kGates * hidden}, DType::F32, device());
  linear(x, w_ih, {.bias = &bias}, inputs);

  std::vector<simt::RowSpan> spans;
  int64_t longest = 0;
  for (const Span& span : lengths.spans()) {
    spans.push_back({.begin = span.begin, .length = span.length});
    longest = std::max(longest, span.length);
  }
  const BufferRef spans_buffer = on_device(std::span<const simt::RowSpan>(spans));
  const bool alone = w_hh.data.elements() <= static_cast<int64_t>(kMostBytesOfABlock);
  Tensor first_h = h;
  if (!alone) {
    // One block's last step may come before another's first.
    first_h = Tensor(allocate(storage_bytes(DType::F32, h.elements())), 0, h.shape(), DType::F32,
                     device());
    copy(h, first_h);
  }
  simt::LstmArgs args{.weights = weights_of(w_hh),
                      .inputs = inputs.data<const float>(),
                      .spans = reinterpret_cast<const simt::RowSpan*>(spans_buffer.get()->data()),
                      .first_h = first_h.data<const float>(),
                      .first_h_stride = first_h.stride(0),
                      .h = out_rows_of(h),
                      .c = out_rows_of(c),
                      .out = out_rows_of(out),
                      .hidden = static_cast<int32_t>(hidden),
                      .units = static_cast<int32_t>(alone ? hidden : simt::kLstmUnits),
                      .first_step = 0,
                      .steps = static_cast<int32_t>(alone ? longest : 1),
                      .reverse = params.reverse ? 1 : 0};
  // A warp a panel of a gate, as far as there are threads.
  const int64_t panels = kGates * blocks_for(args.units, simt::kLstmUnits);
  const int threads = static_cast<int>(std::min<int64_t>(panels * kWarp, simt::kLstmThreads));
  const int64_t floats = simt::lstm_state_floats(args.weights.chunks) + (kGates + 1) * args.units;
  const int64_t blocks = lengths.count() * blocks_for(hidden, args.units);
  for (int64_t step = 0; step < longest; step += args.steps) {
    args.first_step = static_cast<int32_t>(step);
    launch(kernel_for(w_hh.dtype), {.x = blocks}, threads, args, storage_bytes(DType::F32, floats));
  }
}

}  // namespace mynah::cuda
