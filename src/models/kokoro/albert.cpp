#include "models/kokoro/albert.h"

#include <array>
#include <cmath>
#include <vector>

namespace mynah::kokoro {

namespace {

// config.json of hexgrad/Kokoro-82M, "plbert"; modeling_albert.py's defaults.
constexpr int kLayers = 12;
constexpr float kEpsilon = 1e-12F;

}  // namespace

Result<Albert> Albert::load(const Weights& w, const Sizes& sizes) {
  static constexpr std::array<std::string_view, 3> kQkv = {"query", "key", "value"};
  Albert albert;
  albert.backend_ = &w.backend();
  albert.precision_ = w.precision();
  albert.width_ = sizes.width;
  const Weights embeddings = w / "embeddings";
  // Copies: tables as they lie in the file would keep all of it.
  MYNAH_TRY(albert.words_,
            embeddings.get("word_embeddings.weight", {kVocabulary, sizes.embedding}));
  MYNAH_TRY(albert.positions_,
            embeddings.get("position_embeddings.weight", {kPositions, sizes.embedding}));
  MYNAH_TRY(const Tensor sentences,
            embeddings.get("token_type_embeddings.weight", {2, sizes.embedding}));
  albert.sentence_ = sentences.narrow(0, 0, 1).reshape({sizes.embedding});
  MYNAH_TRY(albert.embedding_norm_,
            LayerNorm::load(embeddings / "LayerNorm", sizes.embedding, kEpsilon));
  const Weights encoder = w / "encoder";
  MYNAH_TRY(albert.widen_, Linear::load(encoder / "embedding_hidden_mapping_in",
                                        {.in = sizes.embedding, .out = sizes.width}));
  const Weights layer = encoder / "albert_layer_groups.0.albert_layers.0";
  const Weights attention = layer / "attention";
  MYNAH_TRY(albert.qkv_,
            Linear::load_stacked(attention, kQkv, {.in = sizes.width, .out = 3 * sizes.width}));
  MYNAH_TRY(albert.dense_,
            Linear::load(attention / "dense", {.in = sizes.width, .out = sizes.width}));
  MYNAH_TRY(albert.attention_norm_,
            LayerNorm::load(attention / "LayerNorm", sizes.width, kEpsilon));
  MYNAH_TRY(albert.ffn_, Linear::load(layer / "ffn", {.in = sizes.width, .out = sizes.inner}));
  MYNAH_TRY(albert.ffn_out_,
            Linear::load(layer / "ffn_output", {.in = sizes.inner, .out = sizes.width}));
  MYNAH_TRY(albert.full_norm_,
            LayerNorm::load(layer / "full_layer_layer_norm", sizes.width, kEpsilon));
  return albert;
}

Tensor Albert::operator()(std::span<const int32_t> ids, const Lengths& lengths) const {
  Backend& backend = *backend_;
  std::vector<int32_t> places;
  places.reserve(ids.size());
  for (const Span& span : lengths.spans()) {
    for (int64_t i = 0; i < span.length; ++i) {
      places.push_back(static_cast<int32_t>(i));
    }
  }
  const Shape shape{lengths.total()};
  Tensor x =
      ops::add(backend, ops::embedding(backend, words_, ops::from_host(backend, ids, shape)),
               ops::embedding(backend, positions_,
                              ops::from_host(backend, std::span<const int32_t>(places), shape)));
  x = widen_(embedding_norm_(ops::add(backend, x, sentence_)));
  for (int i = 0; i < kLayers; ++i) {
    x = layer(x, lengths);
  }
  return x;
}

Tensor Albert::layer(const Tensor& x, const Lengths& lengths) const {
  const Tensor qkv = qkv_(x);
  const AttentionParams params{.heads = kHeads,
                               .kv_heads = kHeads,
                               .scale = 1.0F / std::sqrt(static_cast<float>(width_) / kHeads),
                               .causal = false,
                               .queries = lengths.spans(),
                               .keys = lengths.spans(),
                               .precision = precision_};
  const Tensor seen =
      ops::attention(*backend_, qkv.narrow(1, 0, width_), qkv.narrow(1, width_, width_),
                     qkv.narrow(1, 2 * width_, width_), params);
  const Tensor attended = attention_norm_(dense_(seen, {.residual = &x}));
  const Tensor inner = ffn_(attended, {.activation = Activation::GeluTanh});
  return full_norm_(ffn_out_(inner, {.residual = &attended}));
}

}  // namespace mynah::kokoro
