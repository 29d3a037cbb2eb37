// Magnitudes of the discrete Fourier transforms of rows.
#include "backend/cuda/kernels/spectrum_args.h"
#include "backend/cuda/kernels/transform.h"
#include "backend/cuda/simt/simt.h"

namespace mynah::simt {

namespace {

constexpr int kThreads = 128;

}  // namespace

MYNAH_KERNEL(magnitude_spectrum, SpectrumArgs, kThreads) {
  MYNAH_DYNAMIC_SHARED(float, buffers);
  const Global<const float> x(args.x.data);
  const Global<const float> window(args.window);
  const Global<const float> table(args.table);
  const Global<float> out(args.out.data);
  const int64_t first = static_cast<int64_t>(block_index_x()) * args.each;
  const int64_t left = args.rows - first;
  const int count = args.points / 2;
  const Transforms all{static_cast<int>(left < args.each ? left : args.each), count};
  for (int i = thread_index(); i < all.rows * count; i += thread_count()) {
    const int row = i / count;
    const int at = 2 * (i - row * count);
    const int64_t from = (first + row) * args.x.stride + at;
    put_number(buffers, i, {x[from] * window[at], x[from + 1] * window[at + 1]});
  }
  const int begin = transform(buffers, all, table);
  const int bins = count + 1;
  for (int i = thread_index(); i < all.rows * bins; i += thread_count()) {
    const int row = i / bins;
    const int f = i - row * bins;
    out[(first + row) * args.out.stride + f] =
        square_root(power_of(buffers, begin + row * count, count, f, table));
  }
}

}  // namespace mynah::simt
