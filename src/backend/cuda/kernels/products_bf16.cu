#include "backend/cuda/kernels/products.h"

namespace mynah::simt {

MYNAH_DEFINE_PRODUCTS(bf16, Storage::BF16)
MYNAH_DEFINE_CONV1D(bf16, Storage::BF16)

}  // namespace mynah::simt
