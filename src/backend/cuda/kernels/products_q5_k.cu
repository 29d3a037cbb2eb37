#include "backend/cuda/kernels/products.h"

namespace mynah::simt {

MYNAH_DEFINE_PRODUCTS(q5_k, Storage::Q5_K)
MYNAH_DEFINE_INT8_PRODUCTS(q5_k, Storage::Q5_K)

}  // namespace mynah::simt
