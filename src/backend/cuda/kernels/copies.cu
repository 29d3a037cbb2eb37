// Copies between layouts and float types.
#include "backend/cuda/kernels/copy_args.h"
#include "backend/cuda/simt/simt.h"

namespace mynah::simt {

namespace {

constexpr int kThreads = 256;

struct Offsets {
  int64_t x;
  int64_t out;
};

// Where element `number` lies in both.
inline Offsets offsets_of(const CopyArgs& args, int64_t number) {
  Offsets offsets{0, 0};
  for (int axis = args.rank - 1; axis > 0; --axis) {
    const int64_t i = number % args.shape[axis];
    number /= args.shape[axis];
    offsets.x += i * args.x_strides[axis];
    offsets.out += i * args.out_strides[axis];
  }
  offsets.x += number * args.x_strides[0];
  offsets.out += number * args.out_strides[0];
  return offsets;
}

template <class From, class To>
inline void cast(const CopyArgs& args) {
  const Global<const From> x(static_cast<const From*>(args.x));
  const Global<To> out(static_cast<To*>(args.out));
  const int64_t number = static_cast<int64_t>(block_index_x()) * thread_count() + thread_index();
  if (number < args.elements) {
    const Offsets at = offsets_of(args, number);
    out[at.out] = from_float<To>(to_float(x[at.x]));
  }
}

// Bits as they are.
template <class T>
inline void move(const CopyArgs& args) {
  const Global<const T> x(static_cast<const T*>(args.x));
  const Global<T> out(static_cast<T*>(args.out));
  const int64_t number = static_cast<int64_t>(block_index_x()) * thread_count() + thread_index();
  if (number < args.elements) {
    const Offsets at = offsets_of(args, number);
    out[at.out] = static_cast<T>(x[at.x]);
  }
}

}  // namespace

MYNAH_KERNEL(copy_1, CopyArgs, kThreads) {
  move<uint8_t>(args);
}

MYNAH_KERNEL(copy_2, CopyArgs, kThreads) {
  move<uint16_t>(args);
}

MYNAH_KERNEL(copy_4, CopyArgs, kThreads) {
  move<uint32_t>(args);
}

MYNAH_KERNEL(copy_8, CopyArgs, kThreads) {
  move<uint64_t>(args);
}

// Runs of 16 bytes, aligned to them: strides count those.
MYNAH_KERNEL(copy_16, CopyArgs, kThreads) {
  constexpr int kWords = 4;
  const Global<const uint32_t> x(static_cast<const uint32_t*>(args.x));
  const Global<uint32_t> out(static_cast<uint32_t*>(args.out));
  const int64_t number = static_cast<int64_t>(block_index_x()) * thread_count() + thread_index();
  if (number < args.elements) {
    const Offsets at = offsets_of(args, number);
    out.store<kWords>(at.out * kWords, x.load<kWords>(at.x * kWords));
  }
}

MYNAH_KERNEL(cast_f32_f16, CopyArgs, kThreads) {
  cast<float, F16>(args);
}

MYNAH_KERNEL(cast_f32_bf16, CopyArgs, kThreads) {
  cast<float, Bf16>(args);
}

MYNAH_KERNEL(cast_f16_f32, CopyArgs, kThreads) {
  cast<F16, float>(args);
}

MYNAH_KERNEL(cast_f16_bf16, CopyArgs, kThreads) {
  cast<F16, Bf16>(args);
}

MYNAH_KERNEL(cast_bf16_f32, CopyArgs, kThreads) {
  cast<Bf16, float>(args);
}

MYNAH_KERNEL(cast_bf16_f16, CopyArgs, kThreads) {
  cast<Bf16, F16>(args);
}

}  // namespace mynah::simt
