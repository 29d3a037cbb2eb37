#include "backend/cuda/kernels/routed.h"

namespace mynah::simt {

MYNAH_DEFINE_ROUTED(q8_0, Storage::Q8_0)

}  // namespace mynah::simt
