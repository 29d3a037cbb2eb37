#include "models/unknown_words/network.h"

#include <cmath>
#include <limits>

#include "base/check.h"

namespace mynah::unknown_words {

namespace {

// Of the graphs of both files.
constexpr int64_t kWidth = 128;
constexpr int64_t kHeads = 4;
constexpr int64_t kHeadWidth = kWidth / kHeads;
constexpr int64_t kInner = 384;

constexpr float kSteps = 255.0F;  // DynamicQuantizeLinear, ONNX operators, opset 11
// Added and taken away again it leaves a number below 2^22 rounded to a whole one, halves to even.
constexpr float kRounding = 12582912.0F;  // 1.5 * 2^23

Tensor one_element(Backend& backend, float value) {
  return ops::from_host(backend, std::span<const float>(&value, 1), {1});
}

Tensor to_whole(Backend& backend, const Tensor& x) {
  return ops::affine(backend, ops::affine(backend, x, 1.0F, kRounding), 1.0F, -kRounding);
}

Tensor activated(Backend& backend, Activation activation, const Tensor& x) {
  MYNAH_CHECK(activation == Activation::None || activation == Activation::Gelu,
              "[unknown_words] has no other activation");
  return activation == Activation::Gelu ? ops::gelu(backend, x) : x;
}

}  // namespace

Result<Product> Product::load(const Weights& w, Linear::Sizes sizes) {
  Product product;
  product.backend_ = &w.backend();
  if (!w.has("scale")) {
    MYNAH_TRY(product.linear_, Linear::load(w, sizes));
    return product;
  }
  MYNAH_TRY(product.codes_, w.matrix("weight", sizes.out, sizes.in));
  MYNAH_TRY(product.bias_, w.get("bias", {sizes.out}));
  MYNAH_TRY(product.scale_, w.get("scale", {1}));
  product.most_ = one_element(w.backend(), kSteps);
  product.least_ = one_element(w.backend(), std::numeric_limits<float>::min());
  return product;
}

Product::Steps Product::rounded(const Tensor& x) const {
  Backend& backend = *backend_;
  const Tensor flat = x.reshape({1, x.shape().elements()});
  // How far the values go to both sides of 0, which is always among the steps.
  const Tensor above = ops::relu(backend, ops::max(backend, flat));
  const Tensor below = ops::relu(backend, ops::max(backend, ops::negate(backend, flat)));
  const Tensor step =
      ops::maximum(backend, ops::div(backend, ops::add(backend, above, below), most_), least_);
  const Tensor zero =
      to_whole(backend, ops::minimum(backend, ops::div(backend, below, step), most_));
  const Tensor numbers = to_whole(backend, ops::div(backend, flat, step));
  const Tensor limited =
      ops::minimum(backend, ops::maximum(backend, numbers, ops::negate(backend, zero)),
                   ops::sub(backend, most_, zero));
  return {.numbers = limited.reshape(x.shape()), .step = step};
}

Tensor Product::operator()(const Tensor& x, const LinearTail& tail) const {
  if (!scale_.defined()) {
    return linear_(x, tail);
  }
  Backend& backend = *backend_;
  const Steps steps = rounded(x);
  const Tensor sums = ops::linear(backend, steps.numbers, codes_, {.precision = Precision::Exact});
  const Tensor scaled = ops::mul(backend, sums, ops::mul(backend, steps.step, scale_));
  const Tensor y = activated(backend, tail.activation, ops::add(backend, scaled, bias_));
  return tail.residual == nullptr ? y : ops::add(backend, *tail.residual, y);
}

Result<Network> Network::load(const Weights& w, const Alphabet& alphabet) {
  Network network;
  network.backend_ = &w.backend();
  network.precision_ = w.precision();
  network.longest_word_ = alphabet.longest_word();
  network.slots_ = alphabet.slots();
  network.phonemes_ = alphabet.phonemes();
  MYNAH_TRY(network.letters_, (w / "emb").table("weight", {alphabet.letters(), kWidth}));
  MYNAH_TRY(network.positions_, w.get("pos", {alphabet.longest_word(), kWidth}));
  for (int i = 0; i < kLayers; ++i) {
    MYNAH_TRY(network.layers_[static_cast<size_t>(i)], load_layer(w / "layers" / i));
  }
  MYNAH_TRY(network.norm_, LayerNorm::load(w / "norm", kWidth));
  MYNAH_TRY(
      network.head_,
      Product::load(w / "head", {.in = kWidth, .out = alphabet.slots() * alphabet.phonemes()}));
  return network;
}

Result<Network::Layer> Network::load_layer(const Weights& w) {
  Layer layer;
  const Weights attention = w / "self_attn";
  MYNAH_TRY(layer.attention_norm, LayerNorm::load(w / "norm1", kWidth));
  MYNAH_TRY(layer.qkv, Product::load(attention / "in_proj", {.in = kWidth, .out = 3 * kWidth}));
  MYNAH_TRY(layer.attention_out,
            Product::load(attention / "out_proj", {.in = kWidth, .out = kWidth}));
  MYNAH_TRY(layer.inner_norm, LayerNorm::load(w / "norm2", kWidth));
  MYNAH_TRY(layer.inner, Product::load(w / "linear1", {.in = kWidth, .out = kInner}));
  MYNAH_TRY(layer.inner_out, Product::load(w / "linear2", {.in = kInner, .out = kWidth}));
  return layer;
}

Tensor Network::run(const Layer& layer, const Tensor& x) const {
  const Tensor qkv = layer.qkv(layer.attention_norm(x));
  const Lengths letters{x.shape()[0]};
  const AttentionParams params{.heads = kHeads,
                               .kv_heads = kHeads,
                               .scale = 1.0F / std::sqrt(static_cast<float>(kHeadWidth)),
                               .causal = false,
                               .queries = letters.spans(),
                               .keys = letters.spans(),
                               .precision = precision_};
  const Tensor seen =
      ops::attention(*backend_, qkv.narrow(1, 0, kWidth), qkv.narrow(1, kWidth, kWidth),
                     qkv.narrow(1, 2 * kWidth, kWidth), params);
  const Tensor attended = layer.attention_out(seen, {.residual = &x});
  const Tensor inner = layer.inner(layer.inner_norm(attended), {.activation = Activation::Gelu});
  return layer.inner_out(inner, {.residual = &attended});
}

std::vector<int32_t> Network::operator()(std::span<const int32_t> ids) const {
  const int64_t letters = std::ssize(ids);
  MYNAH_CHECK(letters > 0 && letters <= longest_word_,
              "[unknown_words] wants no empty and no longer word than it was made for");
  Backend& backend = *backend_;
  Tensor x =
      ops::add(backend, ops::embedding(backend, letters_, ops::from_host(backend, ids, {letters})),
               positions_.narrow(0, 0, letters));
  for (const Layer& layer : layers_) {
    x = run(layer, x);
  }
  const Tensor scores = head_(norm_(x)).reshape({letters * slots_, phonemes_});
  return ops::to_host_i32(backend, ops::argmax(backend, scores));
}

}  // namespace mynah::unknown_words
