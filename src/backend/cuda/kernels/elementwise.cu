// Element by element: a thread takes four neighbours, in one access where they are aligned.
#include "backend/cuda/kernels/elementwise_args.h"
#include "backend/cuda/kernels/finish.h"
#include "backend/cuda/kernels/math.h"

namespace mynah::simt {

namespace {

constexpr int kThreads = 256;
constexpr int kEach = 4;

using Values = Vector<float, kEach>;

// The elements of one thread.
struct Place {
  int64_t row;
  int64_t column;
  int count;  // 0: none
};

inline Place place_of(const ElementwiseArgs& args) {
  const int64_t number = static_cast<int64_t>(block_index_x()) * thread_count() + thread_index();
  const int64_t a_row = (args.columns + kEach - 1) / kEach;
  const int64_t row = args.rows == 1 ? 0 : number / a_row;
  const int64_t column = (number - row * a_row) * kEach;
  const int64_t left = row < args.rows ? args.columns - column : 0;
  return {row, column, static_cast<int>(left < 0 ? 0 : left < kEach ? left : kEach)};
}

// Zeros after the last one.
inline Values load(const Global<const float>& x, int64_t at, int count, bool aligned) {
  if (aligned && count == kEach) {
    return x.load<kEach>(at);
  }
  Values values;
  for (int i = 0; i < kEach; ++i) {
    values[i] = 0.0F;
    if (i < count) {
      values[i] = x[at + i];
    }
  }
  return values;
}

inline void store(const Values& values, const Global<float>& out, int64_t at, int count,
                  bool aligned) {
  if (aligned && count == kEach) {
    out.store<kEach>(at, values);
    return;
  }
  for (int i = 0; i < kEach; ++i) {
    if (i < count) {
      out[at + i] = values[i];
    }
  }
}

template <class Function>
inline void replace(Values& values, Function function) {
  for (int i = 0; i < kEach; ++i) {
    values[i] = function(values[i]);
  }
}

// log(1 + e^x), its exponential at most 1; within some epsilons of 1 or of x.
inline float softplus(float x) {
  const float magnitude = x < 0.0F ? -x : x;
  return (x < 0.0F ? 0.0F : x) + log(1.0F + exp(-magnitude));
}

inline void apply(UnaryFunction function, Values& values) {
  switch (function) {
    case UnaryFunction::Relu:
      replace(values, [](float x) { return x < 0.0F ? 0.0F : x; });
      break;
    case UnaryFunction::Gelu:
      replace(values, [](float x) { return gelu(x); });
      break;
    case UnaryFunction::GeluTanh:
      replace(values, [](float x) { return gelu_tanh(x); });
      break;
    case UnaryFunction::Silu:
      replace(values, [](float x) { return x * sigmoid(x); });
      break;
    case UnaryFunction::Sigmoid:
      replace(values, [](float x) { return sigmoid(x); });
      break;
    case UnaryFunction::Tanh:
      replace(values, [](float x) { return tanh(x); });
      break;
    case UnaryFunction::Exp:
      replace(values, [](float x) { return exp(x); });
      break;
    case UnaryFunction::Log:
      replace(values, [](float x) { return log(x); });
      break;
    case UnaryFunction::Sqrt:
      replace(values, [](float x) { return square_root(x); });
      break;
    case UnaryFunction::Negate:
      replace(values, [](float x) { return -x; });
      break;
    case UnaryFunction::Abs:
      replace(values, [](float x) { return float_of(bits_of(x) & 0x7FFFFFFFU); });
      break;
    case UnaryFunction::Softplus:
      replace(values, [](float x) { return softplus(x); });
      break;
  }
}

template <class Function>
inline void combine(Values& values, const Values& others, Function function) {
  for (int i = 0; i < kEach; ++i) {
    values[i] = function(values[i], others[i]);
  }
}

inline void apply(BinaryFunction function, Values& values, const Values& others) {
  switch (function) {
    case BinaryFunction::Add:
      combine(values, others, [](float a, float b) { return a + b; });
      break;
    case BinaryFunction::Subtract:
      combine(values, others, [](float a, float b) { return a - b; });
      break;
    case BinaryFunction::Multiply:
      combine(values, others, [](float a, float b) { return a * b; });
      break;
    case BinaryFunction::Divide:
      combine(values, others, [](float a, float b) { return a / b; });
      break;
    // With a NaN, the one that the reference takes.
    case BinaryFunction::Maximum:
      combine(values, others, [](float a, float b) { return a < b ? b : a; });
      break;
    case BinaryFunction::Minimum:
      combine(values, others, [](float a, float b) { return b < a ? b : a; });
      break;
  }
}

}  // namespace

MYNAH_KERNEL(unary, UnaryArgs, kThreads) {
  const Place place = place_of(args.at);
  if (place.count > 0) {
    const Global<const float> x(args.at.x.data + place.row * args.at.x.stride);
    const Global<float> out(args.at.out.data + place.row * args.at.out.stride);
    Values values = load(x, place.column, place.count, args.at.aligned);
    apply(args.function, values);
    store(values, out, place.column, place.count, args.at.aligned);
  }
}

MYNAH_KERNEL(binary, BinaryArgs, kThreads) {
  const Place place = place_of(args.at);
  if (place.count > 0) {
    const Global<const float> x(args.at.x.data + place.row * args.at.x.stride);
    const Global<const float> other(args.other.data + place.row * args.other.stride);
    const Global<float> out(args.at.out.data + place.row * args.at.out.stride);
    Values values = load(x, place.column, place.count, args.at.aligned);
    Values others;
    if (args.single) {
      const float one = other[0];
      replace(others, [one](float) { return one; });
    } else {
      others = load(other, place.column, place.count, args.at.aligned);
    }
    apply(args.function, values, others);
    store(values, out, place.column, place.count, args.at.aligned);
  }
}

MYNAH_KERNEL(affine, AffineArgs, kThreads) {
  const Place place = place_of(args.at);
  if (place.count > 0) {
    const Global<const float> x(args.at.x.data + place.row * args.at.x.stride);
    const Global<float> out(args.at.out.data + place.row * args.at.out.stride);
    Values values = load(x, place.column, place.count, args.at.aligned);
    const float scale = args.scale;
    const float shift = args.shift;
    replace(values, [=](float value) { return multiply_add(scale, value, shift); });
    store(values, out, place.column, place.count, args.at.aligned);
  }
}

MYNAH_KERNEL(gated, GatedArgs, kThreads) {
  const Place place = place_of(args.at);
  if (place.count > 0) {
    const Global<const float> x(args.at.x.data + place.row * args.at.x.stride);
    const Global<float> out(args.at.out.data + place.row * args.at.out.stride);
    Values values = load(x, place.column, place.count, args.at.aligned);
    const Values others = load(x, args.values + place.column, place.count, args.at.aligned);
    const Activation activation = args.activation;
    const float limit = args.limit;
    const float scale = args.scale;
    const float inverse = 1.0F / scale;
    const float shift = args.shift;
    // What is no number stays so.
    const auto most = [=](float number) { return number > limit ? limit : number; };
    combine(values, others, [=](float gate, float value) {
      const float within = most(value) < -limit ? -limit : most(value);
      return activate(activation, scale * most(gate)) * inverse * (within + shift);
    });
    store(values, out, place.column, place.count, args.at.aligned);
  }
}

MYNAH_KERNEL(leaky_relu, LeakyReluArgs, kThreads) {
  const Place place = place_of(args.at);
  if (place.count > 0) {
    const Global<const float> x(args.at.x.data + place.row * args.at.x.stride);
    const Global<float> out(args.at.out.data + place.row * args.at.out.stride);
    Values values = load(x, place.column, place.count, args.at.aligned);
    const float slope = args.slope;
    replace(values, [=](float value) { return value < 0.0F ? slope * value : value; });
    store(values, out, place.column, place.count, args.at.aligned);
  }
}

MYNAH_KERNEL(snake, SnakeArgs, kThreads) {
  const Place place = place_of(args.at);
  if (place.count > 0) {
    const Global<const float> x(args.at.x.data + place.row * args.at.x.stride);
    const Global<const float> alpha(args.alpha);
    const Global<float> out(args.at.out.data + place.row * args.at.out.stride);
    Values values = load(x, place.column, place.count, args.at.aligned);
    const Values alphas = load(alpha, place.column, place.count, args.at.aligned);
    combine(values, alphas,
            [](float value, float a) { return value + sin_squared(a * value) / a; });
    store(values, out, place.column, place.count, args.at.aligned);
  }
}

// What a convolution sees in x's place.
MYNAH_KERNEL(conv_input, ConvInputArgs, kThreads) {
  const Place place = place_of(args.at);
  if (place.count > 0) {
    const bool aligned = args.at.aligned;
    const Global<const float> x(args.at.x.data + place.row * args.at.x.stride);
    const Global<float> out(args.at.out.data + place.row * args.at.out.stride);
    Values values = load(x, place.column, place.count, aligned);
    if (args.factors != nullptr) {
      const Values scales =
          load(Global<const float>(args.factors), place.column, place.count, aligned);
      const Values shifts = load(Global<const float>(args.factors + args.at.columns), place.column,
                                 place.count, aligned);
      for (int i = 0; i < kEach; ++i) {
        values[i] = multiply_add(values[i], scales[i], shifts[i]);
      }
    }
    if (args.alpha != nullptr) {
      const Values alphas =
          load(Global<const float>(args.alpha), place.column, place.count, aligned);
      combine(values, alphas,
              [](float value, float a) { return value + sin_squared(a * value) / a; });
    } else {
      const float slope = args.slope;
      replace(values, [slope](float value) { return value < 0.0F ? slope * value : value; });
    }
    store(values, out, place.column, place.count, aligned);
  }
}

}  // namespace mynah::simt
