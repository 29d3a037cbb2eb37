#include "backend/cuda/kernels/products.h"

namespace mynah::simt {

MYNAH_DEFINE_PRODUCTS(q2_k, Storage::Q2_K)
MYNAH_DEFINE_INT8_PRODUCTS(q2_k, Storage::Q2_K)

}  // namespace mynah::simt
