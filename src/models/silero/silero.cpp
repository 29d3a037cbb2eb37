#include "models/silero/silero.h"

#include <span>
#include <vector>

#include <fmt/format.h>

#include "models/silero/silero_weights.h"
#include "ops/ops.h"
#include "tensor/host_pool.h"

namespace mynah {

namespace {

// Values as a tensor of host memory, for packing; valid as long as they are.
Tensor host_tensor(std::span<const float> values, const Shape& shape) {
  return {wrap_host_memory(values.data(), values.size_bytes(), nullptr), 0, shape, DType::F32,
          Device{}};
}

LinearWeight pack(Backend& backend, std::span<const float> values, int64_t out, int64_t in) {
  return ops::pack_linear(backend, host_tensor(values, {out, in}), DType::F32);
}

Tensor upload(Backend& backend, std::span<const float> values) {
  return ops::from_host(backend, values, {static_cast<int64_t>(values.size())});
}

// Taps [first, first + count) of a convolution's weight (out, in, 3), as (out, count * in): its
// product with the `count` rows that they fall on, side by side.
std::vector<float> taps_as_rows(std::span<const float> weight, SileroConvSize size, int64_t first,
                                int64_t count) {
  std::vector<float> rows;
  rows.reserve(static_cast<size_t>(size.out * count * size.in));
  for (int64_t out = 0; out < size.out; ++out) {
    for (int64_t tap = first; tap < first + count; ++tap) {
      for (int64_t in = 0; in < size.in; ++in) {
        rows.push_back(weight[static_cast<size_t>((out * size.in + in) * kSileroKernel + tap)]);
      }
    }
  }
  return rows;
}

// `count` utterances of `length` rows each.
Lengths equal_lengths(int64_t count, int64_t length) {
  Lengths lengths;
  for (int64_t i = 0; i < count; ++i) {
    lengths.add(length);
  }
  return lengths;
}

}  // namespace

Result<Silero> Silero::load(const TensorFile& file, int rate_hz, Backend& backend) {
  const std::optional<SileroGeometry> geometry = SileroGeometry::at_rate(rate_hz);
  if (!geometry) {
    return fail(ErrorCode::InvalidInput,
                fmt::format("Silero works at 8000 or 16000 Hz, not at {}", rate_hz));
  }
  MYNAH_TRY(const SileroValues values, read_silero_values(file, *geometry, backend));
  const std::array<SileroConvSize, 4> sizes = silero_conv_sizes(*geometry);
  const auto pack_conv = [&](size_t i) {
    const Tensor weight =
        host_tensor(values.convs[i].weight, {sizes[i].out, sizes[i].in, kSileroKernel});
    return Layer{ops::pack_conv1d(backend, weight, DType::F32),
                 upload(backend, values.convs[i].bias)};
  };
  const auto pack_taps = [&](size_t i, int64_t first, int64_t count) {
    const std::vector<float> rows = taps_as_rows(values.convs[i].weight, sizes[i], first, count);
    return Layer{pack(backend, rows, sizes[i].out, count * sizes[i].in),
                 upload(backend, values.convs[i].bias)};
  };

  Silero silero(*geometry, backend);
  if (is_fourier_basis(values.basis, *geometry)) {
    silero.window_ = upload(backend, std::span(values.basis).first(geometry->n_fft));
  } else {
    silero.basis_ = pack(backend, values.basis, 2 * geometry->bins(), geometry->n_fft);
  }
  silero.conv1_ = pack_conv(0);
  silero.conv2_ = pack_conv(1);
  silero.conv3_ = pack_taps(2, 1, 2);
  silero.conv4_ = pack_taps(3, 1, 1);
  silero.lstm_input_ = pack(backend, values.lstm_input, 4 * kSileroHidden, kSileroHidden);
  silero.lstm_recurrent_ = pack(backend, values.lstm_recurrent, 4 * kSileroHidden, kSileroHidden);
  silero.lstm_bias_ = upload(backend, values.lstm_bias);
  silero.out_ = {pack(backend, values.out_weight, 1, kSileroHidden),
                 upload(backend, values.out_bias)};
  return silero;
}

SileroState Silero::initial_state(int64_t recordings) const {
  return {ops::zeros(*backend_, {recordings, kSileroHidden}),
          ops::zeros(*backend_, {recordings, kSileroHidden})};
}

// Magnitudes of the short-time Fourier transform: (4F, n_fft) -> (4F, bins).
Tensor Silero::spectrum(const Tensor& columns) const {
  if (window_.defined()) {
    return ops::magnitude_spectrum(*backend_, columns, window_);
  }
  const Tensor parts = ops::linear(*backend_, columns, basis_);
  const Tensor real = parts.narrow(1, 0, geometry_.bins());
  const Tensor imaginary = parts.narrow(1, geometry_.bins(), geometry_.bins());
  return ops::sqrt(*backend_, ops::add(*backend_, ops::mul(*backend_, real, real),
                                       ops::mul(*backend_, imaginary, imaginary)));
}

Tensor Silero::conv(const Layer& layer, const Tensor& x, const Lengths& lengths,
                    int64_t stride) const {
  return ops::conv1d(*backend_, x, lengths, layer.weight,
                     {.kernel = kSileroKernel,
                      .stride = stride,
                      .padding_left = 1,
                      .padding_right = 1,
                      .bias = &layer.bias,
                      .activation = Activation::Relu});
}

Tensor Silero::linear(const Layer& layer, const Tensor& x, Activation activation) const {
  return ops::linear(*backend_, x, layer.weight, {.bias = &layer.bias, .activation = activation});
}

Tensor Silero::forward(const Tensor& columns, const Lengths& frames,
                       const SileroState& state) const {
  const int64_t count = frames.total();
  Tensor x = spectrum(columns);  // (4F, bins)
  // A frame's convolutions see zeros beyond its own four columns.
  x = conv(conv1_, x, equal_lengths(count, kSileroColumns), 1);            // (4F, 128)
  x = conv(conv2_, x, equal_lengths(count, kSileroColumns), 2);            // (2F, 64)
  x = linear(conv3_, x.reshape({count, 2 * x.dim(1)}), Activation::Relu);  // (F, 64), stride 2
  x = linear(conv4_, x, Activation::Relu);                                 // (F, 128)
  x = ops::lstm(*backend_, x, frames, lstm_input_, lstm_recurrent_, lstm_bias_, {}, state.h,
                state.c);                                             // (F, 128)
  return linear(out_, ops::relu(*backend_, x), Activation::Sigmoid);  // (F, 1)
}

}  // namespace mynah
