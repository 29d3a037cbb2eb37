#include "backend/cuda/kernels/attention_tiled.h"

namespace mynah::simt {

MYNAH_DEFINE_TILED(attention_tiled_bf16_64, Bf16, 64)
MYNAH_DEFINE_TILED(attention_tiled_bf16_128, Bf16, 128)
MYNAH_DEFINE_TILED(attention_tiled_bf16_256, Bf16, 256)

}  // namespace mynah::simt
