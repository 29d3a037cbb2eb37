// Folders, and what a file's content says it is.
#include "formats/open.h"

#include <array>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>

#include "corpus.h"
#include "formats/byte_reader.h"
#include "formats/json.h"
#include "temporary_folder.h"

namespace mynah {
namespace {

namespace fs = std::filesystem;

void put(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

void put_corpus(const std::string& path, const std::string& corpus, const std::string& name) {
  fs::copy_file(corpus_folder(corpus) / name, path);
}

// A safetensors file of one U8 tensor of one element.
std::string tiny_safetensors(const std::string& name) {
  const std::string header =
      "{\"" + name + "\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]}}";
  std::string file(8, '\0');
  file[0] = static_cast<char>(header.size());
  return file + header + "x";
}

TEST(OpenTensorFile, KnowsEveryFormatByItsContent) {
  for (const auto& path : corpus_files("tensor_file", "good-")) {
    const auto file = open_tensor_file(path.string());
    ASSERT_TRUE(file) << file.error().message;
    EXPECT_EQ(
        "good-" + (file->format == "npz" && path.string().ends_with("npy") ? "npy" : file->format),
        path.filename().string());
  }
}

TEST(OpenTensorFile, ReadsACtranslate2FolderWithConfigurationAndVocabulary) {
  const test::TemporaryFolder folder;
  put_corpus(folder / "model.bin", "ctranslate2", "good-int8");
  put(folder / "config.json", R"({"alignment_heads": [[1, 2], [3, 4]], "nested": {"x": true}})");
  put(folder / "vocabulary.txt", "a\nb\n\nc");
  const auto file = open_tensor_file(folder.path());
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_EQ(file->format, "ctranslate2");
  EXPECT_EQ(std::get<std::vector<int64_t>>(file->metadata.at("alignment_heads")),
            (std::vector<int64_t>{1, 2, 3, 4}));
  EXPECT_TRUE(std::get<bool>(file->metadata.at("nested.x")));
  EXPECT_EQ(std::get<std::vector<std::string>>(file->metadata.at("vocabulary")),
            (std::vector<std::string>{"a", "b", "", "c"}));
}

// CTranslate2 stores 127 / max: 127 and 254 of the file are 1 / 127 and 1 / 254 here.
TEST(OpenTensorFile, Int8ScalesMultiplyWhateverTheFormat) {
  const auto file = open_tensor_file((corpus_folder("ctranslate2") / "good-int8").string());
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_EQ(file->find("q/weight_scale"), nullptr);
  const StoredTensor* weight = file->find("q/weight");
  ASSERT_NE(weight, nullptr);
  EXPECT_EQ(weight->dtype, DType::I8);
  std::array<float, 2> scales{};
  ASSERT_EQ(weight->row_scales.size(), sizeof(scales));
  std::memcpy(scales.data(), weight->row_scales.data(), sizeof(scales));
  EXPECT_EQ(scales[0], 1.0F / 127.0F);
  EXPECT_EQ(scales[1], 1.0F / 254.0F);
}

TEST(OpenTensorFile, ReadsAHuggingFaceFolderAndItsShards) {
  const test::TemporaryFolder folder;
  put(folder / "model-1.safetensors", tiny_safetensors("a"));
  put(folder / "model-2.safetensors", tiny_safetensors("b"));
  put(folder / "model.safetensors.index.json",
      R"({"weight_map": {"a": "model-1.safetensors", "b": "model-2.safetensors"}})");
  put(folder / "config.json", R"({"encoder_attention_heads": 6})");
  const auto file = open_tensor_file(folder.path());
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_NE(file->find("a"), nullptr);
  EXPECT_NE(file->find("b"), nullptr);
  EXPECT_EQ(std::get<int64_t>(file->metadata.at("encoder_attention_heads")), 6);
}

TEST(OpenTensorFile, RefusesAShardOutsideTheFolder) {
  const test::TemporaryFolder folder;
  put(folder / "model.safetensors.index.json", R"({"weight_map": {"a": "../elsewhere"}})");
  EXPECT_FALSE(open_tensor_file(folder.path()));
}

TEST(OpenTensorFile, SaysWhatAFolderLacks) {
  const test::TemporaryFolder folder;
  const auto file = open_tensor_file(folder.path());
  ASSERT_FALSE(file);
  EXPECT_EQ(file.error().code, ErrorCode::NotFound);
  EXPECT_NE(file.error().message.find("model.safetensors"), std::string::npos);
}

TEST(OpenTensorFile, SaysWhatToDoWithFilesThatHoldAModelInAnotherWrapping) {
  const test::TemporaryFolder folder;
  std::string tar(1024, '\0');
  tar.replace(0, 19, "./model_config.yaml");
  tar.replace(257, 6, "ustar ");
  // The magic number, in a pickle of protocol 2, that torch.save wrote before 1.6.
  const std::string legacy = "\x80\x02\x8a\nl\xfc\x9c\x46\xf9 j\xa8P\x19.";
  const std::vector<std::pair<std::string, std::string>> files = {
      {tar, "tar archives are not read: unpack it"},
      {std::string("\x1f\x8b\x08\x00\x00\x00\x00\x00", 8), "gzip are not read: unpack it"},
      {legacy, "PyTorch checkpoints from before 1.6 are not read; save it again"}};
  for (const auto& [bytes, message] : files) {
    put(folder / "file", bytes);
    const auto file = open_tensor_file(folder / "file");
    ASSERT_FALSE(file);
    EXPECT_EQ(file.error().code, ErrorCode::Unsupported);
    EXPECT_NE(file.error().message.find(message), std::string::npos) << file.error().message;
  }
}

TEST(InQuotes, EscapesWhatCommandsATerminalAndKeepsQuotesReadable) {
  EXPECT_EQ(in_quotes("\"object\""), R"("\"object\"")");
  EXPECT_EQ(in_quotes("a\\b"), R"("a\\b")");
  EXPECT_EQ(in_quotes("\x1b[2J\xff"), R"("\x1b[2J\xff")");
  EXPECT_EQ(in_quotes(std::string(81, 'a')), "\"" + std::string(80, 'a') + "...\"");
}

TEST(ParseJson, RefusesDepthDuplicatesAndBadText) {
  const std::string deep(static_cast<size_t>(kMaxJsonDepth) + 1, '[');
  EXPECT_FALSE(parse_json(deep + std::string(deep.size(), ']'), "x"));
  EXPECT_FALSE(parse_json(R"({"a": 1, "a": 2})", "x"));
  EXPECT_FALSE(parse_json("{\"a\": \"\xff\"}", "x"));
  EXPECT_FALSE(parse_json("", "x"));
  const auto cut = parse_json(R"({"a": [1, 2)", "file.json");
  ASSERT_FALSE(cut);
  EXPECT_EQ(cut.error().message.find("file.json: wanted JSON"), 0U) << cut.error().message;
}

}  // namespace
}  // namespace mynah
