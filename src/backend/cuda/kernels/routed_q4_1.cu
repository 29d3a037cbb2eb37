#include "backend/cuda/kernels/routed.h"

namespace mynah::simt {

MYNAH_DEFINE_ROUTED(q4_1, Storage::Q4_1)

}  // namespace mynah::simt
