#include "backend/cuda/kernels/attention_split.h"

namespace mynah::simt {

MYNAH_DEFINE_SPLIT(attention_one_f32, float, 1)
MYNAH_DEFINE_SPLIT(attention_few_f32, float, kFewLines)

}  // namespace mynah::simt
