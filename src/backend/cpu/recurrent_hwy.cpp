// Causal convolutions of few taps, and the gated delta rule: columns of a head's state never meet,
// so some at a time stay in the first-level cache while all rows of an utterance pass over them.
#include "backend/cpu/cpu_backend_class.h"
#include "backend/cpu/kernel_parts.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backend/cpu/recurrent_hwy.cpp"
#include <algorithm>
#include <cmath>
#include <cstring>

#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "backend/cpu/math-inl.h"

HWY_BEFORE_NAMESPACE();

namespace mynah::cpu::HWY_NAMESPACE {
namespace {

constexpr auto kLanes = static_cast<int64_t>(hn::MaxLanes(F()));
constexpr int64_t kVectors = kDeltaColumns / kLanes;
// Sums under way of each column: an addition waits some cycles for the one before.
constexpr int64_t kSums = 8 / kVectors;

// Numbers of the columns at hand, zeros after the last one.
HWY_INLINE void load_columns(const float* x, int64_t columns, V (&values)[kVectors]) {
  HWY_ALIGN float padded[kDeltaColumns] = {};
  if (columns < kDeltaColumns) {
    std::memcpy(padded, x, static_cast<size_t>(columns) * sizeof(float));
    x = padded;
  }
  for (int64_t v = 0; v < kVectors; ++v) {
    values[v] = hn::LoadU(F(), x + v * kLanes);
  }
}

HWY_INLINE void store_columns(const V (&values)[kVectors], int64_t columns, float* out) {
  HWY_ALIGN float padded[kDeltaColumns];
  float* const to = columns < kDeltaColumns ? padded : out;
  for (int64_t v = 0; v < kVectors; ++v) {
    hn::StoreU(values[v], F(), to + v * kLanes);
  }
  if (columns < kDeltaColumns) {
    std::memcpy(out, padded, static_cast<size_t>(columns) * sizeof(float));
  }
}

// Sums over rows j of a state, to which add(j, sums) adds, several of each column under way.
template <class Add>
HWY_INLINE void over_rows(int64_t rows, V (&sums)[kVectors], const Add& add) {
  V parts[kSums][kVectors];
  for (auto& part : parts) {
    for (V& value : part) {
      value = hn::Zero(F());
    }
  }
  int64_t j = 0;
  for (; j + kSums <= rows; j += kSums) {
    for (int64_t s = 0; s < kSums; ++s) {
      add(j + s, parts[s]);
    }
  }
  for (; j < rows; ++j) {
    add(j, parts[0]);
  }
  for (int64_t v = 0; v < kVectors; ++v) {
    sums[v] = parts[0][v];
    for (int64_t s = 1; s < kSums; ++s) {
      sums[v] = hn::Add(sums[v], parts[s][v]);
    }
  }
}

void short_conv(const float* const* rows, const float* w, int64_t taps, int64_t n,
                Activation activation, float* out) {
  with_activation(activation, [&](const auto& activate) HWY_ATTR {
    const F f;
    int64_t c = 0;
    for (; c + kLanes <= n; c += kLanes) {
      V sum = hn::Mul(hn::LoadU(f, rows[0] + c), hn::LoadU(f, w + c));
      for (int64_t j = 1; j < taps; ++j) {
        sum = hn::MulAdd(hn::LoadU(f, rows[j] + c), hn::LoadU(f, w + j * n + c), sum);
      }
      hn::StoreU(activate(sum), f, out + c);
    }
    if (c == n) {
      return;
    }
    HWY_ALIGN float sums[kLanes] = {};
    for (int64_t i = c; i < n; ++i) {
      for (int64_t j = 0; j < taps; ++j) {
        sums[i - c] += rows[j][i] * w[j * n + i];
      }
    }
    hn::Store(activate(hn::Load(f, sums)), f, sums);
    std::memcpy(out + c, sums, static_cast<size_t>(n - c) * sizeof(float));
  });
}

void delta_rule(const DeltaRows& rows, float* state, int64_t stride) {
  const F f;
  for (int64_t i = 0; i < rows.count; ++i) {
    const float* const k = rows.k + i * rows.k_stride;
    const float* const q = rows.q + i * rows.q_stride;
    const V decay = hn::Set(f, std::exp(rows.gates[i * rows.gate_stride]));
    const V beta = hn::Set(f, rows.betas[i * rows.beta_stride]);
    V known[kVectors];
    over_rows(rows.key_columns, known, [&](int64_t j, V(&sums)[kVectors]) HWY_ATTR {
      const V key = hn::Set(f, k[j]);
      for (int64_t v = 0; v < kVectors; ++v) {
        sums[v] = hn::MulAdd(key, hn::LoadU(f, state + j * stride + v * kLanes), sums[v]);
      }
    });
    V more[kVectors];
    load_columns(rows.v + i * rows.v_stride, rows.columns, more);
    for (int64_t v = 0; v < kVectors; ++v) {
      more[v] = hn::Mul(beta, hn::NegMulAdd(decay, known[v], more[v]));
    }
    V results[kVectors];
    over_rows(rows.key_columns, results, [&](int64_t j, V(&sums)[kVectors]) HWY_ATTR {
      const V key = hn::Set(f, k[j]);
      const V query = hn::Set(f, q[j]);
      for (int64_t v = 0; v < kVectors; ++v) {
        float* const at = state + j * stride + v * kLanes;
        const V next = hn::MulAdd(key, more[v], hn::Mul(decay, hn::LoadU(f, at)));
        hn::StoreU(next, f, at);
        sums[v] = hn::MulAdd(query, next, sums[v]);
      }
    });
    store_columns(results, rows.columns, rows.out + i * rows.out_stride);
  }
}

}  // namespace

void fill_recurrent(Kernels& kernels) {
  kernels.short_conv = short_conv;
  kernels.delta_rule = delta_rule;
}

}  // namespace mynah::cpu::HWY_NAMESPACE

HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mynah::cpu {

void CpuBackend::short_conv(const Tensor& x, const Lengths& lengths, const Tensor& w,
                            Activation activation, const Tensor& slots, const Tensor& states,
                            const Tensor& out) {
  const int64_t d = x.dim(1);
  const int64_t taps = w.dim(0);
  const int64_t before = taps - 1;
  for (int64_t u = 0; u < lengths.count(); ++u) {
    const Span& span = lengths[u];
    float* const state = writable_row(states, slots.data<int32_t>()[u]);
    // Row i of the utterance, or one before it.
    const auto row = [&](int64_t i) {
      return i < 0 ? state + (before + i) * d : row_of(x, span.begin + i);
    };
    for_rows(span.length, d * (taps + kCostlyElement), [&](int64_t i) {
      const float* rows[kMostTaps];
      for (int64_t j = 0; j < taps; ++j) {
        rows[j] = row(i - before + j);
      }
      kernels_.short_conv(rows, w.data<float>(), taps, d, activation,
                          writable_row(out, span.begin + i));
    });
    // What is still read of the state lies behind what is written.
    for (int64_t j = 0; j < before && span.length > 0; ++j) {
      std::memcpy(state + j * d, row(span.length - before + j),
                  static_cast<size_t>(d) * sizeof(float));
    }
  }
}

void CpuBackend::delta_rule(const Tensor& q, const Tensor& k, const Tensor& v,
                            const Lengths& lengths, const DeltaRuleParams& params,
                            const Tensor& slots, const Tensor& states, const Tensor& out) {
  const int64_t dk = q.dim(1) / params.key_heads;
  const int64_t dv = v.dim(1) / params.heads;
  const int64_t tiles = (dv + kDeltaColumns - 1) / kDeltaColumns;
  // A part: an utterance's head, and some columns of it.
  const auto run = [&](int64_t part, float* own) {
    const Span& span = lengths[part / tiles / params.heads];
    const int64_t head = part / tiles % params.heads;
    const int64_t column = part % tiles * kDeltaColumns;
    const int64_t key = head % params.key_heads * dk;
    const int64_t columns = std::min(kDeltaColumns, dv - column);
    const int64_t i = span.begin;
    const DeltaRows rows{.q = row_of(q, i) + key,
                         .k = row_of(k, i) + key,
                         .v = row_of(v, i) + head * dv + column,
                         .gates = row_of(*params.gates, i) + head,
                         .betas = row_of(*params.betas, i) + head,
                         .out = writable_row(out, i) + head * dv + column,
                         .q_stride = q.stride(0),
                         .k_stride = k.stride(0),
                         .v_stride = v.stride(0),
                         .gate_stride = params.gates->stride(0),
                         .beta_stride = params.betas->stride(0),
                         .out_stride = out.stride(0),
                         .count = span.length,
                         .key_columns = dk,
                         .columns = columns};
    const int64_t slot = slots.data<int32_t>()[part / tiles / params.heads];
    float* const state = writable_row(states, slot) + head * dk * dv + column;
    if (columns == kDeltaColumns && span.length == 1) {
      kernels_.delta_rule(rows, state, dv);
      return;
    }
    // Side by side: rows of a state far apart push each other out of the cache.
    const auto bytes = static_cast<size_t>(columns) * sizeof(float);
    for (int64_t j = 0; j < dk; ++j) {
      std::memset(own + j * kDeltaColumns, 0, kDeltaColumns * sizeof(float));
      std::memcpy(own + j * kDeltaColumns, state + j * dv, bytes);
    }
    kernels_.delta_rule(rows, own, kDeltaColumns);
    for (int64_t j = 0; j < dk; ++j) {
      std::memcpy(state + j * dv, own + j * kDeltaColumns, bytes);
    }
  };
  const int64_t parts = lengths.count() * params.heads * tiles;
  constexpr int64_t kProducts = 6;  // of an element of a state and a row
  const bool serial = out.dim(0) * params.heads * dk * dv * kProducts < kSerialWork;
  pool_.parallel_for(parts, serial ? parts : 1, [&](int64_t begin, int64_t end) {
    const Scratch<float> own(memory_, dk * kDeltaColumns);
    for (int64_t part = begin; part < end; ++part) {
      run(part, own.data());
    }
  });
}

void add_recurrent_kernels(Isa isa, Kernels& kernels) {
  MYNAH_FILL_FOR(isa, fill_recurrent, kernels);
}

}  // namespace mynah::cpu
#endif
