#include "backend/cuda/kernels/routed.h"

namespace mynah::simt {

MYNAH_DEFINE_ROUTED(bf16, Storage::BF16)

}  // namespace mynah::simt
