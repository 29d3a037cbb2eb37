#include "backend/cuda/kernels/products.h"

namespace mynah::simt {

MYNAH_DEFINE_PRODUCTS(q4_1, Storage::Q4_1)
MYNAH_DEFINE_INT8_PRODUCTS(q4_1, Storage::Q4_1)

}  // namespace mynah::simt
