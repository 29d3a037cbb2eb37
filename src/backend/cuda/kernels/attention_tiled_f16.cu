#include "backend/cuda/kernels/attention_tiled.h"

namespace mynah::simt {

MYNAH_DEFINE_TILED(attention_tiled_f16_64, F16, 64)
MYNAH_DEFINE_TILED(attention_tiled_f16_128, F16, 128)
MYNAH_DEFINE_TILED(attention_tiled_f16_256, F16, 256)

}  // namespace mynah::simt
