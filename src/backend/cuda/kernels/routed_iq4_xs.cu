#include "backend/cuda/kernels/routed.h"

namespace mynah::simt {

MYNAH_DEFINE_ROUTED(iq4_xs, Storage::IQ4_XS)

}  // namespace mynah::simt
