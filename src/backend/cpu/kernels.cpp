#include "backend/cpu/kernels.h"

#include "backend/cpu/block_products_x86.h"
#include "backend/cpu/gemm_i16_x86.h"
#include "backend/cpu/gemm_x86.h"
#include "backend/cpu/kernel_parts.h"

namespace mynah::cpu {

Kernels kernels_for(Isa isa) {
  Kernels kernels{};
  add_block_kernels(isa, kernels);
  add_gemm_kernels(isa, kernels);
  add_finish_kernels(isa, kernels);
  add_attention_kernels(isa, kernels);
  add_packing_kernels(isa, kernels);
  add_conv_input_kernels(isa, kernels);
  add_recurrent_kernels(isa, kernels);
  add_row_kernels(isa, kernels);
  add_matvec_kernels(isa, kernels);
  add_spectrum_kernels(isa, kernels);
  add_vocoder_kernels(isa, kernels);
#if defined(__x86_64__)
  if (isa >= Isa::Avx512Vnni) {
    kernels.gemm_i8 = gemm_i8_vnni;
    kernels.gemm_i16 = gemm_i16_vnni;
    kernels.block_products = block_products_vnni;
    kernels.packed_rows = kPackedRowsVnni;
  }
  if (isa >= Isa::Avx512Bf16) {
    kernels.gemm_bf16 = gemm_bf16_avx512;
  }
#endif
  return kernels;
}

}  // namespace mynah::cpu
