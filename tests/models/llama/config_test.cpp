// What a file may say of a model, and what is refused by name.
#include "models/llama/config.h"

#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace mynah::llama {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// A file of a small model that is as it should be.
class LlamaConfig : public testing::Test {
 protected:
  LlamaConfig() {
    file_.path = "small.gguf";
    file_.metadata = {{"general.architecture", std::string("llama")},
                      {"llama.context_length", int64_t{128}},
                      {"llama.block_count", int64_t{2}},
                      {"llama.embedding_length", int64_t{16}},
                      {"llama.feed_forward_length", int64_t{24}},
                      {"llama.attention.head_count", int64_t{4}},
                      {"llama.attention.head_count_kv", int64_t{2}},
                      {"llama.attention.layer_norm_rms_epsilon", 1e-5}};
    add("token_embd.weight", {100, 16});
  }

  void add(const std::string& name, const Shape& shape) {
    file_.tensors.push_back(
        {.name = name, .dtype = DType::F32, .shape = shape, .bytes = {}, .row_scales = {}});
  }

  void become(const std::string& architecture) {
    std::map<std::string, MetadataValue, std::less<>> renamed;
    for (const auto& [key, value] : file_.metadata) {
      renamed[key.starts_with("llama.") ? architecture + key.substr(5) : key] = value;
    }
    renamed["general.architecture"] = architecture;
    file_.metadata = std::move(renamed);
  }

  // What the file is refused with, or nothing.
  [[nodiscard]] std::string refusal(ErrorCode code) const {
    const auto config = Config::read(file_);
    if (config) {
      return {};
    }
    EXPECT_EQ(config.error().code, code) << config.error().message;
    return config.error().message;
  }

  static std::vector<bool> attends(const Config& config) {
    std::vector<bool> all;
    all.reserve(config.layer.size());
    for (const LayerConfig& own : config.layer) {
      all.push_back(own.attends);
    }
    return all;
  }

  TensorFile file_;
};

TEST_F(LlamaConfig, SizesAreRead) {
  const auto config = Config::read(file_);
  ASSERT_TRUE(config.has_value()) << config.error().message;
  EXPECT_EQ(config->vocabulary, 100);
  EXPECT_EQ(config->layers, 2);
  ASSERT_EQ(config->layer.size(), 2U);
  EXPECT_EQ(config->layer[1].head_dim, 4);
  EXPECT_EQ(config->layer[1].key_width(), 8);
  EXPECT_THAT(config->cache_widths(), ElementsAre(8, 8));
  EXPECT_EQ(config->cache_bytes(DType::F16, 0), 2U * 2U * 8U * 2U);
  EXPECT_EQ(config->attention_scale, 0.5F);
  EXPECT_EQ(config->rotary.pairs, RopePairs::Neighbours);
  EXPECT_THAT(config->rotary.frequencies, ElementsAre(1.0, 0.01));
}

TEST_F(LlamaConfig, WhatIsNotDoneIsNamed) {
  file_.metadata["llama.rope.scaling.type"] = std::string("dynamic");
  EXPECT_THAT(refusal(ErrorCode::Unsupported), HasSubstr("dynamic"));
  file_.metadata.erase("llama.rope.scaling.type");
  file_.metadata["llama.attention.head_count"] = std::vector<int64_t>{4, 2};
  EXPECT_THAT(refusal(ErrorCode::Unsupported), HasSubstr("head_count"));
  file_.metadata["llama.attention.head_count"] = std::vector<int64_t>{4, 4};
  EXPECT_EQ(refusal(ErrorCode::Unsupported), "");
  add("blk.0.ssm_a", {16});
  EXPECT_THAT(refusal(ErrorCode::Unsupported), HasSubstr("blk.0.ssm_a"));
}

TEST_F(LlamaConfig, UnknownArchitecturesAreRefusedWithTheKnownOnes) {
  become("mamba");
  EXPECT_THAT(refusal(ErrorCode::Unsupported),
              testing::AllOf(HasSubstr("small.gguf"), HasSubstr("\"mamba\""), HasSubstr("llama")));
  file_.metadata.erase("general.architecture");
  EXPECT_THAT(refusal(ErrorCode::InvalidInput), HasSubstr("general.architecture"));
}

TEST_F(LlamaConfig, SizesThatCannotBeAreRefused) {
  const auto refused = [&](const std::string& key, const MetadataValue& value) {
    const MetadataValue before = file_.metadata["llama." + key];
    file_.metadata["llama." + key] = value;
    EXPECT_THAT(refusal(ErrorCode::InvalidInput), HasSubstr("small.gguf")) << key;
    file_.metadata["llama." + key] = before;
  };
  refused("block_count", int64_t{0});
  refused("block_count", int64_t{1} << 40);
  refused("block_count", std::string("two"));
  refused("embedding_length", int64_t{-16});
  refused("attention.head_count", int64_t{3});  // of 16 columns, over two heads of keys
  refused("attention.head_count_kv", int64_t{8});
  refused("attention.layer_norm_rms_epsilon", std::nan(""));
  refused("attention.layer_norm_rms_epsilon", std::string("small"));
  file_.metadata["llama.attention.key_length"] = int64_t{513};
  EXPECT_THAT(refusal(ErrorCode::InvalidInput), HasSubstr("key_length"));
  file_.metadata.erase("llama.attention.key_length");
  file_.metadata["llama.rope.dimension_count"] = int64_t{6};
  EXPECT_THAT(refusal(ErrorCode::InvalidInput), HasSubstr("rope.dimension_count"));
}

std::vector<bool> windows(const Config& config) {
  std::vector<bool> windows;
  windows.reserve(config.layer.size());
  for (const LayerConfig& layer : config.layer) {
    windows.push_back(layer.sees_window);
  }
  return windows;
}

TEST_F(LlamaConfig, LayersWithoutHeadsOfKeysKeepStates) {
  const auto before_all = file_.metadata;
  file_.metadata["llama.attention.head_count_kv"] = std::vector<int64_t>{0, 2};
  EXPECT_THAT(refusal(ErrorCode::InvalidInput), HasSubstr("head_count_kv")) << "of Llama";
  file_.metadata = before_all;
  become("lfm2");
  file_.metadata["lfm2.shortconv.l_cache"] = int64_t{3};
  file_.metadata["lfm2.block_count"] = int64_t{3};
  file_.metadata["lfm2.attention.head_count_kv"] = std::vector<int64_t>{0, 2, 0};
  add("token_embd_norm.weight", {16});
  add("blk.0.shortconv.conv.weight", {16, 3});
  const auto config = Config::read(file_);
  ASSERT_TRUE(config.has_value()) << config.error().message;
  EXPECT_THAT(attends(*config), ElementsAre(false, true, false));
  EXPECT_EQ(config->cache_bytes(DType::F16, 0), 2U * 8U * 2U) << "of one layer";
  EXPECT_THAT(config->states(), ElementsAre(32, 32));
  EXPECT_EQ(config->state_bytes(), 2U * 32U * 4U);
  const auto refused = [&](const std::string& key, const MetadataValue& value, ErrorCode code) {
    const auto before = file_.metadata;
    file_.metadata["lfm2." + key] = value;
    EXPECT_THAT(refusal(code), HasSubstr(key)) << key;
    file_.metadata = before;
  };
  refused("attention.sliding_window", int64_t{64}, ErrorCode::Unsupported);
  refused("attention.causal", false, ErrorCode::Unsupported);
  refused("shortconv.l_cache", int64_t{9}, ErrorCode::InvalidInput);
  refused("attention.head_count_kv", std::vector<int64_t>{0, 2}, ErrorCode::InvalidInput);
  file_.metadata["lfm2.attention.head_count_kv"] = std::vector<int64_t>{0, 0, 0};
  EXPECT_NE(refusal(ErrorCode::Unsupported), "");
}

TEST_F(LlamaConfig, DeltaNetsAreReadAndWhatGuessesAheadIsLeftOut) {
  become("qwen35");
  file_.metadata["qwen35.block_count"] = int64_t{5};
  file_.metadata["qwen35.nextn_predict_layers"] = int64_t{1};
  file_.metadata["qwen35.ssm.conv_kernel"] = int64_t{4};
  file_.metadata["qwen35.ssm.state_size"] = int64_t{8};
  file_.metadata["qwen35.ssm.group_count"] = int64_t{2};
  file_.metadata["qwen35.ssm.time_step_rank"] = int64_t{4};
  file_.metadata["qwen35.ssm.inner_size"] = int64_t{32};
  file_.metadata["qwen35.rope.dimension_sections"] = std::vector<int64_t>{1, 1, 0, 0};
  add("blk.0.ssm_a", {4});
  add("blk.4.nextn.eh_proj.weight", {16, 32});
  auto config = Config::read(file_);
  ASSERT_TRUE(config.has_value()) << config.error().message;
  EXPECT_EQ(config->layers, 4);
  EXPECT_THAT(attends(*config), ElementsAre(false, false, false, true));
  EXPECT_THAT(config->states(), ElementsAre(3 * 64, 256, 3 * 64, 256, 3 * 64, 256));
  file_.metadata["qwen35.attention.recurrent_layers"] = std::vector<int64_t>{1, 0, 0, 1, 0};
  config = Config::read(file_);
  ASSERT_TRUE(config.has_value()) << config.error().message;
  EXPECT_THAT(attends(*config), ElementsAre(false, true, true, false));
  file_.metadata["qwen35.rope.dimension_sections"] = std::vector<int64_t>{1, 0, 0, 1};
  EXPECT_THAT(refusal(ErrorCode::Unsupported), HasSubstr("rope.dimension_sections"));
  file_.metadata["qwen35.ssm.inner_size"] = int64_t{64};
  EXPECT_THAT(refusal(ErrorCode::InvalidInput), HasSubstr("ssm.inner_size"));
  file_.metadata["qwen35.ssm.inner_size"] = int64_t{32};
  file_.metadata["qwen35.nextn_predict_layers"] = int64_t{0};
  EXPECT_THAT(refusal(ErrorCode::Unsupported), HasSubstr("nextn.eh_proj"));
}

TEST_F(LlamaConfig, WindowsFollowThePattern) {
  become("gemma3");
  file_.metadata["gemma3.attention.sliding_window"] = int64_t{512};
  file_.metadata["gemma3.block_count"] = int64_t{7};
  auto config = Config::read(file_);
  ASSERT_TRUE(config.has_value()) << config.error().message;
  EXPECT_THAT(windows(*config), ElementsAre(true, true, true, true, true, false, true));
  file_.metadata["gemma3.attention.sliding_window_pattern"] =
      std::vector<int64_t>{0, 1, 0, 0, 0, 0, 1};
  config = Config::read(file_);
  ASSERT_TRUE(config.has_value()) << config.error().message;
  EXPECT_THAT(windows(*config), ElementsAre(false, true, false, false, false, false, true));
  file_.metadata["gemma3.attention.sliding_window_pattern"] = std::vector<int64_t>{1};
  EXPECT_THAT(refusal(ErrorCode::InvalidInput), HasSubstr("sliding_window_pattern"));
}

TEST_F(LlamaConfig, ExpertsOfOtherArchitecturesAreRefused) {
  become("qwen3");
  file_.metadata["qwen3.expert_count"] = int64_t{8};
  EXPECT_THAT(refusal(ErrorCode::Unsupported), HasSubstr("experts"));
}

TEST_F(LlamaConfig, ExpertsAreRead) {
  become("qwen3moe");
  file_.metadata["qwen3moe.expert_count"] = int64_t{8};
  EXPECT_THAT(refusal(ErrorCode::InvalidInput), HasSubstr("expert_used_count"));
  file_.metadata["qwen3moe.expert_used_count"] = int64_t{9};
  EXPECT_THAT(refusal(ErrorCode::InvalidInput), HasSubstr("1 to 8"));
  file_.metadata["qwen3moe.expert_used_count"] = int64_t{2};
  add("blk.1.ffn_gate_inp.weight", {8, 16});
  const auto config = Config::read(file_);
  ASSERT_TRUE(config.has_value()) << config.error().message;
  EXPECT_EQ(config->expert_columns, 12) << "what two experts together have";
  EXPECT_FALSE(config->layer[0].experts);
  EXPECT_EQ(config->layer[0].feed_forward, 24);
  EXPECT_TRUE(config->layer[1].experts);
  EXPECT_EQ(config->layer[1].feed_forward, 0);
  file_.metadata["qwen3moe.expert_gating_func"] = int64_t{3};
  EXPECT_THAT(refusal(ErrorCode::Unsupported), HasSubstr("expert_gating_func"));
  file_.metadata.erase("qwen3moe.expert_gating_func");
  file_.metadata["qwen3moe.expert_group_count"] = int64_t{4};
  EXPECT_THAT(refusal(ErrorCode::InvalidInput), HasSubstr("expert_group_used_count"));
  file_.metadata["qwen3moe.expert_group_used_count"] = int64_t{1};
  EXPECT_EQ(refusal(ErrorCode::InvalidInput), "");
  file_.metadata["qwen3moe.expert_group_count"] = int64_t{8};
  EXPECT_THAT(refusal(ErrorCode::InvalidInput), HasSubstr("expert_group_count")) << "of one each";
  file_.metadata["qwen3moe.expert_group_count"] = int64_t{3};
  EXPECT_THAT(refusal(ErrorCode::InvalidInput), HasSubstr("expert_group_count")) << "of eight";
  file_.metadata.erase("qwen3moe.expert_group_count");
  file_.metadata["qwen3moe.expert_shared_count"] = int64_t{1};
  EXPECT_THAT(refusal(ErrorCode::Unsupported), HasSubstr("shared experts"));
  file_.metadata.erase("qwen3moe.expert_shared_count");
  add("blk.0.attn_sinks.weight", {4});
  EXPECT_THAT(refusal(ErrorCode::Unsupported), HasSubstr("attn_sinks"));
}

TEST_F(LlamaConfig, SharesAndSharedExpertsAreRead) {
  become("qwen3next");
  file_.metadata["qwen3next.expert_count"] = int64_t{8};
  file_.metadata["qwen3next.expert_used_count"] = int64_t{2};
  file_.metadata["qwen3next.full_attention_interval"] = int64_t{1};
  file_.metadata["qwen3next.ssm.conv_kernel"] = int64_t{4};
  for (const char* size : {"state_size", "group_count", "time_step_rank", "inner_size"}) {
    file_.metadata[std::string("qwen3next.ssm.") + size] = int64_t{1};
  }
  auto config = Config::read(file_);
  ASSERT_TRUE(config.has_value()) << config.error().message;
  EXPECT_EQ(config->expert_scores, ExpertScores::Softmax);
  EXPECT_TRUE(config->normed_shares);
  EXPECT_EQ(config->expert_scale, 1.0F);
  EXPECT_EQ(config->shared_columns, 24) << "feed_forward_length's";
  file_.metadata["qwen3next.expert_gating_func"] = int64_t{2};
  file_.metadata["qwen3next.expert_weights_norm"] = false;
  file_.metadata["qwen3next.expert_weights_scale"] = 2.5;
  file_.metadata["qwen3next.expert_feed_forward_length"] = int64_t{6};
  file_.metadata["qwen3next.expert_shared_count"] = int64_t{2};
  config = Config::read(file_);
  ASSERT_TRUE(config.has_value()) << config.error().message;
  EXPECT_EQ(config->expert_scores, ExpertScores::Sigmoid);
  EXPECT_FALSE(config->normed_shares);
  EXPECT_EQ(config->expert_scale, 2.5F);
  EXPECT_EQ(config->shared_columns, 12) << "two experts'";
  file_.metadata["qwen3next.expert_shared_feed_forward_length"] = int64_t{20};
  config = Config::read(file_);
  ASSERT_TRUE(config.has_value()) << config.error().message;
  EXPECT_EQ(config->shared_columns, 20);
  file_.metadata["qwen3next.expert_weights_norm"] = int64_t{1};
  EXPECT_THAT(refusal(ErrorCode::InvalidInput), HasSubstr("expert_weights_norm"));
}

// Which are of no concern to a text, but for how pairs lie.
TEST_F(LlamaConfig, PairsOfModelsThatSeeAreHalves) {
  become("glm4");
  auto config = Config::read(file_);
  ASSERT_TRUE(config.has_value()) << config.error().message;
  EXPECT_EQ(config->rotary.pairs, RopePairs::Neighbours);
  file_.metadata["glm4.rope.dimension_sections"] = std::vector<int64_t>{1, 1, 0, 0};
  config = Config::read(file_);
  ASSERT_TRUE(config.has_value()) << config.error().message;
  EXPECT_EQ(config->rotary.pairs, RopePairs::Halves);
}

TEST_F(LlamaConfig, HeadsMayBeNormedWhereTheFileHasTheNorms) {
  become("glm4moe");
  auto config = Config::read(file_);
  ASSERT_TRUE(config.has_value()) << config.error().message;
  EXPECT_FALSE(config->normed_heads);
  add("blk.0.attn_q_norm.weight", {4});
  config = Config::read(file_);
  ASSERT_TRUE(config.has_value()) << config.error().message;
  EXPECT_TRUE(config->normed_heads);
}

TEST_F(LlamaConfig, PartsAreScaledAsTheFileSays) {
  file_.metadata["llama.residual_scale"] = 0.25;
  EXPECT_THAT(refusal(ErrorCode::Unsupported), HasSubstr("residual_scale"));
  become("granite");
  file_.metadata["granite.logit_scale"] = 8.0;
  file_.metadata["granite.rope.scaling.finetuned"] = false;
  const auto config = Config::read(file_);
  ASSERT_TRUE(config.has_value()) << config.error().message;
  EXPECT_EQ(config->residual_scale, 0.25F);
  EXPECT_EQ(config->logit_scale, 0.125F);
  EXPECT_EQ(config->attention_scale, 0.5F) << "of four columns";
  EXPECT_FALSE(config->layer[0].rotates);
}

// EXAONE 4 32B's.
TEST_F(LlamaConfig, LayersThatSeeEverythingMayKnowNoPositions) {
  become("exaone4");
  auto config = Config::read(file_);
  ASSERT_TRUE(config.has_value()) << config.error().message;
  EXPECT_TRUE(config->layer[1].rotates) << "where no layer sees a window";
  file_.metadata["exaone4.attention.sliding_window"] = int64_t{16};
  file_.metadata["exaone4.attention.sliding_window_pattern"] = std::vector<int64_t>{1, 0};
  config = Config::read(file_);
  ASSERT_TRUE(config.has_value()) << config.error().message;
  EXPECT_TRUE(config->layer[0].rotates);
  EXPECT_FALSE(config->layer[1].rotates);
}

TEST_F(LlamaConfig, LayersThatShareKeysTakeNoMemoryForThem) {
  become("gemma4");
  file_.metadata["gemma4.block_count"] = int64_t{6};
  file_.metadata["gemma4.attention.sliding_window"] = int64_t{512};
  file_.metadata["gemma4.attention.sliding_window_pattern"] =
      std::vector<int64_t>{1, 0, 1, 0, 1, 0};
  file_.metadata["gemma4.attention.head_count_kv"] = std::vector<int64_t>{2, 1, 2, 1, 2, 1};
  file_.metadata["gemma4.attention.key_length"] = int64_t{32};
  file_.metadata["gemma4.attention.key_length_swa"] = int64_t{8};
  file_.metadata["gemma4.attention.shared_kv_layers"] = int64_t{2};
  file_.metadata["gemma4.feed_forward_length"] = std::vector<int64_t>{24, 24, 24, 24, 48, 48};
  const auto config = Config::read(file_);
  ASSERT_TRUE(config.has_value()) << config.error().message;
  EXPECT_THAT(config->cache_widths(), ElementsAre(16, 32, 16, 32));
  EXPECT_THAT(config->cache_windows(), ElementsAre(512, 0, 512, 0));
  EXPECT_EQ(config->cache_bytes(DType::F16, 512), 2U * 2U * (16U + 16U));
  EXPECT_EQ(config->cache_bytes(DType::F16, 0), 2U * 2U * (32U + 32U));
  EXPECT_FALSE(config->layer[4].writes_keys);
  EXPECT_EQ(config->layer[4].cache, 2);
  EXPECT_EQ(config->layer[5].cache, 3);
  EXPECT_EQ(config->layer[5].feed_forward, 48);
  EXPECT_EQ(config->rotary.frequencies.size(), 16U);
  EXPECT_EQ(config->local_rotary.frequencies.size(), 4U);
  file_.metadata["gemma4.attention.shared_kv_layers"] = int64_t{5};
  EXPECT_THAT(refusal(ErrorCode::InvalidInput), HasSubstr("shared_kv_layers"));
}

}  // namespace
}  // namespace mynah::llama
