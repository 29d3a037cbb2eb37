// LSTM with weights in a type of a number each.
#include "backend/cuda/kernels/lstm.h"

namespace mynah::simt {

MYNAH_DEFINE_LSTM(f32, Storage::F32)
MYNAH_DEFINE_LSTM(f16, Storage::F16)
MYNAH_DEFINE_LSTM(bf16, Storage::BF16)
MYNAH_DEFINE_LSTM(i8, Storage::I8)

}  // namespace mynah::simt
