// How the files of kernels, each compiled once per instruction set by Highway, hand in their parts.
#pragma once

#include "backend/cpu/kernels.h"

namespace mynah::cpu {

void add_block_kernels(Isa isa, Kernels& kernels);
void add_conv_input_kernels(Isa isa, Kernels& kernels);
void add_gemm_kernels(Isa isa, Kernels& kernels);
void add_recurrent_kernels(Isa isa, Kernels& kernels);
void add_row_kernels(Isa isa, Kernels& kernels);
void add_finish_kernels(Isa isa, Kernels& kernels);
void add_attention_kernels(Isa isa, Kernels& kernels);
void add_packing_kernels(Isa isa, Kernels& kernels);
void add_matvec_kernels(Isa isa, Kernels& kernels);
void add_spectrum_kernels(Isa isa, Kernels& kernels);
void add_vocoder_kernels(Isa isa, Kernels& kernels);

}  // namespace mynah::cpu

// Calls `fill` of the namespace that Highway compiled for the instruction set. The VNNI and BF16
// levels differ from AVX-512 only in gemm_x86.cpp. Not Highway's own dispatch: that is a global,
// and tests open several sets at once.
#if defined(__x86_64__)
#define MYNAH_FILL_FOR(isa, fill, kernels) \
  do {                                     \
    if ((isa) >= Isa::Avx512) {            \
      N_AVX3::fill(kernels);               \
    } else if ((isa) == Isa::Avx2) {       \
      N_AVX2::fill(kernels);               \
    } else {                               \
      N_SSE4::fill(kernels);               \
    }                                      \
  } while (false)
#else
#define MYNAH_FILL_FOR(isa, fill, kernels) HWY_STATIC_NAMESPACE::fill(kernels)
#endif
