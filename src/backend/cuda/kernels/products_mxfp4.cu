#include "backend/cuda/kernels/products.h"

namespace mynah::simt {

MYNAH_DEFINE_PRODUCTS(mxfp4, Storage::MXFP4)
MYNAH_DEFINE_INT8_PRODUCTS(mxfp4, Storage::MXFP4)

}  // namespace mynah::simt
