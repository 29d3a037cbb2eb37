// The one table of operation cases: what is run for every backend, instruction set and storage type
// against `ref`, and, in timing mode, by bench/ops.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tensor/backend.h"

namespace mynah::cases {

using Values = std::vector<float>;

// Runs the operation once, on inputs made before; callable any number of times with equal results.
using Step = std::function<std::vector<Tensor>()>;

// What the operation's products are computed in: which of the machine's ceilings applies.
enum class Arithmetic : uint8_t { F32, Bf16, Int8 };

struct OpCase {
  std::string op;    // "linear"
  std::string name;  // "i8 fast (17, 384) -> 65 gelu"
  // Where the backend does not support this storage type the row does not apply.
  std::optional<DType> weight;
  // Makes the inputs, the same numbers on every backend.
  std::function<Step(Backend&)> prepare;
  // How far each element of each result may be from ref's: computed from the inputs' magnitudes,
  // the types' epsilon and the length of reductions. `expected` is what ref gave.
  std::function<std::vector<Values>(const std::vector<Values>& expected)> bound;
  // For timing mode: arithmetic operations and bytes that must move at least. 0: not timed.
  double operations = 0.0;
  double bytes = 0.0;
  Arithmetic arithmetic = Arithmetic::F32;
  // Sizes of real models: run by bench/ops, too slow for `ref` in a test.
  bool large = false;

  [[nodiscard]] std::string title() const { return op + " " + name; }
};

// The arithmetic of a product with weights (or keys) of this type.
[[nodiscard]] Arithmetic arithmetic_of(DType weight, Precision precision);

// Every row. Names are unique.
std::vector<OpCase> op_cases();

// A timed row of linear with a bias, at a size of one's own. The first rows of its input are the
// same whatever their number.
OpCase timed_linear_case(int64_t rows, int64_t in, int64_t out, DType dtype, Precision precision);

// A timed row of conv1d: one of the two that Whisper's encoder begins with, over 30 seconds (3000
// frames), of kernel 3.
OpCase timed_conv1d_case(int64_t in, int64_t out, int64_t stride, DType dtype, Precision precision);

// The rows of one group of operations, appended.
void add_linear_cases(std::vector<OpCase>& table);
void add_routed_cases(std::vector<OpCase>& table);
void add_product_cases(std::vector<OpCase>& table);
void add_conv1d_cases(std::vector<OpCase>& table);
void add_conv_transpose_cases(std::vector<OpCase>& table);
void add_attention_cases(std::vector<OpCase>& table);
void add_packed_attention_cases(std::vector<OpCase>& table);
void add_norm_cases(std::vector<OpCase>& table);
void add_recurrent_cases(std::vector<OpCase>& table);
void add_elementwise_cases(std::vector<OpCase>& table);
void add_row_cases(std::vector<OpCase>& table);
void add_speech_cases(std::vector<OpCase>& table);
void add_vocoder_cases(std::vector<OpCase>& table);
void add_sample_cases(std::vector<OpCase>& table);
void add_sample_filter_cases(std::vector<OpCase>& table);

// The results as numbers: floats of any width, integers as their value.
std::vector<Values> read(Backend& backend, const std::vector<Tensor>& results);

}  // namespace mynah::cases
