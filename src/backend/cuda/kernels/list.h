// Every kernel by name: what the card's programs, the simulation's tables and launches agree on.
// Each *_args.h lists its own, by X(file without .cu, kernel, structure of its arguments).
#pragma once

#include <cstddef>
#include <cstdint>

#include "backend/cuda/kernels/attention_args.h"
#include "backend/cuda/kernels/copy_args.h"
#include "backend/cuda/kernels/elementwise_args.h"
#include "backend/cuda/kernels/instance_norm_args.h"
#include "backend/cuda/kernels/lstm_args.h"
#include "backend/cuda/kernels/norm_args.h"
#include "backend/cuda/kernels/product_args.h"
#include "backend/cuda/kernels/recurrent_args.h"
#include "backend/cuda/kernels/reduction_args.h"
#include "backend/cuda/kernels/routed_args.h"
#include "backend/cuda/kernels/rows_args.h"
#include "backend/cuda/kernels/sample_args.h"
#include "backend/cuda/kernels/spectrum_args.h"
#include "backend/cuda/kernels/vocoder_args.h"

#define MYNAH_ALL_KERNELS(X)     \
  MYNAH_COPY_KERNELS(X)          \
  MYNAH_NORM_KERNELS(X)          \
  MYNAH_INSTANCE_NORM_KERNELS(X) \
  MYNAH_ELEMENTWISE_KERNELS(X)   \
  MYNAH_ROW_KERNELS(X)           \
  MYNAH_REDUCTION_KERNELS(X)     \
  MYNAH_SPECTRUM_KERNELS(X)      \
  MYNAH_SAMPLE_KERNELS(X)        \
  MYNAH_PRODUCT_KERNELS(X)       \
  MYNAH_ROUTED_KERNELS(X)        \
  MYNAH_UNITS_PRODUCT_KERNELS(X) \
  MYNAH_ATTENTION_KERNELS(X)     \
  MYNAH_LSTM_KERNELS(X)          \
  MYNAH_RECURRENT_KERNELS(X)     \
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
