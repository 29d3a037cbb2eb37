#include "models/piper/generator.h"

#include <fmt/format.h>

namespace mynah::piper {

namespace {

// Leaky ReLUs before the convolutions: modules.py's LRELU_SLOPE, and PyTorch's default before the
// last.
constexpr Conv1dInput kLeaky{.slope = 0.1F};
constexpr Conv1dInput kLastLeaky{.slope = 0.01F};

}  // namespace

Result<Generator::Block> Generator::load_block(const Module& m, int64_t channels) {
  Block block;
  const bool pairs = (m / "convs1" / 0).has("weight");
  const Module far = m / (pairs ? "convs1" : "convs");
  const int64_t count = far.count("weight");
  for (int64_t i = 0; i < count; ++i) {
    Block::Pair& pair = block.pairs.emplace_back();
    MYNAH_TRY(pair.far, (far / i).conv({.in = channels, .out = channels}));
    pair.has_near = pairs;
    if (pairs) {
      MYNAH_TRY(pair.near, (m / "convs2" / i).conv({.in = channels, .out = channels}));
    }
  }
  return block;
}

Result<Generator> Generator::load(const Module& m, const Module& fine, int64_t latent,
                                  int64_t of_speaker) {
  Generator generator;
  generator.backend_ = &m.weights().backend();
  MYNAH_TRY(generator.in_, (fine / "conv_pre").conv({.in = latent}));
  MYNAH_TRY(int64_t channels, (m / "conv_pre").out_features());
  if (of_speaker > 0) {
    MYNAH_TRY(generator.speaker_, (fine / "cond").conv({.in = of_speaker, .out = channels}));
  }
  const int64_t stages = (m / "ups").count("weight");
  const int64_t blocks =
      (m / "resblocks").count("convs.0.weight") + (m / "resblocks").count("convs1.0.weight");
  if (stages == 0 || blocks == 0 || blocks % stages != 0) {
    return fail(ErrorCode::InvalidInput,
                fmt::format("dec: wanted as many blocks at each stage, found {} at {} stages",
                            blocks, stages));
  }
  constexpr int64_t kMostSamples = 1 << 16;  // of a frame: far beyond any voice's
  const int64_t side_by_side = blocks / stages;
  for (int64_t i = 0; i < stages; ++i) {
    Stage& stage = generator.stages_.emplace_back();
    const Module up = fine / "ups" / i;
    const Module of_blocks = i + 1 < stages ? m : fine;
    MYNAH_TRY(stage.up, up.conv_transpose(channels));
    MYNAH_TRY(channels, up.out_features(true));
    const int64_t stride = stage.up.out_lengths(Lengths{1}).total();
    generator.frame_samples_ *= stride;
    if (generator.frame_samples_ > kMostSamples) {
      return fail(ErrorCode::InvalidInput, "dec: wanted frames of at most 65536 samples");
    }
    for (int64_t k = 0; k < side_by_side; ++k) {
      MYNAH_TRY(Block block,
                load_block(of_blocks / "resblocks" / (i * side_by_side + k), channels));
      stage.blocks.push_back(std::move(block));
    }
  }
  MYNAH_TRY(generator.out_, (fine / "conv_post").conv({.in = channels, .out = 1}));
  return generator;
}

Tensor Generator::run(const Block& block, Tensor x) const {
  const Lengths sentence{x.dim(0)};
  for (const Block::Pair& pair : block.pairs) {
    const Tensor own = x;
    if (pair.has_near) {
      const Tensor seen = pair.far(own, sentence, {.input = &kLeaky});
      x = pair.near(seen, sentence, {.input = &kLeaky, .residual = &own});
    } else {
      x = pair.far(own, sentence, {.input = &kLeaky, .residual = &own});
    }
  }
  return x;
}

Tensor Generator::operator()(const Tensor& z, const Tensor& speaker) const {
  Backend& backend = *backend_;
  Tensor x = in_(z, Lengths{z.dim(0)});
  if (speaker.defined()) {
    x = ops::add(backend, x, speaker_(speaker, Lengths{1}).reshape({x.dim(1)}));
  }
  for (const Stage& stage : stages_) {
    x = stage.up(x, Lengths{x.dim(0)}, {.input = &kLeaky});
    Tensor sum = run(stage.blocks.front(), x);
    for (size_t k = 1; k < stage.blocks.size(); ++k) {
      sum = ops::add(backend, sum, run(stage.blocks[k], x));
    }
    x = ops::affine(backend, sum, 1.0F / static_cast<float>(stage.blocks.size()));
  }
  return out_(x, Lengths{x.dim(0)}, {.input = &kLastLeaky, .activation = Activation::Tanh});
}

}  // namespace mynah::piper
