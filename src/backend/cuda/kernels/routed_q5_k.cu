#include "backend/cuda/kernels/routed.h"

namespace mynah::simt {

MYNAH_DEFINE_ROUTED(q5_k, Storage::Q5_K)

}  // namespace mynah::simt
