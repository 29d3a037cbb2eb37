#include "backend/cuda/kernels/units_products.h"

namespace mynah::simt {

MYNAH_DEFINE_UNITS_CONV1D(f16, Storage::F16)

}  // namespace mynah::simt
