#include "backend/cuda/kernels/routed.h"

namespace mynah::simt {

MYNAH_DEFINE_ROUTED(i8, Storage::I8)

}  // namespace mynah::simt
