#include "backend/cuda/kernels/units_products.h"

namespace mynah::simt {

MYNAH_DEFINE_UNITS_LINEAR(bf16, Storage::BF16, units_128_threads(kLevel))
MYNAH_DEFINE_UNITS_FEW_ROWS(bf16, Storage::BF16)

}  // namespace mynah::simt
