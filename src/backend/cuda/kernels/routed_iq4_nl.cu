#include "backend/cuda/kernels/routed.h"

namespace mynah::simt {

MYNAH_DEFINE_ROUTED(iq4_nl, Storage::IQ4_NL)

}  // namespace mynah::simt
