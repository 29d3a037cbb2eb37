#include "backend/cuda/kernels/units_attention.h"

namespace mynah::simt {

MYNAH_DEFINE_UNITS_ATTENTION(attention_units_f16_64, F16, 64)
MYNAH_DEFINE_UNITS_ATTENTION(attention_units_f16_128, F16, 128)

}  // namespace mynah::simt
