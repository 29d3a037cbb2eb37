#include "models/turn/model.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "base/check.h"
#include "base/mapped_file.h"
#include "ops/ops.h"

namespace mynah::turn {

namespace {

// Added to the variance that a turn is divided by: transformers' WhisperFeatureExtractor,
// zero_mean_unit_var_norm.
constexpr double kVarianceEpsilon = 1e-7;
// Far beyond any export: a damaged one must not ask for more memory than its own bytes explain.
constexpr int64_t kMostPositions = 1500;

// (rows, columns) of a tensor that has at least two dimensions.
Result<Shape> matrix_shape(const Weights& w, std::string_view tensor) {
  MYNAH_TRY(const Shape shape, w.shape(tensor));
  if (shape.rank() < 2 || shape.elements() == 0) {
    return fail(ErrorCode::InvalidInput,
                fmt::format("{}: wanted a matrix, found {}", tensor, shape.str()));
  }
  return shape;
}

Result<AudioEncoder::Sizes> read_sizes(const Weights& w, int64_t heads) {
  MYNAH_TRY(const Shape kernel, matrix_shape(w, "encoder.conv1.weight"));
  MYNAH_TRY(const Shape positions, matrix_shape(w, "encoder.positional_embedding"));
  AudioEncoder::Sizes sizes{
      .mels = kernel[1], .positions = positions[0], .width = kernel[0], .heads = heads};
  while (w.has(fmt::format("encoder.blocks.{}.attn_ln.weight", sizes.layers))) {
    ++sizes.layers;
  }
  if (heads < 1 || sizes.width % heads != 0 || sizes.layers < 1 ||
      sizes.positions > kMostPositions) {
    return fail(ErrorCode::InvalidInput,
                fmt::format("wanted layers of attention whose heads divide {} columns, and at most "
                            "{} positions, found {} layers of {} heads and {} positions",
                            sizes.width, kMostPositions, sizes.layers, heads, sizes.positions));
  }
  return sizes;
}

// The window's samples, the turn at its end and zeros in front of it, at mean zero and variance
// one; behind them as much of their mirror image as the last frame sees (kMelFft / 2).
void append_window(std::span<const float> turn, int64_t window, std::vector<float>& samples) {
  const auto size = static_cast<size_t>(window);
  turn = turn.last(std::min(turn.size(), size));
  const size_t begin = samples.size();
  samples.resize(begin + size - turn.size(), 0.0F);
  samples.insert(samples.end(), turn.begin(), turn.end());
  const std::span<float> all(&samples[begin], size);
  double sum = 0;
  for (const float sample : turn) {
    sum += sample;
  }
  const double mean = sum / static_cast<double>(size);
  double squares = 0;
  for (const float sample : all) {
    squares += (sample - mean) * (sample - mean);
  }
  const double scale = 1.0 / std::sqrt(squares / static_cast<double>(size) + kVarianceEpsilon);
  for (float& sample : all) {
    sample = static_cast<float>((sample - mean) * scale);
  }
  constexpr size_t kMirrored = kMelFft / 2;
  samples.resize(begin + size + kMirrored);
  for (size_t i = 0; i < kMirrored; ++i) {
    samples[begin + size + i] = samples[begin + size - 2 - i];
  }
}

}  // namespace

Status Model::take(const Weights& coarse, const Weights& fine) {
  const int64_t width = sizes_.width;
  MYNAH_TRY(encoder_, AudioEncoder::load(coarse / "encoder", sizes_));
  MYNAH_TRY(const Shape pooled, matrix_shape(fine, "pool.0.weight"));
  MYNAH_TRY(pool_in_, Linear::load(fine / "pool.0", {.in = width, .out = pooled[0]}));
  MYNAH_TRY(pool_out_, Linear::load(fine / "pool.2", {.in = pooled[0], .out = 1}));
  MYNAH_TRY(const Shape first, matrix_shape(fine, "classifier.0.weight"));
  MYNAH_TRY(first_, Linear::load(fine / "classifier.0", {.in = width, .out = first[0]}));
  MYNAH_TRY(first_norm_, LayerNorm::load(fine / "classifier.1", first[0]));
  MYNAH_TRY(const Shape second, matrix_shape(fine, "classifier.4.weight"));
  MYNAH_TRY(second_, Linear::load(fine / "classifier.4", {.in = first[0], .out = second[0]}));
  MYNAH_TRY(last_, Linear::load(fine / "classifier.6", {.in = second[0], .out = 1}));
  return {};
}

Result<std::shared_ptr<const Model>> Model::load(const OnnxWeights& weights,
                                                 const StageWeights& stage) {
  // Not by std::make_shared: the constructor is private.
  std::shared_ptr<Model> model(new Model);
  model->backend_ = stage.backend;
  const Weights coarse(weights.tensors, weights.owner, *stage.backend, stage.options);
  MYNAH_TRY(model->sizes_, read_sizes(coarse, weights.heads));
  MYNAH_TRY_STATUS(model->take(coarse, coarse.as(DType::F32, Precision::Exact)));
  if (stage.options.cache != nullptr) {
    (void)stage.options.cache->commit();  // an unwritable cache costs time at the next start
    stage.options.cache->release_pages();
  }
  const std::vector<float> filters = mel_filters(model->sizes_.mels);
  model->filters_ = ops::from_host(*stage.backend, std::span<const float>(filters),
                                   {model->sizes_.mels, kMelFft / 2 + 1});
  stage.backend->release_idle_memory();
  return model;
}

Result<std::shared_ptr<const Model>> Model::open(const std::string& path,
                                                 const StageWeights& stage) {
  MYNAH_TRY(const auto file, MappedFile::open(path));
  MYNAH_TRY(const OnnxModel graph, read_onnx_model(file));
  if (!is_turn_model(graph)) {
    return fail(ErrorCode::InvalidInput,
                fmt::format("{}: wanted an end-of-turn model (Smart Turn v3's ONNX file), found "
                            "another graph: `mynah pull smart-turn` brings one",
                            path));
  }
  MYNAH_TRY(const OnnxWeights weights, read_onnx_weights(graph));
  auto model = load(weights, stage);
  if (!model) {
    return std::unexpected(std::move(model).error().while_doing(path));
  }
  return model;
}

Tensor Model::features(std::span<const std::span<const float>> turns) const {
  Lengths samples;
  Lengths frames;
  std::vector<float> waveform;
  for (const std::span<const float> turn : turns) {
    const size_t before = waveform.size();
    append_window(turn, window(), waveform);
    samples.add(static_cast<int64_t>(waveform.size() - before));
    frames.add(2 * sizes_.positions);
  }
  const Tensor sound =
      ops::from_host(*backend_, std::span<const float>(waveform), {std::ssize(waveform)});
  return ops::log_mel(*backend_, sound,
                      {.n_fft = kMelFft,
                       .hop = kMelHop,
                       .filters = &filters_,
                       .samples = samples.spans(),
                       .frames = frames.spans()});
}

std::vector<float> Model::score_features(const Tensor& mel) const {
  Backend& backend = *backend_;
  const int64_t turns = mel.dim(0) / (2 * sizes_.positions);
  Lengths frames;
  for (int64_t i = 0; i < turns; ++i) {
    frames.add(2 * sizes_.positions);
  }
  const Tensor states = encoder_.forward(mel, frames);  // (turns * positions, width)
  const Tensor levels = pool_out_(pool_in_(states, {.activation = Activation::Tanh}));
  // (turns, 1, positions): how much each position counts.
  const Tensor shares = ops::softmax(backend, levels.reshape({turns, 1, sizes_.positions}));
  const Tensor pooled =
      ops::matmul(backend, shares, states.reshape({turns, sizes_.positions, sizes_.width}));
  const Tensor first = ops::gelu(
      backend, first_norm_(first_(pooled.reshape({turns, sizes_.width}))));  // (turns, any)
  const Tensor second = second_(first, {.activation = Activation::Gelu});
  return ops::to_host(backend, last_(second, {.activation = Activation::Sigmoid}));
}

std::vector<float> Model::score(std::span<const std::span<const float>> turns) const {
  if (turns.empty()) {
    return {};
  }
  return score_features(features(turns));
}

}  // namespace mynah::turn
