#include "backend/cuda/kernels/products.h"

namespace mynah::simt {

MYNAH_DEFINE_PRODUCTS(f32, Storage::F32)
MYNAH_DEFINE_CONV1D(f32, Storage::F32)

}  // namespace mynah::simt
