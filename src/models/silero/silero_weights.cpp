#include "models/silero/silero_weights.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <iterator>
#include <numbers>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "ops/ops.h"

namespace mynah {

namespace {

// What one format calls the weights; each name may have a prefix, the same for all.
struct NameScheme {
  std::string_view basis;
  std::array<std::string_view, 4> convs;  // ".weight" and ".bias" follow
  std::string_view lstm;                  // "weight_ih" and so on follow
  std::string_view out;                   // ".weight" and ".bias" follow
};

constexpr NameScheme kSchemes[] = {
    // silero_vad_16k.safetensors (tinygrad_model.py).
    {.basis = "stft_conv.weight",
     .convs = {"conv1", "conv2", "conv3", "conv4"},
     .lstm = "lstm_cell.",
     .out = "final_conv"},
    // The original module's names: silero_vad.onnx, whisper.cpp's ggml file.
    {.basis = "stft.forward_basis_buffer",
     .convs = {"encoder.0.reparam_conv", "encoder.1.reparam_conv", "encoder.2.reparam_conv",
               "encoder.3.reparam_conv"},
     .lstm = "decoder.rnn.",
     .out = "decoder.decoder.2"},
};

// Sizes without those of 1: formats disagree on whether a kernel of one sample has a dimension.
std::vector<int64_t> essential_sizes(const Shape& shape) {
  std::vector<int64_t> sizes;
  std::ranges::copy_if(shape.sizes(), std::back_inserter(sizes),
                       [](int64_t size) { return size != 1; });
  return sizes;
}

bool same_essentially(const Shape& a, const Shape& b) {
  return essential_sizes(a) == essential_sizes(b);
}

// Where the network for one rate is in the file.
struct Network {
  const NameScheme* scheme = nullptr;
  std::string prefix;
};

// Finds the network by its basis, whose shape tells the rate.
std::optional<Network> find_network(const TensorFile& file, const SileroGeometry& geometry) {
  const Shape wanted{2 * geometry.bins(), 1, geometry.n_fft};
  for (const StoredTensor& tensor : file.tensors) {
    for (const NameScheme& scheme : kSchemes) {
      const std::string_view name = tensor.name;
      if (name.ends_with(scheme.basis) && same_essentially(tensor.shape, wanted)) {
        return Network{&scheme, std::string(name.substr(0, name.size() - scheme.basis.size()))};
      }
    }
  }
  return std::nullopt;
}

Error no_network(const TensorFile& file, const SileroGeometry& geometry) {
  const int other_rate = geometry.rate_hz == 16000 ? 8000 : 16000;
  if (find_network(file, *SileroGeometry::at_rate(other_rate))) {
    return {ErrorCode::Unsupported,
            fmt::format("{}: holds Silero for {} Hz only, wanted {} Hz: use --rate {}, or a file "
                        "with both (silero_vad.onnx)",
                        file.path, other_rate, geometry.rate_hz, other_rate)};
  }
  return {ErrorCode::InvalidInput,
          fmt::format("{}: wanted a Silero voice activity model (v5 or v6), found no tensor \"{}\" "
                      "or \"{}\" of {} values",
                      file.path, kSchemes[0].basis, kSchemes[1].basis,
                      2 * geometry.bins() * geometry.n_fft)};
}

// Reads one network's tensors.
class Reader {
 public:
  Reader(const TensorFile& file, Network network, Backend& backend)
      : file_(file), network_(std::move(network)), backend_(backend) {}

  [[nodiscard]] const NameScheme& scheme() const { return *network_.scheme; }

  // The tensor as f32, whatever it is stored as.
  Result<std::vector<float>> read(const std::string& name, const Shape& shape) {
    const std::string full_name = network_.prefix + name;
    const StoredTensor* stored = file_.find(full_name);
    if (stored == nullptr) {
      return fail(ErrorCode::InvalidInput,
                  fmt::format("{}: {}: wanted a tensor {}, found none: the file is cut or is not a "
                              "Silero model",
                              file_.path, full_name, shape.str()));
    }
    if (!same_essentially(stored->shape, shape)) {
      return fail(ErrorCode::InvalidInput,
                  fmt::format("{}: {}: wanted shape {}, found {}", file_.path, full_name,
                              shape.str(), stored->shape.str()));
    }
    std::vector<float> values = to_f32(*stored);
    if (!std::ranges::all_of(values, [](float value) { return std::isfinite(value); })) {
      return fail(ErrorCode::InvalidInput,
                  fmt::format("{}: {}: holds values that are not finite: the file is damaged",
                              file_.path, full_name));
    }
    return values;
  }

 private:
  // Copied first: a file's values may lie at any address.
  std::vector<float> to_f32(const StoredTensor& stored) {
    const Tensor copy =
        ops::from_host(backend_, stored.bytes, {stored.shape.elements()}, stored.dtype);
    return ops::to_host(backend_, ops::dequantize(backend_, copy));
  }

  const TensorFile& file_;
  Network network_;
  Backend& backend_;
};

Result<SileroConvValues> read_conv(Reader& reader, std::string_view name, SileroConvSize size) {
  MYNAH_TRY(std::vector<float> weight,
            reader.read(fmt::format("{}.weight", name), {size.out, size.in, kSileroKernel}));
  MYNAH_TRY(std::vector<float> bias, reader.read(fmt::format("{}.bias", name), {size.out}));
  return SileroConvValues{std::move(weight), std::move(bias)};
}

Status read_lstm(Reader& reader, SileroValues& values) {
  constexpr int64_t kGates = 4 * kSileroHidden;
  const std::string name(reader.scheme().lstm);
  MYNAH_TRY(values.lstm_input, reader.read(name + "weight_ih", {kGates, kSileroHidden}));
  MYNAH_TRY(values.lstm_recurrent, reader.read(name + "weight_hh", {kGates, kSileroHidden}));
  MYNAH_TRY(values.lstm_bias, reader.read(name + "bias_ih", {kGates}));
  MYNAH_TRY(const std::vector<float> recurrent_bias, reader.read(name + "bias_hh", {kGates}));
  std::ranges::transform(values.lstm_bias, recurrent_bias, values.lstm_bias.begin(), std::plus<>());
  return {};
}

}  // namespace

bool is_fourier_basis(std::span<const float> basis, const SileroGeometry& geometry) {
  constexpr double kRounding = 1e-6;  // of values up to 1 in f32, made by arithmetic in f32
  const int64_t n_fft = geometry.n_fft;
  const double step = 2.0 * std::numbers::pi / static_cast<double>(n_fft);
  for (int64_t row = 0; row < 2 * geometry.bins(); ++row) {
    const int64_t bin = row % geometry.bins();
    for (int64_t n = 0; n < n_fft; ++n) {
      const double angle = step * static_cast<double>(bin * n % n_fft);
      const double wave = row < geometry.bins() ? std::cos(angle) : -std::sin(angle);
      const double wanted = static_cast<double>(basis[static_cast<size_t>(n)]) * wave;
      if (std::abs(static_cast<double>(basis[static_cast<size_t>(row * n_fft + n)]) - wanted) >
          kRounding) {
        return false;
      }
    }
  }
  return true;
}

std::array<SileroConvSize, 4> silero_conv_sizes(const SileroGeometry& geometry) {
  return {{{geometry.bins(), 128}, {128, 64}, {64, 64}, {64, kSileroHidden}}};
}

Result<SileroValues> read_silero_values(const TensorFile& file, const SileroGeometry& geometry,
                                        Backend& backend) {
  std::optional<Network> network = find_network(file, geometry);
  if (!network) {
    return std::unexpected(no_network(file, geometry));
  }
  Reader reader(file, *std::move(network), backend);
  const NameScheme& scheme = reader.scheme();
  SileroValues values;
  MYNAH_TRY(values.basis,
            reader.read(std::string(scheme.basis), {2 * geometry.bins(), 1, geometry.n_fft}));
  const std::array<SileroConvSize, 4> sizes = silero_conv_sizes(geometry);
  for (size_t i = 0; i < sizes.size(); ++i) {
    MYNAH_TRY(values.convs[i], read_conv(reader, scheme.convs[i], sizes[i]));
  }
  MYNAH_TRY_STATUS(read_lstm(reader, values));
  MYNAH_TRY(values.out_weight,
            reader.read(fmt::format("{}.weight", scheme.out), {1, kSileroHidden, 1}));
  MYNAH_TRY(values.out_bias, reader.read(fmt::format("{}.bias", scheme.out), {1}));
  return values;
}

}  // namespace mynah
