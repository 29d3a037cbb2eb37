#include "backend/cuda/kernels/units_products.h"

namespace mynah::simt {

MYNAH_DEFINE_UNITS_CONV1D(bf16, Storage::BF16)

}  // namespace mynah::simt
