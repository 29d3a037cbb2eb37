#include "formats/gguf_writer.h"

#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "corpus.h"
#include "formats/ctranslate2.h"
#include "formats/gguf.h"
#include "formats/safetensors.h"
#include "temporary_folder.h"

namespace mynah {
namespace {

void expect_equal(const TensorFile& a, const TensorFile& b) {
  ASSERT_EQ(a.tensors.size(), b.tensors.size());
  for (const StoredTensor& tensor : a.tensors) {
    const StoredTensor* other = b.find(tensor.name);
    ASSERT_NE(other, nullptr) << tensor.name;
    EXPECT_EQ(tensor.dtype, other->dtype) << tensor.name;
    EXPECT_EQ(tensor.shape, other->shape) << tensor.name;
    EXPECT_TRUE(std::ranges::equal(tensor.bytes, other->bytes)) << tensor.name;
    EXPECT_TRUE(std::ranges::equal(tensor.row_scales, other->row_scales)) << tensor.name;
  }
  for (const auto& [key, value] : a.metadata) {
    if (key == "general.alignment") {
      continue;  // the writer's own
    }
    const auto other = b.metadata.find(key);
    ASSERT_NE(other, b.metadata.end()) << key;
    EXPECT_EQ(value, other->second) << key;
  }
}

class GgufWriterRoundTrip : public testing::TestWithParam<std::pair<std::string, std::string>> {};

TEST_P(GgufWriterRoundTrip, KeepsTensorsScalesAndMetadata) {
  const auto& [corpus, name] = GetParam();
  const auto mapped = map_corpus(corpus, name);
  const auto source = corpus == "gguf"          ? read_gguf(mapped)
                      : corpus == "safetensors" ? read_safetensors(mapped)
                                                : read_ctranslate2(mapped);
  ASSERT_TRUE(source) << source.error().message;
  const test::TemporaryFolder folder;
  const Status status = write_gguf(folder / "model.gguf", *source);
  ASSERT_TRUE(status) << status.error().message;
  const auto back = read_gguf(map_file(folder / "model.gguf"));
  ASSERT_TRUE(back) << back.error().message;
  expect_equal(*source, *back);
  for (const StoredTensor& tensor : back->tensors) {
    EXPECT_EQ(reinterpret_cast<uintptr_t>(tensor.bytes.data()) % kGgufWriterAlignment, 0U)
        << tensor.name << " in a mapping that begins with a page";
  }
}

INSTANTIATE_TEST_SUITE_P(
    Sources, GgufWriterRoundTrip,
    testing::Values(std::pair("gguf", "good-v3"), std::pair("gguf", "good-vocabulary"),
                    std::pair("gguf", "good-k-quants"), std::pair("gguf", "good-scales"),
                    std::pair("ctranslate2", "good-int8"), std::pair("ctranslate2", "good-half")));

TEST(GgufWriter, RefusesWhatGgufCannotHold) {
  const test::TemporaryFolder folder;
  const std::vector<GgufTensor> cases = {{"bytes", DType::U8, Shape{2}, false},
                                         {"deep", DType::F32, Shape{1, 1, 1, 1, 1}, false}};
  for (const GgufTensor& tensor : cases) {
    const auto writer = GgufWriter::create(folder / "model.gguf", {}, {tensor});
    ASSERT_FALSE(writer);
    EXPECT_EQ(writer.error().code, ErrorCode::Unsupported);
    EXPECT_NE(writer.error().message.find(tensor.name), std::string::npos);
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(GgufWriter, RefusesANameThatComesTwice) {
  const test::TemporaryFolder folder;
  const auto writer = GgufWriter::create(
      folder / "model.gguf", {},
      {{"w", DType::I8, Shape{2, 2}, true}, {"w.scale", DType::F32, Shape{2}, false}});
  ASSERT_FALSE(writer);
  EXPECT_NE(writer.error().message.find("w.scale"), std::string::npos);
}

TEST(GgufWriter, LeavesNothingBehindWhenNotFinished) {
  const test::TemporaryFolder folder;
  {
    auto writer =
        GgufWriter::create(folder / "model.gguf", {}, {{"w", DType::F32, Shape{2}, false}});
    ASSERT_TRUE(writer) << writer.error().message;
    const std::vector<std::byte> bytes(8);
    ASSERT_TRUE(writer->write("w", bytes));
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

}  // namespace
}  // namespace mynah
