// Folders of sentence-transformers as they come, and what is said of those that mynah does not do.
#include "models/bert/checkpoint.h"

#include <filesystem>
#include <functional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "formats/open.h"
#include "models/bert/config.h"
#include "temporary_folder.h"
#include "test_paths.h"
#include "text/tokenizer/text_tokenizer.h"

namespace mynah::bert {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class BertFolder : public testing::Test {
 protected:
  void SetUp() override {
    fs::copy(test::source_path("tests/models/bert/golden/tiny"), path(),
             fs::copy_options::recursive);
  }

  [[nodiscard]] std::string path(const std::string& file = {}) const {
    return folder_ / ("model" + (file.empty() ? "" : "/" + file));
  }

  // Another text in a file's place of one.
  void change(const std::string& file, const std::string& from, const std::string& to) const {
    std::string text = test::read_file(path(file));
    const size_t at = text.find(from);
    ASSERT_NE(at, std::string::npos) << from;
    test::write_file(path(file), text.replace(at, from.size(), to));
  }

  [[nodiscard]] Result<Config> config() const {
    MYNAH_TRY(const TensorFile file, open_checkpoint(path()));
    return Config::read(file);
  }

  void expect_refused(ErrorCode code, const std::string& with) const {
    const auto found = config();
    ASSERT_FALSE(found.has_value()) << with;
    EXPECT_EQ(found.error().code, code) << found.error().message;
    EXPECT_THAT(found.error().message, HasSubstr(with));
  }

  test::TemporaryFolder folder_;
};

TEST_F(BertFolder, SaysWhatTheModelIs) {
  const auto found = config();
  ASSERT_TRUE(found.has_value()) << found.error().message;
  EXPECT_EQ(found->vocabulary, 26);
  EXPECT_EQ(found->positions, 20);
  EXPECT_EQ(found->longest, 12);
  EXPECT_EQ(found->layers, 2);
  EXPECT_EQ(found->width, 16);
  EXPECT_EQ(found->feed_forward, 24);
  EXPECT_EQ(found->heads, 2);
  EXPECT_EQ(found->pooling, Pooling::Mean);
  EXPECT_TRUE(found->normalized);
}

TEST_F(BertFolder, WithoutModulesIsTheMeanAsItIs) {
  for (const char* file : {"modules.json", "sentence_bert_config.json"}) {
    fs::remove(path(file));
  }
  const auto found = config();
  ASSERT_TRUE(found.has_value()) << found.error().message;
  EXPECT_EQ(found->longest, 20);
  EXPECT_EQ(found->pooling, Pooling::Mean);
  EXPECT_FALSE(found->normalized);
}

TEST_F(BertFolder, TheFirstTokenIsAPoolingToo) {
  change("1_Pooling/config.json", R"("pooling_mode_cls_token": false)",
         R"("pooling_mode_cls_token": true)");
  change("1_Pooling/config.json", R"("pooling_mode_mean_tokens": true)",
         R"("pooling_mode_mean_tokens": false)");
  const auto found = config();
  ASSERT_TRUE(found.has_value()) << found.error().message;
  EXPECT_EQ(found->pooling, Pooling::First);
}

TEST_F(BertFolder, ReadsTheSameFromAVocabularyOfLines) {
  const auto tokens = [this] {
    const auto file = open_checkpoint(path());
    EXPECT_TRUE(file.has_value()) << file.error().message;
    const auto tokenizer = create_text_tokenizer(*file);
    EXPECT_TRUE(tokenizer.has_value()) << tokenizer.error().message;
    return (*tokenizer)->encode_whole("The CAT, abd! \u00c9 [SEP] z");
  };
  const auto of_json = tokens();
  EXPECT_EQ(of_json.front(), 2);
  EXPECT_EQ(of_json.back(), 3);
  EXPECT_EQ(std::ranges::count(of_json, 3), 1);  // a user's [SEP] is text
  fs::remove(path("tokenizer.json"));
  EXPECT_EQ(tokens(), of_json);
  change("tokenizer_config.json", R"("do_lower_case": true)", R"("do_lower_case": false)");
  EXPECT_NE(tokens(), of_json);
}

TEST_F(BertFolder, OtherModelsAreRefusedByName) {
  change("config.json", R"("model_type": "bert")", R"("model_type": "roberta")");
  expect_refused(ErrorCode::Unsupported, "model_type: wanted bert, found \"roberta\"");
}

TEST_F(BertFolder, OtherActivationsAndPositionsAreRefused) {
  change("config.json", R"("hidden_act": "gelu")", R"("hidden_act": "relu")");
  expect_refused(ErrorCode::Unsupported, "hidden_act: wanted gelu, found \"relu\"");
  change("config.json", R"("hidden_act": "relu")", R"("hidden_act": "gelu")");
  change("config.json", R"("absolute")", R"("relative_key")");
  expect_refused(ErrorCode::Unsupported, "position_embedding_type: wanted absolute");
}

TEST_F(BertFolder, OtherModulesAndPoolingsAreRefused) {
  change("modules.json", "models.Normalize", "models.Dense");
  expect_refused(ErrorCode::Unsupported, "found \"Dense\" at place 2");
  change("modules.json", "models.Dense", "models.Normalize");
  change("1_Pooling/config.json", R"("pooling_mode_mean_tokens": true)",
         R"("pooling_mode_max_tokens": true)");
  expect_refused(ErrorCode::Unsupported, "found \"max_tokens\"");
  change("modules.json", "\"1_Pooling\"", "\"../1_Pooling\"");
  expect_refused(ErrorCode::InvalidInput, "wanted a folder's name");
}

TEST_F(BertFolder, WhatIsMissingOrDamagedIsNamed) {
  change("config.json", R"("num_hidden_layers": 2)", R"("num_hidden_layers": 0)");
  expect_refused(ErrorCode::InvalidInput, "bert.block_count: wanted 1 to");
  change("config.json", R"("num_hidden_layers": 0)", R"("num_layers": 2)");
  expect_refused(ErrorCode::InvalidInput, "wanted the whole number bert.block_count, found none");
  change("config.json", R"("num_layers": 2)", R"("num_hidden_layers": 2)");
  test::write_file(path("tokenizer.json"), "{");
  expect_refused(ErrorCode::InvalidInput, "tokenizer.json");
  test::write_file(path("tokenizer.json"), R"({"model": {"type": "BPE", "vocab": []}})");
  expect_refused(ErrorCode::Unsupported, "wanted a WordPiece vocabulary");
  fs::remove(path("tokenizer.json"));
  fs::remove(path("vocab.txt"));
  expect_refused(ErrorCode::InvalidInput, "wanted tokenizer.json or vocab.txt");
}

TEST(BertConfig, AFileOfAnotherArchitectureIsRefused) {
  auto file = open_tensor_file(test::source_path("tests/models/bert/golden/mean.gguf"));
  ASSERT_TRUE(file.has_value());
  EXPECT_TRUE(is_encoder(*file));
  file->metadata["general.architecture"] = std::string("nomic-bert");
  EXPECT_TRUE(is_encoder(*file));
  const auto found = Config::read(*file);
  ASSERT_FALSE(found.has_value());
  EXPECT_EQ(found.error().code, ErrorCode::Unsupported);
  EXPECT_THAT(found.error().message, HasSubstr("nomic-bert"));
}

TEST(BertConfig, AReranksFileIsRefused) {
  auto file = open_tensor_file(test::source_path("tests/models/bert/golden/mean.gguf"));
  ASSERT_TRUE(file.has_value());
  file->metadata["bert.pooling_type"] = int64_t{4};
  const auto found = Config::read(*file);
  ASSERT_FALSE(found.has_value());
  EXPECT_THAT(found.error().message, HasSubstr("bert.pooling_type 4 (rank)"));
}

}  // namespace
}  // namespace mynah::bert
