#include "backend/cuda/kernels/attention_split.h"

namespace mynah::simt {

MYNAH_DEFINE_SPLIT(attention_one_f16, F16, 1)
MYNAH_DEFINE_SPLIT(attention_few_f16, F16, kFewLines)

}  // namespace mynah::simt
