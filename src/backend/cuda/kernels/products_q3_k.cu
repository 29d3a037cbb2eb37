#include "backend/cuda/kernels/products.h"

namespace mynah::simt {

MYNAH_DEFINE_PRODUCTS(q3_k, Storage::Q3_K)
MYNAH_DEFINE_INT8_PRODUCTS(q3_k, Storage::Q3_K)

}  // namespace mynah::simt
