#include "backend/cuda/kernels/routed.h"

namespace mynah::simt {

MYNAH_DEFINE_ROUTED(f16, Storage::F16)

}  // namespace mynah::simt
