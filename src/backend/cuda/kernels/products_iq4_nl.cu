#include "backend/cuda/kernels/products.h"

namespace mynah::simt {

MYNAH_DEFINE_PRODUCTS(iq4_nl, Storage::IQ4_NL)
MYNAH_DEFINE_INT8_PRODUCTS(iq4_nl, Storage::IQ4_NL)

}  // namespace mynah::simt
