#include "backend/cuda/kernels/units_attention.h"

namespace mynah::simt {

MYNAH_DEFINE_UNITS_ATTENTION(attention_units_bf16_64, Bf16, 64)
MYNAH_DEFINE_UNITS_ATTENTION(attention_units_bf16_128, Bf16, 128)

}  // namespace mynah::simt
