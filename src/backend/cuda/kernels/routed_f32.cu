#include "backend/cuda/kernels/routed.h"

namespace mynah::simt {

MYNAH_DEFINE_ROUTED(f32, Storage::F32)

}  // namespace mynah::simt
