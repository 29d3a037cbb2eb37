#include "backend/cuda/kernels/routed.h"

namespace mynah::simt {

MYNAH_DEFINE_ROUTED(q3_k, Storage::Q3_K)

}  // namespace mynah::simt
