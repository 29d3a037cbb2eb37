#include "backend/cuda/kernels/attention_split.h"

namespace mynah::simt {

MYNAH_DEFINE_SPLIT(attention_one_f32, float, 1, false)
MYNAH_DEFINE_SPLIT(attention_few_f32, float, kFewLines, false)
MYNAH_DEFINE_SPLIT(attention_one_paged_f32, float, 1, true)
MYNAH_DEFINE_SPLIT(attention_few_paged_f32, float, kFewLines, true)

}  // namespace mynah::simt
