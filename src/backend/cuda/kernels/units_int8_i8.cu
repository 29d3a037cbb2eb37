#include "backend/cuda/kernels/units_products.h"

namespace mynah::simt {

MYNAH_DEFINE_UNITS_LINEAR(i8, Storage::I8, kThreadsAtOnce<UnitsTile128>)

}  // namespace mynah::simt
