#include "backend/cuda/kernels/routed.h"

namespace mynah::simt {

MYNAH_DEFINE_ROUTED(q5_0, Storage::Q5_0)

}  // namespace mynah::simt
