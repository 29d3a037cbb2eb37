#include "backend/cuda/kernels/routed.h"

namespace mynah::simt {

MYNAH_DEFINE_ROUTED(q4_0, Storage::Q4_0)

}  // namespace mynah::simt
