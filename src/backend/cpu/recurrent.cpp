// LSTM: the inputs of all steps in one product, then the recurrent part step by step.
#include <algorithm>
#include <cstring>
#include <vector>

#include "backend/cpu/cpu_backend_class.h"
#include "backend/cpu/packed.h"

namespace mynah::cpu {

void CpuBackend::lstm(const Tensor& x, const Lengths& lengths, const LinearWeight& w_ih,
                      const LinearWeight& w_hh, const Tensor& bias, const LstmParams& params,
                      const Tensor& h, const Tensor& c, const Tensor& out) {
  const int64_t hidden = w_hh.in_features;
  const int64_t gates = 4 * hidden;
  const Scratch<float> inputs(memory_, lengths.total() * gates);
  product({x.data<float>(), x.stride(0), x.dim(0)}, w_ih, Precision::Exact,
          {.data = inputs.data(), .stride = gates, .bias = bias.data<float>()});
  const PackedView view(w_hh);
  const bool widen = w_hh.dtype != DType::F32;
  const int64_t panel_floats = hidden * kPanel;
  const Scratch<float> wide(memory_, widen ? (view.panels() * panel_floats) + 3 * kPanel : 1);
  for (int64_t p = 0; widen && p < view.panels(); ++p) {
    widen_panel(kernels_, w_hh, p, wide.data() + p * panel_floats);
  }
  const auto* recurrent = widen ? wide.data() : reinterpret_cast<const float*>(view.panel(0));

  // Utterances go in groups that share each step's pass over the recurrent weights. Which group an
  // utterance is in changes nothing: its row of the product is its own.
  constexpr int64_t kGroup = 12;
  const int64_t groups = (lengths.count() + kGroup - 1) / kGroup;
  pool_.parallel_for(groups, 1, [&](int64_t begin, int64_t end) {
    const Scratch<float> states(memory_, kGroup * hidden);
    const Scratch<int32_t> at(memory_, hidden);
    const Scratch<float> sums(memory_, kGroup * view.panels() * kPanel);
    for (int64_t g = begin; g < end; ++g) {
      const int64_t first = g * kGroup;
      const int64_t last = std::min(first + kGroup, lengths.count());
      int64_t steps = 0;
      for (int64_t u = first; u < last; ++u) {
        steps = std::max(steps, lengths[u].length);
      }
      for (int64_t t = 0; t < steps; ++t) {
        int64_t active[kGroup];
        int64_t count = 0;
        for (int64_t u = first; u < last; ++u) {
          if (t < lengths[u].length) {
            active[count] = u;
            std::memcpy(states.data() + count * hidden, h.data<float>() + u * h.stride(0),
                        static_cast<size_t>(hidden) * sizeof(float));
            ++count;
          }
        }
        const int64_t width = view.panels() * kPanel;
        if (count == 1) {
          kernels_.matvec_f32(states.data(), at.data(),
                              kernels_.nonzeros(states.data(), hidden, at.data()), recurrent,
                              panel_floats, view.panels(), sums.data());
        }
        for (int64_t p = 0; count > 1 && p < view.panels(); ++p) {
          kernels_.gemm_f32(states.data(), hidden, count, hidden, recurrent + p * panel_floats,
                            sums.data() + p * kPanel, width);
        }
        for (int64_t i = 0; i < count; ++i) {
          const Span& span = lengths[active[i]];
          const int64_t row = span.begin + (params.reverse ? span.length - 1 - t : t);
          float* step = inputs.data() + row * gates;
          kernels_.binary(BinaryOp::Add, step, sums.data() + i * width, 1, gates, step);
          float* state = h.data<float>() + active[i] * h.stride(0);
          kernels_.lstm_cell(step, hidden, c.data<float>() + active[i] * c.stride(0), state);
          std::memcpy(out.data<float>() + row * out.stride(0), state,
                      static_cast<size_t>(hidden) * sizeof(float));
        }
      }
    }
  });
}

}  // namespace mynah::cpu
