#include "backend/cuda/kernels/products.h"

namespace mynah::simt {

MYNAH_DEFINE_PRODUCTS(iq4_xs, Storage::IQ4_XS)
MYNAH_DEFINE_INT8_PRODUCTS(iq4_xs, Storage::IQ4_XS)

}  // namespace mynah::simt
