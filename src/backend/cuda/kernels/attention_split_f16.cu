#include "backend/cuda/kernels/attention_split.h"

namespace mynah::simt {

MYNAH_DEFINE_SPLIT(attention_one_f16, F16, 1, false)
MYNAH_DEFINE_SPLIT(attention_few_f16, F16, kFewLines, false)
MYNAH_DEFINE_SPLIT(attention_one_paged_f16, F16, 1, true)
MYNAH_DEFINE_SPLIT(attention_few_paged_f16, F16, kFewLines, true)

}  // namespace mynah::simt
