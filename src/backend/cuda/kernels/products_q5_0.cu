#include "backend/cuda/kernels/products.h"

namespace mynah::simt {

MYNAH_DEFINE_PRODUCTS(q5_0, Storage::Q5_0)
MYNAH_DEFINE_INT8_PRODUCTS(q5_0, Storage::Q5_0)

}  // namespace mynah::simt
