// Kernels that go along one row: norms, sums, exponentials, elementwise operations.
#include "backend/cpu/cpu_backend_class.h"
#include "backend/cpu/kernel_parts.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backend/cpu/rows_hwy.cpp"
#include <cmath>
#include <cstring>
#include <limits>

#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "backend/cpu/math-inl.h"

HWY_BEFORE_NAMESPACE();

namespace mynah::cpu::HWY_NAMESPACE {
namespace {

int64_t lane_count() {
  return static_cast<int64_t>(hn::Lanes(F()));
}

// Reads up to a vector; lanes past `count` hold `fill`.
HWY_INLINE V load_some(const float* x, int64_t count, float fill) {
  HWY_ALIGN float lanes[hn::MaxLanes(F())];
  for (auto& lane : lanes) {
    lane = fill;
  }
  std::memcpy(lanes, x, static_cast<size_t>(count) * sizeof(float));
  return hn::Load(F(), lanes);
}

HWY_INLINE void store_some(V v, int64_t count, float* out) {
  HWY_ALIGN float lanes[hn::MaxLanes(F())];
  hn::Store(v, F(), lanes);
  std::memcpy(out, lanes, static_cast<size_t>(count) * sizeof(float));
}

// out[i] = fn(x[i]), vector by vector.
template <class Fn>
HWY_INLINE void map(const float* x, int64_t n, float* out, const Fn& fn) {
  const int64_t lanes = lane_count();
  int64_t c = 0;
  for (; c + lanes <= n; c += lanes) {
    hn::StoreU(fn(hn::LoadU(F(), x + c)), F(), out + c);
  }
  if (c < n) {
    store_some(fn(load_some(x + c, n - c, 0.0F)), n - c, out + c);
  }
}

float sum(const float* x, int64_t n) {
  const F f;
  const int64_t lanes = lane_count();
  V s0 = hn::Zero(f);
  V s1 = hn::Zero(f);
  int64_t c = 0;
  for (; c + 2 * lanes <= n; c += 2 * lanes) {
    s0 = hn::Add(s0, hn::LoadU(f, x + c));
    s1 = hn::Add(s1, hn::LoadU(f, x + c + lanes));
  }
  for (; c < n; c += lanes) {
    s0 = hn::Add(s0, load_some(x + c, std::min(lanes, n - c), 0.0F));
  }
  return hn::GetLane(hn::SumOfLanes(f, hn::Add(s0, s1)));
}

// Sum of (x - mean)^2.
HWY_INLINE float squares(const float* x, int64_t n, float mean) {
  const F f;
  const int64_t lanes = lane_count();
  const V m = hn::Set(f, mean);
  V s0 = hn::Zero(f);
  V s1 = hn::Zero(f);
  int64_t c = 0;
  for (; c + 2 * lanes <= n; c += 2 * lanes) {
    const V d0 = hn::Sub(hn::LoadU(f, x + c), m);
    const V d1 = hn::Sub(hn::LoadU(f, x + c + lanes), m);
    s0 = hn::MulAdd(d0, d0, s0);
    s1 = hn::MulAdd(d1, d1, s1);
  }
  for (; c < n; c += lanes) {
    const V d = hn::Sub(load_some(x + c, std::min(lanes, n - c), mean), m);
    s0 = hn::MulAdd(d, d, s0);
  }
  return hn::GetLane(hn::SumOfLanes(f, hn::Add(s0, s1)));
}

// out = (x - mean) * scale * gamma + beta; beta may be null.
HWY_INLINE void normalize(const float* x, int64_t n, float mean, float scale, const float* gamma,
                          const float* beta, float* out) {
  const F f;
  const int64_t lanes = lane_count();
  const V m = hn::Set(f, mean);
  const V s = hn::Set(f, scale);
  const auto at = [&](V value, V g, V b)
                      HWY_ATTR { return hn::MulAdd(hn::Mul(hn::Sub(value, m), s), g, b); };
  int64_t c = 0;
  for (; c + lanes <= n; c += lanes) {
    const V b = beta == nullptr ? hn::Zero(f) : hn::LoadU(f, beta + c);
    hn::StoreU(at(hn::LoadU(f, x + c), hn::LoadU(f, gamma + c), b), f, out + c);
  }
  if (c < n) {
    const V b = beta == nullptr ? hn::Zero(f) : load_some(beta + c, n - c, 0.0F);
    store_some(at(load_some(x + c, n - c, 0.0F), load_some(gamma + c, n - c, 0.0F), b), n - c,
               out + c);
  }
}

void layer_norm(const float* x, const float* gamma, const float* beta, float eps, int64_t n,
                float* out) {
  const auto count = static_cast<float>(n);
  const float mean = sum(x, n) / count;
  const float variance = squares(x, n, mean) / count;
  normalize(x, n, mean, 1.0F / std::sqrt(variance + eps), gamma, beta, out);
}

void rms_norm(const float* x, const float* gamma, float eps, int64_t n, float* out) {
  const float mean_square = squares(x, n, 0.0F) / static_cast<float>(n);
  normalize(x, n, 0.0F, 1.0F / std::sqrt(mean_square + eps), gamma, nullptr, out);
}

float max(const float* x, int64_t n) {
  const F f;
  const int64_t lanes = lane_count();
  constexpr float kLowest = -std::numeric_limits<float>::infinity();
  V best = hn::Set(f, kLowest);
  int64_t c = 0;
  for (; c + lanes <= n; c += lanes) {
    best = hn::Max(best, hn::LoadU(f, x + c));
  }
  if (c < n) {
    best = hn::Max(best, load_some(x + c, n - c, kLowest));
  }
  return hn::GetLane(hn::MaxOfLanes(f, best));
}

float exp_sum(const float* x, int64_t n, float shift, float* out) {
  const F f;
  const int64_t lanes = lane_count();
  const V s = hn::Set(f, shift);
  V total = hn::Zero(f);
  int64_t c = 0;
  for (; c + lanes <= n; c += lanes) {
    const V e = exp(hn::Sub(hn::LoadU(f, x + c), s));
    total = hn::Add(total, e);
    hn::StoreU(e, f, out + c);
  }
  if (c < n) {
    const V e = exp(hn::Sub(load_some(x + c, n - c, -std::numeric_limits<float>::infinity()), s));
    total = hn::Add(total, e);
    store_some(e, n - c, out + c);
  }
  return hn::GetLane(hn::SumOfLanes(f, total));
}

// kWeightCode e^x for x <= 0 within 7.5e-5 of its magnitude, as 2^t for t = x log2(e): whole part
// by the exponent, the rest in [-0.5, 0.5] by the cubic of least relative error, its coefficients
// times kWeightCode; below 2^-100 that. Whole numbers come by adding 1.5 2^23, which leaves them in
// the sum's last bits.
HWY_INLINE V coarse_exp_codes(V t) {
  const F f;
  const hn::RebindToSigned<F> i32;
  const V rounder = hn::Set(f, 0x1.8p23F);
  // Large scores leave their rounding in t. This order lets NaN through.
  t = hn::Min(hn::Zero(f), hn::Max(hn::Set(f, -100.0F), t));
  const V sum = hn::Add(t, rounder);
  const V r = hn::Sub(t, hn::Sub(sum, rounder));
  V p = hn::Set(f, kWeightCode * 0.05517116F);
  p = hn::MulAdd(p, r, hn::Set(f, kWeightCode * 0.2426109F));
  p = hn::MulAdd(p, r, hn::Set(f, kWeightCode * 0.69326104F));
  p = hn::MulAdd(p, r, hn::Set(f, kWeightCode * 0.99992809F));
  const auto exponent = hn::ShiftLeft<23>(hn::BitCast(i32, sum));
  return hn::BitCast(f, hn::Add(hn::BitCast(i32, p), exponent));
}

float exp_codes(const float* x, int64_t n, float shift, uint8_t* out) {
  constexpr float kLog2e = 1.44269504F;
  const F f;
  const hn::RebindToUnsigned<F> u32;
  const hn::Rebind<uint8_t, F> u8;
  const int64_t lanes = lane_count();
  const V scale = hn::Set(f, kLog2e);
  const V offset = hn::Set(f, -shift * kLog2e);
  const V rounder = hn::Set(f, 0x1p23F);
  V total = hn::Zero(f);
  const auto codes = [&](V e) HWY_ATTR {
    return hn::TruncateTo(u8, hn::BitCast(u32, hn::Add(e, rounder)));
  };
  int64_t c = 0;
  for (; c + lanes <= n; c += lanes) {
    const V e = coarse_exp_codes(hn::MulAdd(hn::LoadU(f, x + c), scale, offset));
    total = hn::Add(total, e);
    hn::StoreU(codes(e), u8, out + c);
  }
  if (c < n) {
    const V rest = load_some(x + c, n - c, -std::numeric_limits<float>::infinity());
    const V e = coarse_exp_codes(hn::MulAdd(rest, scale, offset));
    total = hn::Add(total, e);
    HWY_ALIGN uint8_t bytes[hn::MaxLanes(F())];
    hn::Store(codes(e), u8, bytes);
    std::memcpy(out + c, bytes, static_cast<size_t>(n - c));
  }
  return hn::GetLane(hn::SumOfLanes(f, total)) / kWeightCode;
}

void affine(const float* x, int64_t n, float a, float b, float* out) {
  const V va = hn::Set(F(), a);
  const V vb = hn::Set(F(), b);
  map(x, n, out, [&](V v) HWY_ATTR { return hn::MulAdd(va, v, vb); });
}

void leaky_relu(const float* x, int64_t n, float slope, float* out) {
  const V s = hn::Set(F(), slope);
  map(x, n, out,
      [&](V v) HWY_ATTR { return hn::IfThenElse(hn::Lt(v, hn::Zero(F())), hn::Mul(s, v), v); });
}

// x + mask, where NaN counts as -infinity; lanes past `count` too.
HWY_INLINE V masked(const float* x, const float* mask, int64_t count) {
  const F f;
  constexpr float kLowest = -std::numeric_limits<float>::infinity();
  const bool whole = count >= lane_count();
  V v = whole ? hn::LoadU(f, x) : load_some(x, count, kLowest);
  if (mask != nullptr) {
    v = hn::Add(v, whole ? hn::LoadU(f, mask) : load_some(mask, count, 0.0F));
  }
  return hn::IfThenElse(hn::Eq(v, v), v, hn::Set(f, kLowest));
}

float masked_exp_sum(const float* x, const float* mask, int64_t n, float shift, float a) {
  const F f;
  const int64_t lanes = lane_count();
  const V s = hn::Set(f, shift);
  const V va = hn::Set(f, a);
  V total = hn::Zero(f);
  for (int64_t c = 0; c < n; c += lanes) {
    const V v = masked(x + c, mask == nullptr ? nullptr : mask + c, n - c);
    total = hn::Add(total, exp_of_nonpositive(hn::Mul(va, hn::Sub(v, s))));
  }
  return hn::GetLane(hn::SumOfLanes(f, total));
}

float masked_max(const float* x, const float* mask, int64_t n, int64_t* index) {
  const F f;
  const int64_t lanes = lane_count();
  const auto at = [&](int64_t c) HWY_ATTR {
    return masked(x + c, mask == nullptr ? nullptr : mask + c, n - c);
  };
  // Four at a time: a maximum waits some cycles for the one before.
  const V lowest = hn::Set(f, -std::numeric_limits<float>::infinity());
  V best[4] = {lowest, lowest, lowest, lowest};
  int64_t begin = 0;
  for (; begin + 4 * lanes <= n; begin += 4 * lanes) {
    for (int64_t i = 0; i < 4; ++i) {
      best[i] = hn::Max(best[i], at(begin + i * lanes));
    }
  }
  for (; begin < n; begin += lanes) {
    best[0] = hn::Max(best[0], at(begin));
  }
  const V target = hn::MaxOfLanes(f, hn::Max(hn::Max(best[0], best[1]), hn::Max(best[2], best[3])));
  if (index == nullptr) {
    return hn::GetLane(target);
  }
  // The lowest index that reaches it: a second pass, because an index a lane would cost the first
  // more than this.
  *index = 0;
  for (int64_t c = 0; c < n; c += lanes) {
    const auto first = hn::FindFirstTrue(f, hn::Eq(at(c), target));
    if (first >= 0) {
      *index = c + static_cast<int64_t>(first);
      break;
    }
  }
  return hn::GetLane(target);
}

void unary(UnaryOp op, const float* x, int64_t n, float* out) {
  switch (op) {
    case UnaryOp::Relu:
      return map(x, n, out, [](V v) HWY_ATTR { return hn::Max(hn::Zero(F()), v); });
    case UnaryOp::Gelu:
      return map(x, n, out, [](V v) HWY_ATTR { return gelu(v); });
    case UnaryOp::GeluTanh:
      return map(x, n, out, [](V v) HWY_ATTR { return gelu_tanh(v); });
    case UnaryOp::Silu:
      return map(x, n, out, [](V v) HWY_ATTR { return hn::Mul(v, sigmoid(v)); });
    case UnaryOp::Sigmoid:
      return map(x, n, out, [](V v) HWY_ATTR { return sigmoid(v); });
    case UnaryOp::Tanh:
      return map(x, n, out, [](V v) HWY_ATTR { return tanh(v); });
    case UnaryOp::Exp:
      return map(x, n, out, [](V v) HWY_ATTR { return exp(v); });
    case UnaryOp::Log:
      return map(x, n, out, [](V v) HWY_ATTR { return log(v); });
    case UnaryOp::Sqrt:
      return map(x, n, out, [](V v) HWY_ATTR { return hn::Sqrt(v); });
    case UnaryOp::Negate:
      return map(x, n, out, [](V v) HWY_ATTR { return hn::Neg(v); });
    case UnaryOp::Abs:
      return map(x, n, out, [](V v) HWY_ATTR { return hn::Abs(v); });
    case UnaryOp::Softplus:
      return map(x, n, out, [](V v) HWY_ATTR { return softplus(v); });
  }
}

template <class Fn>
HWY_INLINE void map2(const float* a, const float* b, int64_t b_step, int64_t n, float* out,
                     const Fn& fn) {
  const F f;
  const int64_t lanes = lane_count();
  int64_t c = 0;
  for (; c + lanes <= n; c += lanes) {
    const V vb = b_step == 0 ? hn::Set(f, *b) : hn::LoadU(f, b + c);
    hn::StoreU(fn(hn::LoadU(f, a + c), vb), f, out + c);
  }
  if (c < n) {
    const V vb = b_step == 0 ? hn::Set(f, *b) : load_some(b + c, n - c, 1.0F);
    store_some(fn(load_some(a + c, n - c, 0.0F), vb), n - c, out + c);
  }
}

void binary(BinaryOp op, const float* a, const float* b, int64_t b_step, int64_t n, float* out) {
  switch (op) {
    case BinaryOp::Add:
      return map2(a, b, b_step, n, out, [](V x, V y) HWY_ATTR { return hn::Add(x, y); });
    case BinaryOp::Subtract:
      return map2(a, b, b_step, n, out, [](V x, V y) HWY_ATTR { return hn::Sub(x, y); });
    case BinaryOp::Multiply:
      return map2(a, b, b_step, n, out, [](V x, V y) HWY_ATTR { return hn::Mul(x, y); });
    case BinaryOp::Divide:
      return map2(a, b, b_step, n, out, [](V x, V y) HWY_ATTR { return hn::Div(x, y); });
    case BinaryOp::Maximum:
      return map2(a, b, b_step, n, out, [](V x, V y) HWY_ATTR { return hn::Max(x, y); });
    case BinaryOp::Minimum:
      return map2(a, b, b_step, n, out, [](V x, V y) HWY_ATTR { return hn::Min(x, y); });
  }
}

void gated(const GatedParams& how, const float* x, int64_t n, float* out) {
  const F f;
  const V limit = hn::Set(f, how.limit);
  const V lowest = hn::Neg(limit);
  const V scale = hn::Set(f, how.scale);
  const V inverse = hn::Set(f, 1.0F / how.scale);
  const V shift = hn::Set(f, how.shift);
  // Not Min and Max, which lose what is no number.
  const auto most = [&](V v) HWY_ATTR { return hn::IfThenElse(hn::Gt(v, limit), limit, v); };
  with_activation(how.activation, [&](const auto& activate) HWY_ATTR {
    map2(x, x + n, 1, n, out, [&](V gate, V value) HWY_ATTR {
      const V open = hn::Mul(activate(hn::Mul(most(gate), scale)), inverse);
      const V limited = most(value);
      const V within = hn::IfThenElse(hn::Lt(limited, lowest), lowest, limited);
      return hn::Mul(open, hn::Add(within, shift));
    });
  });
}

void snake(const float* x, const float* alpha, int64_t n, float* out) {
  map2(x, alpha, 1, n, out,
       [](V v, V a) HWY_ATTR { return hn::Add(v, hn::Div(sin_squared(hn::Mul(a, v)), a)); });
}

void lstm_cell(const float* gates, int64_t h, float* c, float* out) {
  const F f;
  const int64_t lanes = lane_count();
  for (int64_t i = 0; i < h; i += lanes) {
    const int64_t count = std::min(lanes, h - i);
    const auto at = [&](const float* p) HWY_ATTR {
      return count == lanes ? hn::LoadU(f, p) : load_some(p, count, 0.0F);
    };
    const V input = sigmoid(at(gates + i));
    const V forget = sigmoid(at(gates + h + i));
    const V cell = tanh(at(gates + 2 * h + i));
    const V output = sigmoid(at(gates + 3 * h + i));
    const V next = hn::MulAdd(forget, at(c + i), hn::Mul(input, cell));
    store_some(next, count, c + i);
    store_some(hn::Mul(output, tanh(next)), count, out + i);
  }
}

}  // namespace

void fill_rows(Kernels& kernels) {
  kernels.layer_norm = layer_norm;
  kernels.rms_norm = rms_norm;
  kernels.max = max;
  kernels.sum = sum;
  kernels.exp_sum = exp_sum;
  kernels.exp_codes = exp_codes;
  kernels.affine = affine;
  kernels.gated = gated;
  kernels.leaky_relu = leaky_relu;
  kernels.snake = snake;
  kernels.masked_exp_sum = masked_exp_sum;
  kernels.masked_max = masked_max;
  kernels.unary = unary;
  kernels.binary = binary;
  kernels.lstm_cell = lstm_cell;
}

}  // namespace mynah::cpu::HWY_NAMESPACE

HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mynah::cpu {

void CpuBackend::unary(UnaryOp op, const Tensor& x, const Tensor& out) {
  for_rows(x.dim(0), x.dim(1) * kCostlyElement,
           [&](int64_t r) { kernels_.unary(op, row_of(x, r), x.dim(1), writable_row(out, r)); });
}

void CpuBackend::binary(BinaryOp op, const Tensor& a, const Tensor& b, const Tensor& out) {
  const int64_t b_rows = b.dim(0) == 1 ? 0 : 1;  // one row serves all
  const int64_t b_step = b.dim(1) == 1 && a.dim(1) != 1 ? 0 : 1;
  for_rows(a.dim(0), a.dim(1) * kCheapElement, [&](int64_t r) {
    kernels_.binary(op, row_of(a, r), row_of(b, r * b_rows), b_step, a.dim(1),
                    writable_row(out, r));
  });
}

void CpuBackend::affine(const Tensor& x, float a, float b, const Tensor& out) {
  for_rows(x.dim(0), x.dim(1) * kCheapElement,
           [&](int64_t r) { kernels_.affine(row_of(x, r), x.dim(1), a, b, writable_row(out, r)); });
}

void CpuBackend::gated(const Tensor& x, const GatedParams& params, const Tensor& out) {
  for_rows(out.dim(0), out.dim(1) * kCostlyElement, [&](int64_t r) {
    kernels_.gated(params, row_of(x, r), out.dim(1), writable_row(out, r));
  });
}

void CpuBackend::leaky_relu(const Tensor& x, float slope, const Tensor& out) {
  for_rows(x.dim(0), x.dim(1) * kCheapElement, [&](int64_t r) {
    kernels_.leaky_relu(row_of(x, r), x.dim(1), slope, writable_row(out, r));
  });
}

void CpuBackend::snake(const Tensor& x, const Tensor& alpha, const Tensor& out) {
  for_rows(x.dim(0), x.dim(1) * kCostlyElement, [&](int64_t r) {
    kernels_.snake(row_of(x, r), alpha.data<float>(), x.dim(1), writable_row(out, r));
  });
}

void add_row_kernels(Isa isa, Kernels& kernels) {
  MYNAH_FILL_FOR(isa, fill_rows, kernels);
}

}  // namespace mynah::cpu
#endif
