#include "backend/cuda/kernels/products.h"

namespace mynah::simt {

MYNAH_DEFINE_PRODUCTS(f16, Storage::F16)
MYNAH_DEFINE_CONV1D(f16, Storage::F16)

}  // namespace mynah::simt
