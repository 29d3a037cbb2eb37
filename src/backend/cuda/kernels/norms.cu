// Norms and distributions over the last dimension: a block takes a row.
#include "backend/cuda/kernels/math.h"
#include "backend/cuda/kernels/norm_args.h"

namespace mynah::simt {

namespace {

constexpr int kThreads = 256;
constexpr int kMostWarps = kThreads / kWarp;

}  // namespace

// (x - mean) / sqrt(variance + eps) * gamma + beta; the variance from the differences, in a second
// pass, as a difference of large sums would lose it.
MYNAH_KERNEL(layer_norm, NormArgs, kThreads) {
  MYNAH_SHARED(float, scratch, kMostWarps);
  const Global<const float> x(args.x.data + block_index_x() * args.x.stride);
  const Global<const float> gamma(args.gamma);
  const Global<const float> beta(args.beta);
  const Global<float> out(args.out.data + block_index_x() * args.out.stride);
  float sum = 0.0F;
  for (int64_t i = thread_index(); i < args.columns; i += thread_count()) {
    sum += x[i];
  }
  const float mean = block_sum(sum, scratch) / static_cast<float>(args.columns);
  float squares = 0.0F;
  for (int64_t i = thread_index(); i < args.columns; i += thread_count()) {
    const float difference = x[i] - mean;
    squares = multiply_add(difference, difference, squares);
  }
  const float variance = block_sum(squares, scratch) / static_cast<float>(args.columns);
  const float scale = 1.0F / square_root(variance + args.epsilon);
  for (int64_t i = thread_index(); i < args.columns; i += thread_count()) {
    out[i] = multiply_add((x[i] - mean) * scale, gamma[i], beta[i]);
  }
}

// x / sqrt(mean(x^2) + eps) * gamma.
MYNAH_KERNEL(rms_norm, NormArgs, kThreads) {
  MYNAH_SHARED(float, scratch, kMostWarps);
  const Global<const float> x(args.x.data + block_index_x() * args.x.stride);
  const Global<const float> gamma(args.gamma);
  const Global<float> out(args.out.data + block_index_x() * args.out.stride);
  float squares = 0.0F;
  for (int64_t i = thread_index(); i < args.columns; i += thread_count()) {
    const float value = x[i];
    squares = multiply_add(value, value, squares);
  }
  const float mean = block_sum(squares, scratch) / static_cast<float>(args.columns);
  const float scale = 1.0F / square_root(mean + args.epsilon);
  for (int64_t i = thread_index(); i < args.columns; i += thread_count()) {
    out[i] = x[i] * scale * gamma[i];
  }
}

MYNAH_KERNEL(softmax, NormArgs, kThreads) {
  MYNAH_SHARED(float, scratch, kMostWarps);
  const Global<const float> x(args.x.data + block_index_x() * args.x.stride);
  const Global<float> out(args.out.data + block_index_x() * args.out.stride);
  float highest = -kInfinity;
  for (int64_t i = thread_index(); i < args.columns; i += thread_count()) {
    highest = maximum(highest, x[i]);
  }
  highest = block_max(highest, scratch);
  float sum = 0.0F;
  for (int64_t i = thread_index(); i < args.columns; i += thread_count()) {
    sum += exp(x[i] - highest);
  }
  const float scale = 1.0F / block_sum(sum, scratch);
  for (int64_t i = thread_index(); i < args.columns; i += thread_count()) {
    out[i] = exp(x[i] - highest) * scale;
  }
}

MYNAH_KERNEL(log_softmax, NormArgs, kThreads) {
  MYNAH_SHARED(float, scratch, kMostWarps);
  const Global<const float> x(args.x.data + block_index_x() * args.x.stride);
  const Global<float> out(args.out.data + block_index_x() * args.out.stride);
  float highest = -kInfinity;
  for (int64_t i = thread_index(); i < args.columns; i += thread_count()) {
    highest = maximum(highest, x[i]);
  }
  highest = block_max(highest, scratch);
  float sum = 0.0F;
  for (int64_t i = thread_index(); i < args.columns; i += thread_count()) {
    sum += exp(x[i] - highest);
  }
  const float shift = highest + log(block_sum(sum, scratch));
  for (int64_t i = thread_index(); i < args.columns; i += thread_count()) {
    out[i] = x[i] - shift;
  }
}

}  // namespace mynah::simt
