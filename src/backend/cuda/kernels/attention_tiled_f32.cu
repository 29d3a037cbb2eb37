#include "backend/cuda/kernels/attention_tiled.h"

namespace mynah::simt {

MYNAH_DEFINE_TILED(attention_tiled_f32_64, float, 64)
MYNAH_DEFINE_TILED(attention_tiled_f32_128, float, 128)
MYNAH_DEFINE_TILED(attention_tiled_f32_256, float, 256)

}  // namespace mynah::simt
