#include "backend/cuda/kernels/products.h"

namespace mynah::simt {

MYNAH_DEFINE_PRODUCTS(q5_1, Storage::Q5_1)
MYNAH_DEFINE_INT8_PRODUCTS(q5_1, Storage::Q5_1)

}  // namespace mynah::simt
