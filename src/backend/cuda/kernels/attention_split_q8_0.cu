#include "backend/cuda/kernels/attention_split.h"

namespace mynah::simt {

MYNAH_DEFINE_SPLIT(attention_one_q8_0, Q8, 1, true)
MYNAH_DEFINE_SPLIT(attention_few_q8_0, Q8, kFewLines, true)

}  // namespace mynah::simt
