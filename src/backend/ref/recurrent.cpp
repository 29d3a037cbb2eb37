// LSTM (Hochreiter & Schmidhuber 1997, with a forget gate; gates in PyTorch's order i, f, g, o),
// and what keeps states in rows of a tensor.
#include <algorithm>
#include <cmath>
#include <vector>

#include "backend/ref/access.h"
#include "backend/ref/ref_backend.h"

namespace mynah {

using ref::row;
using ref::weight_row;

namespace {

double dot(const float* a, const float* b, int64_t n) {
  double sum = 0.0;
  for (int64_t k = 0; k < n; ++k) {
    sum += static_cast<double>(a[k]) * b[k];
  }
  return sum;
}

// One step of one utterance: h and c are overwritten.
void step(const float* x, const LinearWeight& w_ih, const LinearWeight& w_hh, const float* bias,
          float* h, float* c) {
  const int64_t hidden = w_hh.in_features;
  std::vector<double> gates(static_cast<size_t>(4 * hidden));
  for (int64_t j = 0; j < 4 * hidden; ++j) {
    gates[static_cast<size_t>(j)] = dot(x, weight_row(w_ih, j), w_ih.in_features) +
                                    dot(h, weight_row(w_hh, j), hidden) + bias[j];
  }
  const auto sigmoid = [](double value) { return 1.0 / (1.0 + std::exp(-value)); };
  for (int64_t j = 0; j < hidden; ++j) {
    const auto gate = [&](int64_t which) { return gates[static_cast<size_t>(which * hidden + j)]; };
    const double cell = sigmoid(gate(1)) * c[j] + sigmoid(gate(0)) * std::tanh(gate(2));
    c[j] = static_cast<float>(cell);
    h[j] = static_cast<float>(sigmoid(gate(3)) * std::tanh(cell));
  }
}

}  // namespace

void RefBackend::lstm(const Tensor& x, const Lengths& lengths, const LinearWeight& w_ih,
                      const LinearWeight& w_hh, const Tensor& bias, const LstmParams& params,
                      const Tensor& h, const Tensor& c, const Tensor& out) {
  for (int64_t u = 0; u < lengths.count(); ++u) {
    const Span span = lengths[u];
    for (int64_t t = 0; t < span.length; ++t) {
      const int64_t i = params.reverse ? span.end() - 1 - t : span.begin + t;
      step(row(x, i), w_ih, w_hh, row(bias, 0), row(h, u), row(c, u));
      std::copy_n(row(h, u), w_hh.in_features, row(out, i));
    }
  }
}

void RefBackend::short_conv(const Tensor& x, const Lengths& lengths, const Tensor& w,
                            Activation activation, const Tensor& slots, const Tensor& states,
                            const Tensor& out) {
  const int64_t d = x.dim(1);
  const int64_t before = w.dim(0) - 1;
  for (int64_t u = 0; u < lengths.count(); ++u) {
    float* const state = row(states, slots.data<int32_t>()[u]);
    for (int64_t i = lengths[u].begin; i < lengths[u].end(); ++i) {
      for (int64_t c = 0; c < d; ++c) {
        double sum = static_cast<double>(row(w, before)[c]) * row(x, i)[c];
        for (int64_t j = 0; j < before; ++j) {
          sum += static_cast<double>(row(w, j)[c]) * state[j * d + c];
        }
        row(out, i)[c] = static_cast<float>(ref::activate(activation, sum));
      }
      std::copy(state + d, state + before * d, state);
      std::copy_n(row(x, i), d, state + (before - 1) * d);
    }
  }
}

void RefBackend::delta_rule(const Tensor& q, const Tensor& k, const Tensor& v,
                            const Lengths& lengths, const DeltaRuleParams& params,
                            const Tensor& slots, const Tensor& states, const Tensor& out) {
  const int64_t dk = q.dim(1) / params.key_heads;
  const int64_t dv = v.dim(1) / params.heads;
  for (int64_t u = 0; u < lengths.count(); ++u) {
    for (int64_t n = 0; n < params.heads * dv; ++n) {  // of each head, each column of a value
      const int64_t head = n / dv;
      const int64_t key = head % params.key_heads * dk;
      float* const state = row(states, slots.data<int32_t>()[u]) + head * dk * dv + n % dv;
      std::vector<double> s(static_cast<size_t>(dk));
      for (int64_t j = 0; j < dk; ++j) {
        s[static_cast<size_t>(j)] = state[j * dv];
      }
      for (int64_t i = lengths[u].begin; i < lengths[u].end(); ++i) {
        const double decay = std::exp(static_cast<double>(row(*params.gates, i)[head]));
        double known = 0;
        for (int64_t j = 0; j < dk; ++j) {
          s[static_cast<size_t>(j)] *= decay;
          known += s[static_cast<size_t>(j)] * row(k, i)[key + j];
        }
        const double more = row(*params.betas, i)[head] * (row(v, i)[n] - known);
        double result = 0;
        for (int64_t j = 0; j < dk; ++j) {
          s[static_cast<size_t>(j)] += row(k, i)[key + j] * more;
          result += s[static_cast<size_t>(j)] * row(q, i)[key + j];
        }
        row(out, i)[n] = static_cast<float>(result);
      }
      for (int64_t j = 0; j < dk; ++j) {
        state[j * dv] = static_cast<float>(s[static_cast<size_t>(j)]);
      }
    }
  }
}

}  // namespace mynah
