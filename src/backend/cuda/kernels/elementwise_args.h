// What the kernels of elementwise.cu are given.
#pragma once

#include "backend/cuda/kernels/product_args.h"
#include "backend/cuda/kernels/views.h"

namespace mynah::simt {

// As UnaryOp and BinaryOp of tensor/op_params.h number them.
enum class UnaryFunction : int32_t {
  Relu,
  Gelu,
  GeluTanh,
  Silu,
  Sigmoid,
  Tanh,
  Exp,
  Log,
  Sqrt,
  Negate,
  Abs,
  Softplus
};

enum class BinaryFunction : int32_t { Add, Subtract, Multiply, Divide, Maximum, Minimum };

// A thread takes up to four neighbours of a row. Matrices without gaps are given as one row.
struct ElementwiseArgs {
  Rows x;
  OutRows out;
  int64_t rows;
  int64_t columns;
  bool aligned;  // rows of all matrices begin at multiples of 16 bytes
};

struct UnaryArgs {
  ElementwiseArgs at;
  UnaryFunction function;
};

// A row of `other` for every row of x where its stride is 0, an element for all where it is single.
struct BinaryArgs {
  ElementwiseArgs at;
  Rows other;
  bool single;
  BinaryFunction function;
};

struct AffineArgs {
  ElementwiseArgs at;
  float scale;
  float shift;
};

// x has the gates, and `values` columns behind each what it is multiplied with; the rest as
// GatedParams has it.
struct GatedArgs {
  ElementwiseArgs at;
  int64_t values;
  Activation activation;
  float limit;
  float scale;
  float shift;
};

struct LeakyReluArgs {
  ElementwiseArgs at;
  float slope;
};

// alpha: a number for every column.
struct SnakeArgs {
  ElementwiseArgs at;
  const float* alpha;
};

// Rows of one utterance. factors: a number for every column, then another; null: x itself. alpha:
// of a snake; null: a leaky ReLU of this slope.
struct ConvInputArgs {
  ElementwiseArgs at;
  const float* factors;
  const float* alpha;
  float slope;
};

}  // namespace mynah::simt

// The kernels: kernels/list.h has what X is given.
#define MYNAH_ELEMENTWISE_KERNELS(X)        \
  X(elementwise, unary, UnaryArgs)          \
  X(elementwise, binary, BinaryArgs)        \
  X(elementwise, affine, AffineArgs)        \
  X(elementwise, gated, GatedArgs)          \
  X(elementwise, leaky_relu, LeakyReluArgs) \
  X(elementwise, snake, SnakeArgs)          \
  X(elementwise, conv_input, ConvInputArgs)
