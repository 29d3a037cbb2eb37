#include "models/hibari/conv_block.h"

#include <fmt/format.h>

namespace mynah::hibari {

Result<ConvBlock> ConvBlock::load(const Weights& w, int64_t width, int64_t dilation) {
  ConvBlock block;
  MYNAH_TRY(const Shape kernel, (w / "dw").shape("weight"));
  MYNAH_TRY(const Shape inner, (w / "pw1").shape("bias"));
  if (kernel.rank() != 3 || kernel[2] % 2 == 0 || inner.rank() != 1) {
    return fail(ErrorCode::InvalidInput,
                fmt::format("wanted a kernel (width, 1, odd) and a bias of one dimension, found {} "
                            "and {}",
                            kernel.str(), inner.str()));
  }
  MYNAH_TRY(block.along_, Conv1d::load(w / "dw", {.in = width,
                                                  .out = width,
                                                  .kernel = kernel[2],
                                                  .padding = dilation * (kernel[2] / 2),
                                                  .dilation = dilation,
                                                  .groups = width}));
  MYNAH_TRY(block.norm_, LayerNorm::load(w / "norm", width));
  MYNAH_TRY(block.widen_, Linear::load(w / "pw1", {.in = width, .out = inner[0]}));
  MYNAH_TRY(block.narrow_, Linear::load(w / "pw2", {.in = inner[0], .out = width}));
  return block;
}

Result<std::vector<ConvBlock>> ConvBlock::load_all(const Weights& w, const std::string& path,
                                                   int64_t width, const Dilations& dilations) {
  std::vector<ConvBlock> blocks;
  for (int64_t i = 0; (w / path / i / "dw").has("weight"); ++i) {
    const auto dilation = dilations.find(fmt::format("{}.{}.dw", path, i));
    MYNAH_TRY(ConvBlock block,
              load(w / path / i, width, dilation == dilations.end() ? 1 : dilation->second));
    blocks.push_back(std::move(block));
  }
  return blocks;
}

Tensor ConvBlock::operator()(const Tensor& x) const {
  const Tensor along = norm_(along_(x, Lengths{x.dim(0)}));
  return narrow_(widen_(along, {.activation = Activation::Gelu}), {.residual = &x});
}

}  // namespace mynah::hibari
