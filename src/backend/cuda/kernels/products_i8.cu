#include "backend/cuda/kernels/products.h"

namespace mynah::simt {

MYNAH_DEFINE_PRODUCTS(i8, Storage::I8)
MYNAH_DEFINE_INT8_PRODUCTS(i8, Storage::I8)
MYNAH_DEFINE_CONV1D(i8, Storage::I8)

}  // namespace mynah::simt
