#include "backend/cuda/kernels/products.h"

namespace mynah::simt {

MYNAH_DEFINE_PRODUCTS(q4_0, Storage::Q4_0)
MYNAH_DEFINE_INT8_PRODUCTS(q4_0, Storage::Q4_0)

}  // namespace mynah::simt
