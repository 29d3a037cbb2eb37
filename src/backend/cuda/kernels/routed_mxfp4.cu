#include "backend/cuda/kernels/routed.h"

namespace mynah::simt {

MYNAH_DEFINE_ROUTED(mxfp4, Storage::MXFP4)

}  // namespace mynah::simt
