#include "backend/cuda/kernels/routed.h"

namespace mynah::simt {

MYNAH_DEFINE_ROUTED(q6_k, Storage::Q6_K)

}  // namespace mynah::simt
