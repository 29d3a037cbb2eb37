#include "backend/cuda/kernels/units_products.h"

namespace mynah::simt {

MYNAH_DEFINE_UNITS_LINEAR(f16, Storage::F16, units_128_threads(kLevel))
MYNAH_DEFINE_UNITS_FEW_ROWS(f16, Storage::F16)

}  // namespace mynah::simt
