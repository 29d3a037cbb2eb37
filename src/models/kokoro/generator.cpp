#include "models/kokoro/generator.h"

#include <span>
#include <utility>

namespace mynah::kokoro {

namespace {

// config.json of hexgrad/Kokoro-82M, "istftnet".
struct StageSizes {
  int64_t narrower;  // than the generator's input: what comes out
  int64_t kernel;
  int64_t stride;
  Conv1d::Sizes source;
  int64_t source_kernel;  // of the source's block
};

constexpr std::array<StageSizes, 2> kStages = {
    {{.narrower = 2,
      .kernel = 20,
      .stride = 10,
      .source = {.in = 2 * kBins, .kernel = 12, .stride = 6, .padding = 3},
      .source_kernel = 7},
     {.narrower = 4, .kernel = 12, .stride = 6, .source = {.in = 2 * kBins}, .source_kernel = 11}}};
constexpr std::array<int64_t, 3> kKernels = {3, 7, 11};
constexpr std::array<int64_t, 3> kDilations = {1, 3, 5};
constexpr float kResidualSlope = 0.1F;
constexpr float kLastSlope = 0.01F;
constexpr int64_t kHarmonics = 9;  // the pitch itself and eight above
constexpr StftParams kTransform{.n_fft = kFft, .hop = kHop};

// One more row before the first: the second (reflection).
Tensor reflected(Backend& backend, const Tensor& x) {
  Tensor longer = ops::empty(backend, {x.dim(0) + 1, x.dim(1)});
  ops::copy_into(backend, x, longer.narrow(0, 1, x.dim(0)));
  ops::copy_into(backend, x.narrow(0, 1, 1), longer.narrow(0, 0, 1));
  return longer;
}

}  // namespace

Result<Generator::Block> Generator::load_block(const Weights& w, int64_t channels, int64_t style,
                                               int64_t kernel) {
  Block block;
  for (size_t i = 0; i < block.pairs.size(); ++i) {
    const auto place = static_cast<int64_t>(i);
    Block::Pair& pair = block.pairs[i];
    MYNAH_TRY(pair.norm1, AdaIn::load(w / "adain1" / place, channels, style));
    MYNAH_TRY(pair.norm2, AdaIn::load(w / "adain2" / place, channels, style));
    MYNAH_TRY(pair.alpha1, (w / "alpha1").get(std::to_string(i), {1, channels, 1}));
    MYNAH_TRY(pair.alpha2, (w / "alpha2").get(std::to_string(i), {1, channels, 1}));
    pair.alpha1 = pair.alpha1.reshape({channels});
    pair.alpha2 = pair.alpha2.reshape({channels});
    MYNAH_TRY(pair.conv1,
              Conv1d::load(w / "convs1" / place, {.in = channels,
                                                  .out = channels,
                                                  .kernel = kernel,
                                                  .padding = kDilations[i] * (kernel - 1) / 2,
                                                  .dilation = kDilations[i]}));
    MYNAH_TRY(pair.conv2, Conv1d::load(w / "convs2" / place, {.in = channels,
                                                              .out = channels,
                                                              .kernel = kernel,
                                                              .padding = (kernel - 1) / 2}));
  }
  return block;
}

Result<Generator> Generator::load(const Weights& w, const Sizes& widths) {
  Generator generator;
  generator.backend_ = &w.backend();
  const Weights source = w / "m_source.l_linear";
  MYNAH_TRY(const Tensor weights, source.get("weight", {1, kHarmonics}));
  MYNAH_TRY(const Tensor bias, source.get("bias", {1}));
  generator.harmonics_ = weights.reshape({kHarmonics});
  ops::to_host(w.backend(), bias, std::span(&generator.bias_, 1));
  for (size_t i = 0; i < kStages.size(); ++i) {
    const auto place = static_cast<int64_t>(i);
    const StageSizes& sizes = kStages[i];
    Stage& stage = generator.stages_[i];
    const int64_t out = widths.generator / sizes.narrower;
    Conv1d::Sizes source_sizes = sizes.source;
    source_sizes.out = out;
    MYNAH_TRY(stage.up,
              ConvTranspose1d::load(w / "ups" / place,
                                    {.in = 2 * out,
                                     .out = out,
                                     .kernel = {.kernel = sizes.kernel,
                                                .stride = sizes.stride,
                                                .padding = (sizes.kernel - sizes.stride) / 2}}));
    MYNAH_TRY(stage.source, Conv1d::load(w / "noise_convs" / place, source_sizes));
    MYNAH_TRY(stage.source_block,
              load_block(w / "noise_res" / place, out, widths.style, sizes.source_kernel));
    for (size_t k = 0; k < kKernels.size(); ++k) {
      MYNAH_TRY(stage.blocks[k],
                load_block(w / "resblocks" / static_cast<int64_t>(i * kKernels.size() + k), out,
                           widths.style, kKernels[k]));
    }
  }
  // Its results are logarithms of magnitudes: int8 is too coarse for them.
  const bool coarse = w.precision() == Precision::Fast;
  const Weights last = coarse ? w.as(DType::BF16, Precision::Fast) : w;
  MYNAH_TRY(generator.out_,
            Conv1d::load(last / "conv_post", {.in = widths.generator / kStages.back().narrower,
                                              .out = 2 * kBins,
                                              .kernel = 7,
                                              .padding = 3}));
  return generator;
}

Tensor Generator::run(const Block& block, Tensor x, const Tensor& style) const {
  const Lengths lengths{x.dim(0)};
  for (const Block::Pair& pair : block.pairs) {
    const Tensor first = pair.norm1(x, lengths, style);
    const Conv1dInput seen{.factors = &first, .alpha = &pair.alpha1};
    const Tensor own = pair.conv1(x, lengths, {.input = &seen});
    const Tensor second = pair.norm2(own, lengths, style);
    const Conv1dInput seen_again{.factors = &second, .alpha = &pair.alpha2};
    x = pair.conv2(own, lengths, {.input = &seen_again, .residual = &x});
  }
  return x;
}

Tensor Generator::harmonics(const Tensor& pitch) const {
  const Tensor source = ops::sine_source(
      *backend_, pitch, {pitch.dim(0)},
      {.samples = kPitchSamples, .rate = kRate, .weights = &harmonics_, .bias = bias_});
  return ops::stft(*backend_, source.reshape({source.elements()}), {source.elements()}, kTransform);
}

Tensor Generator::spectrum(const Tensor& x, const Tensor& harmonics, const Tensor& style) const {
  Backend& backend = *backend_;
  const Lengths of_harmonics{harmonics.dim(0)};
  Tensor sung = x;
  for (size_t i = 0; i < stages_.size(); ++i) {
    const Stage& stage = stages_[i];
    const Lengths lengths{sung.dim(0)};
    const Conv1dInput seen{.slope = kResidualSlope};
    sung = stage.up(sung, lengths, {.input = &seen});
    if (i == stages_.size() - 1) {
      sung = reflected(backend, sung);
    }
    sung = ops::add(backend, sung,
                    run(stage.source_block, stage.source(harmonics, of_harmonics), style));
    Tensor sum = run(stage.blocks[0], sung, style);
    for (size_t k = 1; k < stage.blocks.size(); ++k) {
      sum = ops::add(backend, sum, run(stage.blocks[k], sung, style));
    }
    sung = ops::affine(backend, sum, 1.0F / static_cast<float>(stage.blocks.size()));
  }
  const Conv1dInput seen{.slope = kLastSlope};
  return out_(sung, Lengths{sung.dim(0)}, {.input = &seen});
}

Tensor Generator::samples(const Tensor& spectrum) const {
  return ops::inverse_stft(*backend_, spectrum, {spectrum.dim(0)}, kTransform);
}

}  // namespace mynah::kokoro
