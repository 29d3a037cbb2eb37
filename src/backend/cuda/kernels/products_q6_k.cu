#include "backend/cuda/kernels/products.h"

namespace mynah::simt {

MYNAH_DEFINE_PRODUCTS(q6_k, Storage::Q6_K)
MYNAH_DEFINE_INT8_PRODUCTS(q6_k, Storage::Q6_K)

}  // namespace mynah::simt
