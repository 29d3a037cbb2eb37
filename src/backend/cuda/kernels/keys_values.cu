// Keys and values to the layout that they are read in many times.
#include "backend/cuda/kernels/attention_args.h"
#include "backend/cuda/simt/simt.h"

namespace mynah::simt {

namespace {

constexpr int kThreads = 256;

template <class From, class To>
inline void pack(const PackKeysArgs& args) {
  const bool is_key = block_index_y() == 0;
  const int64_t elements = static_cast<int64_t>(args.rows) * args.heads * args.width;
  const int64_t number = static_cast<int64_t>(block_index_x()) * kThreads + thread_index();
  if (number >= elements) {
    return;
  }
  const Global<const From> x(static_cast<const From*>(is_key ? args.keys : args.values));
  const Global<To> out(static_cast<To*>(args.out));
  const int64_t column = number % args.width;
  const int64_t row = number / args.width % args.rows;
  const int64_t head = number / args.width / args.rows;
  float value = 0.0F;
  if (column < args.head_dim) {
    const int64_t stride = is_key ? args.key_stride : args.value_stride;
    value = to_float(x[row * stride + head * args.head_dim + column]);
  }
  out[(is_key ? 0 : elements) + number] = from_float<To>(value);
}

}  // namespace

MYNAH_KERNEL(pack_keys_f32_f32, PackKeysArgs, kThreads) {
  pack<float, float>(args);
}

MYNAH_KERNEL(pack_keys_f16_f32, PackKeysArgs, kThreads) {
  pack<F16, float>(args);
}

MYNAH_KERNEL(pack_keys_bf16_f32, PackKeysArgs, kThreads) {
  pack<Bf16, float>(args);
}

MYNAH_KERNEL(pack_keys_f32_f16, PackKeysArgs, kThreads) {
  pack<float, F16>(args);
}

MYNAH_KERNEL(pack_keys_f16_f16, PackKeysArgs, kThreads) {
  pack<F16, F16>(args);
}

MYNAH_KERNEL(pack_keys_bf16_f16, PackKeysArgs, kThreads) {
  pack<Bf16, F16>(args);
}

}  // namespace mynah::simt
