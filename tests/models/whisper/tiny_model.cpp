#include "models/whisper/tiny_model.h"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace mynah::test {
namespace {

// One tensor's values, scaled as the exporter scales them.
std::vector<float> weight(const std::string& name, const Shape& shape) {
  std::vector<float> values = seeded_uniform(name, shape.elements());
  float scale = 0.5F;
  float shift = 0.0F;
  if (name.find("ln") != std::string::npos) {
    scale = 0.25F;
    shift = name.ends_with("weight") ? 1.0F : 0.0F;
  } else if (name.ends_with("bias") || shape.rank() == 3) {
    scale = 0.125F;
  } else if (name.find("token_embedding") != std::string::npos) {
    scale = 1.0F;
  }
  for (float& value : values) {
    value = value * scale + shift;
  }
  return values;
}

class CheckpointMaker {
 public:
  void add(const std::string& name, const Shape& shape, std::span<const float> values) {
    auto bytes = std::make_shared<std::vector<std::byte>>(values.size_bytes());
    std::memcpy(bytes->data(), values.data(), values.size_bytes());
    file_->tensors.push_back(
        {.name = name, .dtype = DType::F32, .shape = shape, .bytes = *bytes, .row_scales = {}});
    file_->owners.push_back(bytes);
  }

  // Under the name given to it, with the values that OpenAI's name stands for.
  void add_as(const std::string& name, const std::string& openai, const Shape& shape) {
    add(name, shape, weight(openai, shape));
  }

  // Several tensors stacked, as CTranslate2 does; keys without a bias get zeros.
  void add_fused(const std::string& name, const std::string& block,
                 const std::vector<std::string>& parts, const std::string& kind, int64_t d) {
    std::vector<float> all;
    for (const std::string& part : parts) {
      const Shape shape = kind == "weight" ? Shape{d, d} : Shape{d};
      const bool zeros = kind == "bias" && part.ends_with("key");
      const std::vector<float> values =
          zeros ? std::vector<float>(static_cast<size_t>(d), 0.0F)
                : weight(fmt::format("{}.{}.{}", block, part, kind), shape);
      all.insert(all.end(), values.begin(), values.end());
    }
    const auto rows = static_cast<int64_t>(parts.size()) * d;
    add(name + "/" + kind, kind == "weight" ? Shape{rows, d} : Shape{rows}, all);
  }

  TensorFile& file() { return *file_; }

  std::shared_ptr<const TensorFile> finish() { return file_; }

 private:
  std::shared_ptr<TensorFile> file_ = std::make_shared<TensorFile>();
};

struct Named {
  std::string openai;
  Shape shape;
};

std::vector<Named> attention_tensors(const std::string& name, int64_t d) {
  return {
      {name + ".query.weight", {d, d}}, {name + ".query.bias", {d}}, {name + ".key.weight", {d, d}},
      {name + ".value.weight", {d, d}}, {name + ".value.bias", {d}}, {name + ".out.weight", {d, d}},
      {name + ".out.bias", {d}},        {name + "_ln.weight", {d}},  {name + "_ln.bias", {d}}};
}

std::vector<Named> all_tensors(const whisper::Config& c) {
  const int64_t d = c.n_audio_state;
  std::vector<Named> all = {{"encoder.conv1.weight", {d, c.n_mels, 3}},
                            {"encoder.conv1.bias", {d}},
                            {"encoder.conv2.weight", {d, d, 3}},
                            {"encoder.conv2.bias", {d}},
                            {"encoder.positional_embedding", {c.n_audio_ctx, d}},
                            {"encoder.ln_post.weight", {d}},
                            {"encoder.ln_post.bias", {d}},
                            {"decoder.token_embedding.weight", {c.n_vocab, d}},
                            {"decoder.positional_embedding", {c.n_text_ctx, d}},
                            {"decoder.ln.weight", {d}},
                            {"decoder.ln.bias", {d}}};
  for (const char* side : {"encoder", "decoder"}) {
    for (int64_t layer = 0; layer < 2; ++layer) {
      const std::string block = fmt::format("{}.blocks.{}", side, layer);
      std::vector<Named> tensors = attention_tensors(block + ".attn", d);
      if (std::string_view(side) == "decoder") {
        std::ranges::copy(attention_tensors(block + ".cross_attn", d), std::back_inserter(tensors));
      }
      tensors.push_back({block + ".mlp.0.weight", {4 * d, d}});
      tensors.push_back({block + ".mlp.0.bias", {4 * d}});
      tensors.push_back({block + ".mlp.2.weight", {d, 4 * d}});
      tensors.push_back({block + ".mlp.2.bias", {d}});
      tensors.push_back({block + ".mlp_ln.weight", {d}});
      tensors.push_back({block + ".mlp_ln.bias", {d}});
      all.insert(all.end(), tensors.begin(), tensors.end());
    }
  }
  return all;
}

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  const size_t at = text.find(from);
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

// Hugging Face's name of an OpenAI tensor (transformers modeling_whisper.py).
std::string hugging_face_name(std::string name) {
  static const std::vector<std::pair<std::string, std::string>> kSteps = {
      {"blocks", "layers"},
      {"cross_attn_ln", "encoder_attn_layer_norm"},
      {"attn_ln", "self_attn_layer_norm"},
      {"cross_attn.", "encoder_attn."},
      {".attn.", ".self_attn."},
      {".query", ".q_proj"},
      {".key", ".k_proj"},
      {".value", ".v_proj"},
      {"attn.out", "attn.out_proj"},
      {"mlp_ln", "final_layer_norm"},
      {"mlp.0", "fc1"},
      {"mlp.2", "fc2"},
      {"ln_post", "layer_norm"},
      {"decoder.ln.", "decoder.layer_norm."},
      {"token_embedding", "embed_tokens"},
      {"positional_embedding", "embed_positions.weight"}};
  for (const auto& [from, to] : kSteps) {
    name = replaced(name, from, to);
  }
  return "model." + name;
}

// CTranslate2's, empty for a tensor that is fused with others.
std::string ctranslate2_name(const std::string& openai) {
  static const std::vector<std::pair<std::string, std::string>> kSteps = {
      {".blocks.", "/layer_"},
      {".cross_attn_ln.", "/attention/layer_norm."},
      {".attn_ln.", "/self_attention/layer_norm."},
      {".cross_attn.query.", "/attention/linear_0."},
      {".cross_attn.out.", "/attention/linear_2."},
      {".attn.out.", "/self_attention/linear_1."},
      {".mlp_ln.", "/ffn/layer_norm."},
      {".mlp.0.", "/ffn/linear_0."},
      {".mlp.2.", "/ffn/linear_1."},
      {".ln_post.", "/layer_norm."},
      {".ln.", "/layer_norm."},
      {".token_embedding", "/embeddings"},
      {".positional_embedding", "/position_encodings/encodings"},
      {".conv", "/conv"}};
  if (openai.find("attn.key") != std::string::npos ||
      openai.find("attn.value") != std::string::npos ||
      (openai.find(".attn.query") != std::string::npos)) {
    return {};
  }
  std::string name = openai;
  for (const auto& [from, to] : kSteps) {
    name = replaced(name, from, to);
  }
  const bool norm = name.find("layer_norm") != std::string::npos;
  name = replaced(name, ".weight", norm ? "/gamma" : "/weight");
  return replaced(name, ".bias", norm ? "/beta" : "/bias");
}

void add_fused_tensors(CheckpointMaker& maker, int64_t d) {
  for (const char* side : {"encoder", "decoder"}) {
    for (int64_t layer = 0; layer < 2; ++layer) {
      const std::string block = fmt::format("{}.blocks.{}", side, layer);
      const std::string path = fmt::format("{}/layer_{}", side, layer);
      for (const char* kind : {"weight", "bias"}) {
        maker.add_fused(path + "/self_attention/linear_0", block,
                        {"attn.query", "attn.key", "attn.value"}, kind, d);
        if (std::string_view(side) == "decoder") {
          maker.add_fused(path + "/attention/linear_1", block,
                          {"cross_attn.key", "cross_attn.value"}, kind, d);
        }
      }
    }
  }
}

}  // namespace

std::vector<float> seeded_uniform(std::string_view name, int64_t count) {
  uint64_t seed = 0xCBF29CE484222325U;
  for (const char byte : name) {
    seed = (seed ^ static_cast<uint8_t>(byte)) * 0x100000001B3U;
  }
  std::vector<float> values;
  values.reserve(static_cast<size_t>(count));
  for (int64_t i = 1; i <= count; ++i) {
    uint64_t z = seed + 0x9E3779B97F4A7C15U * static_cast<uint64_t>(i);
    z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9U;
    z = (z ^ (z >> 27U)) * 0x94D049BB133111EBU;
    z ^= z >> 31U;
    values.push_back(static_cast<float>(z >> 40U) * 0x1p-23F - 1.0F);
  }
  return values;
}

whisper::Config tiny_config(bool multilingual) {
  whisper::Config c;
  c.n_mels = multilingual ? 128 : 80;
  c.n_audio_ctx = 50;
  c.n_audio_state = c.n_text_state = 16;
  c.n_audio_head = c.n_text_head = 2;
  c.n_audio_layer = c.n_text_layer = 2;
  c.n_vocab = multilingual ? 51866 : 51864;
  c.n_text_ctx = 64;
  c.alignment_heads = {{1, 0}, {1, 1}};  // the upper half of the layers: none are known
  return c;
}

std::shared_ptr<const TensorFile> tiny_checkpoint(const whisper::Config& config,
                                                  const std::string& producer) {
  CheckpointMaker maker;
  maker.file().path = "tiny model of the tests";
  for (const Named& tensor : all_tensors(config)) {
    const std::string name = producer == "huggingface"   ? hugging_face_name(tensor.openai)
                             : producer == "ctranslate2" ? ctranslate2_name(tensor.openai)
                                                         : tensor.openai;
    if (!name.empty()) {
      maker.add_as(name, tensor.openai, tensor.shape);
    }
  }
  if (producer == "ctranslate2") {
    add_fused_tensors(maker, config.n_audio_state);
  }
  maker.file().metadata["n_audio_head"] = config.n_audio_head;
  maker.file().metadata["n_text_head"] = config.n_text_head;
  return maker.finish();
}

Vocabulary tiny_vocabulary(const whisper::Config& config) {
  // All bytes, then words that no text has. The space is token 220, as in GPT-2.
  Vocabulary vocabulary;
  for (int byte = 0; byte < 256; ++byte) {
    vocabulary.emplace_back(1, static_cast<char>(byte));
  }
  std::swap(vocabulary[' '], vocabulary[220]);
  const size_t size = config.multilingual() ? 50257 : 50256;
  while (vocabulary.size() < size) {
    vocabulary.push_back(fmt::format(" w{}", vocabulary.size()));
  }
  return vocabulary;
}

std::shared_ptr<const whisper::Model> tiny_model(bool multilingual,
                                                 const whisper::StageOptions& encoder,
                                                 const whisper::StageOptions& decoder,
                                                 const std::string& producer) {
  const whisper::Config config = tiny_config(multilingual);
  auto model = whisper::Model::load(
      tiny_checkpoint(config, producer), tiny_vocabulary(config),
      {.name = "tiny model of the tests", .encoder = encoder, .decoder = decoder});
  EXPECT_TRUE(model.has_value()) << model.error().message;
  return model.value_or(nullptr);
}

std::shared_ptr<const whisper::Model> tiny_model(bool multilingual, Backend& backend,
                                                 const std::string& producer) {
  const whisper::StageOptions both{
      .backend = &backend, .storage = {}, .precision = Precision::Exact, .cache = nullptr};
  return tiny_model(multilingual, both, both, producer);
}

}  // namespace mynah::test
