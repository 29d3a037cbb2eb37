#include "backend/cuda/kernels/products.h"

namespace mynah::simt {

MYNAH_DEFINE_PRODUCTS(q8_0, Storage::Q8_0)
MYNAH_DEFINE_INT8_PRODUCTS(q8_0, Storage::Q8_0)

}  // namespace mynah::simt
