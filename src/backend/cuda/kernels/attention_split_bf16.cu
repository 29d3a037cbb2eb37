#include "backend/cuda/kernels/attention_split.h"

namespace mynah::simt {

MYNAH_DEFINE_SPLIT(attention_one_bf16, Bf16, 1)
MYNAH_DEFINE_SPLIT(attention_few_bf16, Bf16, kFewLines)

}  // namespace mynah::simt
