#include "backend/cuda/kernels/routed.h"

namespace mynah::simt {

MYNAH_DEFINE_ROUTED(q4_k, Storage::Q4_K)

}  // namespace mynah::simt
