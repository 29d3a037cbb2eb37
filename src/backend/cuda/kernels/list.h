// Every kernel by name: what the card's programs, the simulation's tables and launches agree on.
// X(file without .cu, kernel, structure of its arguments).
#pragma once

#include <cstddef>
#include <cstdint>

#include "backend/cuda/kernels/attention_args.h"
#include "backend/cuda/kernels/copy_args.h"
#include "backend/cuda/kernels/elementwise_args.h"
#include "backend/cuda/kernels/instance_norm_args.h"
#include "backend/cuda/kernels/lstm_args.h"
#include "backend/cuda/kernels/norm_args.h"
#include "backend/cuda/kernels/pick_token_args.h"
#include "backend/cuda/kernels/product_args.h"
#include "backend/cuda/kernels/reduction_args.h"
#include "backend/cuda/kernels/rows_args.h"
#include "backend/cuda/kernels/spectrum_args.h"
#include "backend/cuda/kernels/vocoder_args.h"

#define MYNAH_COPY_KERNELS(X)        \
  X(copies, copy_1, CopyArgs)        \
  X(copies, copy_2, CopyArgs)        \
  X(copies, copy_4, CopyArgs)        \
  X(copies, copy_8, CopyArgs)        \
  X(copies, copy_16, CopyArgs)       \
  X(copies, cast_f32_f16, CopyArgs)  \
  X(copies, cast_f32_bf16, CopyArgs) \
  X(copies, cast_f16_f32, CopyArgs)  \
  X(copies, cast_f16_bf16, CopyArgs) \
  X(copies, cast_bf16_f32, CopyArgs) \
  X(copies, cast_bf16_f16, CopyArgs)

#define MYNAH_NORM_KERNELS(X)    \
  X(norms, layer_norm, NormArgs) \
  X(norms, rms_norm, NormArgs)   \
  X(norms, softmax, NormArgs)    \
  X(norms, log_softmax, NormArgs)

#define MYNAH_INSTANCE_NORM_KERNELS(X)                 \
  X(instance_norm, instance_moments, InstanceNormArgs) \
  X(instance_norm, instance_factors, InstanceNormArgs)

#define MYNAH_ELEMENTWISE_KERNELS(X)        \
  X(elementwise, unary, UnaryArgs)          \
  X(elementwise, binary, BinaryArgs)        \
  X(elementwise, affine, AffineArgs)        \
  X(elementwise, leaky_relu, LeakyReluArgs) \
  X(elementwise, snake, SnakeArgs)          \
  X(elementwise, conv_input, ConvInputArgs)

#define MYNAH_ROW_KERNELS(X)                  \
  X(rows, gather_rows_1, GatherRowsArgs)      \
  X(rows, gather_rows_2, GatherRowsArgs)      \
  X(rows, gather_rows_4, GatherRowsArgs)      \
  X(rows, gather_rows_16, GatherRowsArgs)     \
  X(rows, scatter_rows_f32, ScatterRowsArgs)  \
  X(rows, scatter_rows_f16, ScatterRowsArgs)  \
  X(rows, scatter_rows_bf16, ScatterRowsArgs) \
  X(rows, transpose, TransposeArgs)

#define MYNAH_REDUCTION_KERNELS(X)      \
  X(reductions, reduce_sum, ReduceArgs) \
  X(reductions, reduce_max, ReduceArgs) \
  X(reductions, argmax, ArgmaxArgs)     \
  X(reductions, cumsum, CumsumArgs)     \
  X(reductions, median_filter, MedianArgs)

#define MYNAH_SPECTRUM_KERNELS(X)               \
  X(spectrum, magnitude_spectrum, SpectrumArgs) \
  X(log_mel, mel_ranges, MelRangesArgs)         \
  X(log_mel, log_mel, LogMelArgs)               \
  X(log_mel, log_mel_floor, LogMelArgs)

#define MYNAH_PICK_TOKEN_KERNELS(X) X(pick_token, pick_token, PickTokenArgs)

// In f32, of any storage type.
#define MYNAH_PRODUCTS_OF(X, type)              \
  X(products_##type, linear_##type, LinearArgs) \
  X(products_##type, few_rows_##type, LinearArgs)

// Of activations as int8, with weights that are small whole numbers.
#define MYNAH_INT8_PRODUCTS_OF(X, type)              \
  X(products_##type, linear_int8_##type, LinearArgs) \
  X(products_##type, few_rows_int8_##type, LinearArgs)

#define MYNAH_PRODUCT_KERNELS(X)                   \
  MYNAH_PRODUCTS_OF(X, f32)                        \
  MYNAH_PRODUCTS_OF(X, f16)                        \
  MYNAH_PRODUCTS_OF(X, bf16)                       \
  MYNAH_PRODUCTS_OF(X, i8)                         \
  MYNAH_PRODUCTS_OF(X, q4_0)                       \
  MYNAH_PRODUCTS_OF(X, q4_1)                       \
  MYNAH_PRODUCTS_OF(X, q5_0)                       \
  MYNAH_PRODUCTS_OF(X, q5_1)                       \
  MYNAH_PRODUCTS_OF(X, q8_0)                       \
  MYNAH_PRODUCTS_OF(X, q2_k)                       \
  MYNAH_PRODUCTS_OF(X, q3_k)                       \
  MYNAH_PRODUCTS_OF(X, q4_k)                       \
  MYNAH_PRODUCTS_OF(X, q5_k)                       \
  MYNAH_PRODUCTS_OF(X, q6_k)                       \
  MYNAH_INT8_PRODUCTS_OF(X, i8)                    \
  MYNAH_INT8_PRODUCTS_OF(X, q4_0)                  \
  MYNAH_INT8_PRODUCTS_OF(X, q4_1)                  \
  MYNAH_INT8_PRODUCTS_OF(X, q5_0)                  \
  MYNAH_INT8_PRODUCTS_OF(X, q5_1)                  \
  MYNAH_INT8_PRODUCTS_OF(X, q8_0)                  \
  MYNAH_INT8_PRODUCTS_OF(X, q2_k)                  \
  MYNAH_INT8_PRODUCTS_OF(X, q3_k)                  \
  MYNAH_INT8_PRODUCTS_OF(X, q4_k)                  \
  MYNAH_INT8_PRODUCTS_OF(X, q5_k)                  \
  MYNAH_INT8_PRODUCTS_OF(X, q6_k)                  \
  X(products_f32, conv1d_f32, Conv1dArgs)          \
  X(products_f16, conv1d_f16, Conv1dArgs)          \
  X(products_bf16, conv1d_bf16, Conv1dArgs)        \
  X(products_i8, conv1d_i8, Conv1dArgs)            \
  X(conv1d_grouped, conv1d_grouped, Conv1dArgs)    \
  X(quantize_rows, quantize_rows, QuantizeArgs)    \
  X(quantize_rows, quantize_windows, QuantizeArgs) \
  X(pack_rows, pack_rows_f16, PackArgs)            \
  X(pack_rows, pack_rows_bf16, PackArgs)           \
  X(pack_rows, pack_windows_f16, PackArgs)         \
  X(pack_rows, pack_windows_bf16, PackArgs)        \
  X(matmul, matmul, MatmulArgs)                    \
  X(matmul, matmul_transposed, MatmulArgs)         \
  X(table_rows, table_rows, TableArgs)

// On matrix units: no card below level 75 has them, and bf16 none below 80.
#define MYNAH_UNITS_PRODUCTS_OF(X, type)                         \
  X(units_products_##type, units_linear_##type##_128, UnitsArgs) \
  X(units_products_##type, units_linear_##type##_64, UnitsArgs)  \
  X(units_products_##type, units_few_rows_##type, UnitsArgs)     \
  X(units_conv1d_##type, units_conv1d_##type##_128, UnitsArgs)   \
  X(units_conv1d_##type, units_conv1d_##type##_64, UnitsArgs)

#define MYNAH_UNITS_PRODUCT_KERNELS(X)             \
  MYNAH_UNITS_PRODUCTS_OF(X, f16)                  \
  MYNAH_UNITS_PRODUCTS_OF(X, bf16)                 \
  X(units_int8_i8, units_linear_i8_128, UnitsArgs) \
  X(units_int8_i8, units_linear_i8_64, UnitsArgs)

#define MYNAH_ATTENTION_KERNELS(X)                                           \
  X(attention_tiled_f32, attention_tiled_f32_64, AttentionArgs)              \
  X(attention_tiled_f32, attention_tiled_f32_128, AttentionArgs)             \
  X(attention_tiled_f32, attention_tiled_f32_256, AttentionArgs)             \
  X(attention_tiled_f16, attention_tiled_f16_64, AttentionArgs)              \
  X(attention_tiled_f16, attention_tiled_f16_128, AttentionArgs)             \
  X(attention_tiled_f16, attention_tiled_f16_256, AttentionArgs)             \
  X(attention_tiled_bf16, attention_tiled_bf16_64, AttentionArgs)            \
  X(attention_tiled_bf16, attention_tiled_bf16_128, AttentionArgs)           \
  X(attention_tiled_bf16, attention_tiled_bf16_256, AttentionArgs)           \
  X(units_attention_f16, attention_units_f16_64, AttentionArgs)              \
  X(units_attention_f16, attention_units_f16_128, AttentionArgs)             \
  X(units_attention_bf16, attention_units_bf16_64, AttentionArgs)            \
  X(units_attention_bf16, attention_units_bf16_128, AttentionArgs)           \
  X(attention_split_f32, attention_one_f32, AttentionArgs)                   \
  X(attention_split_f16, attention_one_f16, AttentionArgs)                   \
  X(attention_split_bf16, attention_one_bf16, AttentionArgs)                 \
  X(attention_split_f32, attention_few_f32, AttentionArgs)                   \
  X(attention_split_f16, attention_few_f16, AttentionArgs)                   \
  X(attention_split_bf16, attention_few_bf16, AttentionArgs)                 \
  X(attention_merge, attention_merge_one, AttentionArgs)                     \
  X(attention_merge, attention_merge_few, AttentionArgs)                     \
  X(attention_probabilities, attention_probabilities_f32, ProbabilitiesArgs) \
  X(attention_probabilities, attention_probabilities_f16, ProbabilitiesArgs) \
  X(keys_values, pack_keys_f32_f32, PackKeysArgs)                            \
  X(keys_values, pack_keys_f16_f32, PackKeysArgs)                            \
  X(keys_values, pack_keys_bf16_f32, PackKeysArgs)                           \
  X(keys_values, pack_keys_f32_f16, PackKeysArgs)                            \
  X(keys_values, pack_keys_f16_f16, PackKeysArgs)                            \
  X(keys_values, pack_keys_bf16_f16, PackKeysArgs)                           \
  X(rope, rope, RopeArgs)

#define MYNAH_LSTM_KERNELS(X)         \
  X(lstm_floats, lstm_f32, LstmArgs)  \
  X(lstm_floats, lstm_f16, LstmArgs)  \
  X(lstm_floats, lstm_bf16, LstmArgs) \
  X(lstm_floats, lstm_i8, LstmArgs)   \
  X(lstm_blocks, lstm_q4_0, LstmArgs) \
  X(lstm_blocks, lstm_q4_1, LstmArgs) \
  X(lstm_blocks, lstm_q5_0, LstmArgs) \
  X(lstm_blocks, lstm_q5_1, LstmArgs) \
  X(lstm_blocks, lstm_q8_0, LstmArgs) \
  X(lstm_blocks, lstm_q2_k, LstmArgs) \
  X(lstm_blocks, lstm_q3_k, LstmArgs) \
  X(lstm_blocks, lstm_q4_k, LstmArgs) \
  X(lstm_blocks, lstm_q5_k, LstmArgs) \
  X(lstm_blocks, lstm_q6_k, LstmArgs)

#define MYNAH_VOCODER_KERNELS(X)          \
  X(vocoder, sine_phases, SineSourceArgs) \
  X(vocoder, sine_source, SineSourceArgs) \
  X(vocoder, stft, StftArgs)              \
  X(vocoder, polar_parts, StftArgs)       \
  X(vocoder, overlap_add, StftArgs)

#define MYNAH_ALL_KERNELS(X)     \
  MYNAH_COPY_KERNELS(X)          \
  MYNAH_NORM_KERNELS(X)          \
  MYNAH_INSTANCE_NORM_KERNELS(X) \
  MYNAH_ELEMENTWISE_KERNELS(X)   \
  MYNAH_ROW_KERNELS(X)           \
  MYNAH_REDUCTION_KERNELS(X)     \
  MYNAH_SPECTRUM_KERNELS(X)      \
  MYNAH_PICK_TOKEN_KERNELS(X)    \
  MYNAH_PRODUCT_KERNELS(X)       \
  MYNAH_UNITS_PRODUCT_KERNELS(X) \
  MYNAH_ATTENTION_KERNELS(X)     \
  MYNAH_LSTM_KERNELS(X)          \
  MYNAH_VOCODER_KERNELS(X)

namespace mynah::cuda {

enum class KernelId : uint16_t {
#define MYNAH_ENTRY(group, kernel_name, Args) kernel_name,
  MYNAH_ALL_KERNELS(MYNAH_ENTRY)
#undef MYNAH_ENTRY
      Count
};

inline constexpr size_t kKernelCount = static_cast<size_t>(KernelId::Count);

// A kernel, with the type of its arguments.
template <class Arguments>
struct Kernel {
  using Args = Arguments;
  KernelId id;
};

namespace kernels {
#define MYNAH_ENTRY(group, kernel_name, Args) \
  inline constexpr Kernel<simt::Args> kernel_name{KernelId::kernel_name};
MYNAH_ALL_KERNELS(MYNAH_ENTRY)
#undef MYNAH_ENTRY
}  // namespace kernels

}  // namespace mynah::cuda
