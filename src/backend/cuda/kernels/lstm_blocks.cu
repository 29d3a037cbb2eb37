// LSTM with weights of block types.
#include "backend/cuda/kernels/lstm.h"

namespace mynah::simt {

MYNAH_DEFINE_LSTM(q4_0, Storage::Q4_0)
MYNAH_DEFINE_LSTM(q4_1, Storage::Q4_1)
MYNAH_DEFINE_LSTM(q5_0, Storage::Q5_0)
MYNAH_DEFINE_LSTM(q5_1, Storage::Q5_1)
MYNAH_DEFINE_LSTM(q8_0, Storage::Q8_0)
MYNAH_DEFINE_LSTM(q2_k, Storage::Q2_K)
MYNAH_DEFINE_LSTM(q3_k, Storage::Q3_K)
MYNAH_DEFINE_LSTM(q4_k, Storage::Q4_K)
MYNAH_DEFINE_LSTM(q5_k, Storage::Q5_K)
MYNAH_DEFINE_LSTM(q6_k, Storage::Q6_K)
MYNAH_DEFINE_LSTM(iq4_nl, Storage::IQ4_NL)
MYNAH_DEFINE_LSTM(iq4_xs, Storage::IQ4_XS)
MYNAH_DEFINE_LSTM(mxfp4, Storage::MXFP4)

}  // namespace mynah::simt
