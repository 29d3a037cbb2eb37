#include "ops/op_case.h"

#include "ops/ops.h"

namespace mynah::cases {

Arithmetic arithmetic_of(DType weight, Precision precision) {
  if (precision == Precision::Exact) {
    return Arithmetic::F32;
  }
  if (weight == DType::I8 || is_block_type(weight)) {
    return Arithmetic::Int8;
  }
  return weight == DType::BF16 ? Arithmetic::Bf16 : Arithmetic::F32;
}

std::vector<OpCase> op_cases() {
  std::vector<OpCase> table;
  add_linear_cases(table);
  add_routed_cases(table);
  add_product_cases(table);
  add_conv1d_cases(table);
  add_conv_transpose_cases(table);
  add_attention_cases(table);
  add_packed_attention_cases(table);
  add_norm_cases(table);
  add_recurrent_cases(table);
  add_elementwise_cases(table);
  add_row_cases(table);
  add_speech_cases(table);
  add_vocoder_cases(table);
  add_sample_cases(table);
  add_sample_filter_cases(table);
  return table;
}

namespace {

// Numbers of any width, of a contiguous tensor.
template <class T>
Values numbers(Backend& backend, const Tensor& x) {
  std::vector<T> values(static_cast<size_t>(x.elements()));
  backend.download(x, values.data());
  return {values.begin(), values.end()};
}

}  // namespace

std::vector<Values> read(Backend& backend, const std::vector<Tensor>& results) {
  std::vector<Values> all;
  for (const Tensor& result : results) {
    if (result.dtype() == DType::U8) {
      all.push_back(numbers<uint8_t>(backend, result));
    } else if (result.dtype() == DType::I64) {
      all.push_back(numbers<int64_t>(backend, result));
    } else if (result.dtype() == DType::I32) {
      const std::vector<int32_t> numbers = ops::to_host_i32(backend, result);
      all.emplace_back(numbers.begin(), numbers.end());
    } else {
      const bool f32 = result.dtype() == DType::F32;
      all.push_back(ops::to_host(backend, f32 ? result : ops::cast(backend, result, DType::F32)));
    }
  }
  return all;
}

}  // namespace mynah::cases
