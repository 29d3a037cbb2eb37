#include "backend/cuda/kernels/routed.h"

namespace mynah::simt {

MYNAH_DEFINE_ROUTED(q2_k, Storage::Q2_K)

}  // namespace mynah::simt
