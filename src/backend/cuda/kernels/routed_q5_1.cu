#include "backend/cuda/kernels/routed.h"

namespace mynah::simt {

MYNAH_DEFINE_ROUTED(q5_1, Storage::Q5_1)

}  // namespace mynah::simt
