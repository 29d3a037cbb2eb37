// Tiny random models of each architecture against llama.cpp's logits in f32 (tools/llama_oracle.py
// tiny).
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <initializer_list>

#include <gtest/gtest.h>

#include "formats/open.h"
#include "golden_backend.h"
#include "models/llama/model.h"
#include "test_paths.h"

namespace mynah::llama {
namespace {

struct GoldenCase {
  const char* name;
  DeviceKind device;
  bool apart = false;  // its first layers are on the processor
};

class LlamaGolden : public testing::TestWithParam<GoldenCase> {
 protected:
  void SetUp() override {
    backend_ = test::golden_backend(GetParam().device, pool_);
    ASSERT_NE(backend_, nullptr);
    const std::string path =
        test::source_path(std::string("tests/models/llama/golden/") + GetParam().name);
    auto golden = open_tensor_file(path + ".npz");
    ASSERT_TRUE(golden.has_value()) << golden.error().message;
    tokens_ = values<int32_t>(*golden, "tokens");
    logits_ = values<float>(*golden, "logits");
    auto file = open_tensor_file(path + ".gguf");
    ASSERT_TRUE(file.has_value()) << file.error().message;
    auto config = Config::read(*file);
    ASSERT_TRUE(config.has_value()) << config.error().message;
    LoadOptions options{.backend = backend_.get(), .precision = Precision::Exact};
    if (GetParam().apart) {
      lower_ = test::golden_backend(DeviceKind::Cpu, pool_);
      ASSERT_NE(lower_, nullptr);
      options.lower = {.count = config->splits().at(0), .backend = lower_.get(), .cache = nullptr};
    }
    auto model = Model::load(*file, *config, options);
    ASSERT_TRUE(model.has_value()) << model.error().message;
    model_ = *model;
  }

  template <class T>
  static std::vector<T> values(const TensorFile& file, const std::string& name) {
    const StoredTensor* tensor = file.find(name);
    EXPECT_NE(tensor, nullptr) << name;
    std::vector<T> values(tensor == nullptr ? 0 : tensor->bytes.size() / sizeof(T));
    if (tensor != nullptr) {
      std::memcpy(values.data(), tensor->bytes.data(), tensor->bytes.size());
    }
    return values;
  }

  // Each of the additions on the way to a logit can add half a unit in the last place of the
  // largest one (Higham 2002, section 3.1), in both programs. llama.cpp looks its GELU up, for
  // arguments in f16 and to f16 (ggml-cpu/vec.h, ggml_vec_gelu_f32): two roundings of each number
  // of a feed-forward block, of which the errors' sum grows as the square root (Higham & Mary
  // 2019).
  [[nodiscard]] float bound() const {
    const Config& c = model_->config();
    int64_t additions = 0;
    float columns = 0;  // of feed-forward blocks
    // What a layer has in attention's place: a delta net's sums are over its columns and, as its
    // state grows, over the tokens.
    const int64_t recurrent = c.conv_taps + 4 * c.delta_columns + c.delta_value_width();
    for (const LayerConfig& layer : c.layer) {
      const int64_t inner =
          layer.feed_forward + (layer.experts ? c.expert_columns + c.shared_columns : 0);
      additions += 3 * c.width + recurrent + c.heads * layer.head_dim + layer.head_dim +
                   2 * std::ssize(tokens_) + inner + 2 * c.layer_inputs + c.used_experts;
      columns = std::max(columns, static_cast<float>(inner));
    }
    const float rounding = static_cast<float>(additions + c.width) * 0x1p-23F;
    const float gelu = c.gate.activation == Activation::Silu
                           ? 0.0F
                           : 2.0F * static_cast<float>(c.layers) * std::sqrt(columns) * 0x1p-11F;
    float largest = 0;
    for (const float value : logits_) {
      largest = std::max(largest, std::abs(value));
    }
    return largest * (rounding + gelu);
  }

  // found: logits after the tokens from `first` on.
  void expect_close(const Tensor& found, size_t first) {
    const std::vector<float> values = ops::to_host(*backend_, found);
    const float* wanted = &logits_[first * static_cast<size_t>(model_->config().vocabulary)];
    size_t worst = 0;
    for (size_t i = 0; i < values.size(); ++i) {
      if (!(std::abs(values[i] - wanted[i]) <= std::abs(values[worst] - wanted[worst]))) {
        worst = i;
      }
    }
    EXPECT_LE(std::abs(values[worst] - wanted[worst]), bound())
        << "logit " << worst << " after token " << first << ": wanted " << wanted[worst]
        << ", found " << values[worst];
  }

  [[nodiscard]] std::span<const int32_t> tokens(size_t first, size_t count) const {
    return std::span(tokens_).subspan(first, count);
  }

  ThreadPool pool_{2};
  std::unique_ptr<Backend> lower_;
  std::unique_ptr<Backend> backend_;
  std::shared_ptr<const Model> model_;
  std::vector<int32_t> tokens_;
  std::vector<float> logits_;  // (tokens, vocabulary)
};

TEST_P(LlamaGolden, SaysWhatLlamaCppSaysOfAPrompt) {
  KvCache cache = model_->new_cache(1, model_->config().context_length);
  const Lane lane{.sequence = cache.add(), .count = std::ssize(tokens_)};
  expect_close(model_->logits(model_->forward(tokens_, {&lane, 1}, cache)), 0);
}

TEST_P(LlamaGolden, SaysTheSamePieceByPieceInCompany) {
  KvCache cache = model_->new_cache(2, model_->config().context_length);
  Lane own{.sequence = cache.add()};
  Lane other{.sequence = cache.add()};
  size_t first = 0;
  for (const size_t count : {5U, 1U, 9U, 1U, 1U, 7U}) {
    own.count = static_cast<int64_t>(count);
    other.count = static_cast<int64_t>(count % 3 + 1);
    std::vector<int32_t> both(static_cast<size_t>(other.count), tokens_[first]);
    both.insert(both.end(), &tokens_[first], &tokens_[first + count - 1] + 1);
    const std::array lanes = {other, own};
    const Tensor logits = model_->logits(model_->forward(both, lanes, cache));
    expect_close(logits.narrow(0, other.count, own.count), first);
    first += count;
  }
  EXPECT_EQ(first, tokens_.size());
}

std::vector<GoldenCase> all_cases() {
  std::vector<GoldenCase> cases;
  const auto add = [&](std::initializer_list<DeviceKind> devices,
                       std::initializer_list<const char*> names) {
    for (const DeviceKind device : devices) {
      for (const char* name : names) {
        cases.push_back({name, device});
      }
    }
  };
  add({DeviceKind::Ref, DeviceKind::Cpu, DeviceKind::Simt},
      {"afmoe",     "bailingmoe2",  "gemma2",        "gemma3",    "gemma4",   "gemma4_experts",
       "glm4moe",   "gpt-oss",      "gpt-oss_mxfp4", "lfm2",      "lfm2moe",  "llama",
       "llama3",    "llama_linear", "llama_yarn",    "mistral3",  "phi3",     "phi3_long",
       "qwen2",     "qwen3",        "qwen35",        "qwen35moe", "qwen3moe", "qwen3moe_q8_0",
       "qwen3next", "qwen3next_in", "smollm3"});
  // What asks nothing of a device that those do not.
  add({DeviceKind::Ref, DeviceKind::Cpu},
      {"arcee",         "jais2",       "nemotron",      "starcoder2", "bailingmoe", "deepseek",
       "exaone",        "internlm2",   "cohere2",       "command-r",  "dots1",      "ernie4_5",
       "ernie4_5-moe",  "exaone4",     "gemma",         "glm4",       "granite",    "granitemoe",
       "hunyuan-dense", "hunyuan-moe", "llama_experts", "minimax-m2", "olmo2",      "olmoe",
       "qwen2moe",      "qwen2vl",     "qwen3vl",       "qwen3vlmoe", "seed_oss"});
  // Some with windows, with keys of other layers and inputs of tokens, and with states.
  for (const char* name : {"gemma3", "gemma4", "lfm2moe", "llama", "qwen3next"}) {
    cases.push_back({.name = name, .device = DeviceKind::Simt, .apart = true});
  }
  return cases;
}

std::string case_name(const testing::TestParamInfo<GoldenCase>& info) {
  std::string name = std::string(info.param.name) + "_" + (info.param.apart ? "cpu_" : "") +
                     test::golden_device(info.param.device);
  std::ranges::replace(name, '-', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(, LlamaGolden, testing::ValuesIn(all_cases()), case_name);

}  // namespace
}  // namespace mynah::llama
