#include "backend/cuda/kernels/products.h"

namespace mynah::simt {

MYNAH_DEFINE_PRODUCTS(q4_k, Storage::Q4_K)
MYNAH_DEFINE_INT8_PRODUCTS(q4_k, Storage::Q4_K)

}  // namespace mynah::simt
