#include "backend/cuda/kernels/attention_split.h"

namespace mynah::simt {

MYNAH_DEFINE_SPLIT(attention_one_bf16, Bf16, 1, false)
MYNAH_DEFINE_SPLIT(attention_few_bf16, Bf16, kFewLines, false)
MYNAH_DEFINE_SPLIT(attention_one_paged_bf16, Bf16, 1, true)
MYNAH_DEFINE_SPLIT(attention_few_paged_bf16, Bf16, kFewLines, true)

}  // namespace mynah::simt
