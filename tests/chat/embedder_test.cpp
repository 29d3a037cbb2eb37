// Texts in, vectors out: cut, shortened, in their order, and in turns.
#include "chat/embedder.h"

#include <numeric>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backend/ref/ref_backend.h"
#include "chat/vector_text.h"
#include "temporary_folder.h"
#include "test_paths.h"

namespace mynah {
namespace {

using ::testing::HasSubstr;

class EmbedderTest : public testing::Test {
 protected:
  void SetUp() override {
    const std::string path = test::source_path("tests/models/bert/golden/tiny");
    const auto file = open_embedding_file(path);
    ASSERT_TRUE(file) << file.error().message;
    auto model =
        load_embedding_model(**file, {.storage = {}, .precision = Precision::Exact}, backend_);
    ASSERT_TRUE(model) << model.error().message;
    auto embedder = Embedder::open(**file, *model);
    ASSERT_TRUE(embedder) << embedder.error().message;
    embedder_ = std::move(*embedder);
  }

  [[nodiscard]] std::vector<Embedding> embed(const std::vector<std::string>& texts,
                                             const EmbeddingOptions& options = {}) const {
    auto made = embedder_->embed(texts, options, {});
    EXPECT_TRUE(made) << made.error().message;
    return made ? std::move(*made) : std::vector<Embedding>();
  }

  static double length(const std::vector<float>& vector) {
    return std::inner_product(vector.begin(), vector.end(), vector.begin(), 0.0);
  }

  RefBackend backend_;
  std::unique_ptr<Embedder> embedder_;
};

TEST_F(EmbedderTest, VectorsStandInTheOrderOfTheirTexts) {
  // More tokens than a batch has, long and short ones in turn.
  std::vector<std::string> texts;
  texts.reserve(200);
  for (int i = 0; i < 200; ++i) {
    texts.emplace_back(i % 3 == 0 ? "the cat sat on the mat" : i % 3 == 1 ? "" : "abc");
  }
  const auto made = embed(texts);
  ASSERT_EQ(made.size(), texts.size());
  for (size_t i = 3; i < made.size(); ++i) {
    EXPECT_EQ(made[i].vector, made[i % 3].vector) << i;
  }
  EXPECT_EQ(made[0].tokens, 8);
  EXPECT_EQ(made[1].tokens, 2);
  EXPECT_NE(made[0].vector, made[2].vector);
  EXPECT_NEAR(length(made[0].vector), 1, 1e-6);
}

// A cosine falls by half the square of what a vector is off, which is about a step of int16 codes.
TEST_F(EmbedderTest, WhereNobodySaysHowWeightsAreInt16) {
  const std::string path = test::source_path("tests/models/bert/golden/tiny");
  const TokenTexts texts = {{2, 5, 6, 7, 3}};
  const auto vector_of = [&](const EmbeddingLoadOptions& options) {
    const auto model = load_embedding_model(path, options, backend_);
    EXPECT_TRUE(model) << model.error().message;
    const auto made = (*model)->embed(texts);
    EXPECT_TRUE(made) << made.error().message;
    return *made;
  };
  const auto exact = vector_of({.storage = {}, .precision = Precision::Exact});
  const auto fast = vector_of({.storage = {}, .precision = Precision::Fast});
  EXPECT_NE(fast, exact);
  EXPECT_NEAR(std::inner_product(fast.begin(), fast.end(), exact.begin(), 0.0), 1, 1e-6);
  EXPECT_EQ(vector_of({.storage = DType::F32, .precision = Precision::Fast}), exact);
}

TEST_F(EmbedderTest, ATextThatIsTooLongIsCutAndSaidOrRefused) {
  const std::string text = "a b c d e a b c d e a b c d e";
  const auto made = embed({text, "a b c d e a b c d e"});
  EXPECT_EQ(made[0].tokens, 12);
  EXPECT_EQ(made[0].left_out, 5);
  EXPECT_EQ(made[1].left_out, 0);
  EXPECT_EQ(made[0].vector, made[1].vector);
  const auto refused = embedder_->embed(std::vector<std::string>{"a", text}, {.cuts = false}, {});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::InvalidInput);
  EXPECT_THAT(refused.error().message, HasSubstr("text 2: wanted 12 tokens at most"));
  EXPECT_THAT(refused.error().message, HasSubstr("found 17"));
}

TEST_F(EmbedderTest, TheFirstNumbersAreMadeAsLongAsOne) {
  const auto whole = embed({"abc"});
  const auto part = embed({"abc"}, {.dimensions = 4});
  ASSERT_EQ(part[0].vector.size(), 4U);
  EXPECT_NEAR(length(part[0].vector), 1, 1e-6);
  EXPECT_NEAR(part[0].vector[0] * whole[0].vector[1], part[0].vector[1] * whole[0].vector[0], 1e-6);
  const auto refused = embedder_->embed(std::vector<std::string>{"a"}, {.dimensions = 17}, {});
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("wanted 1 to 16 dimensions"));
}

TEST_F(EmbedderTest, TokensAreTakenWithAndWithoutTheirMarks) {
  const auto wanted = embed({"abc"});
  const std::vector<int32_t> tokens = embedder_->tokens("abc");
  const std::vector<int32_t> bare(tokens.begin() + 1, tokens.end() - 1);
  const auto made = embedder_->embed_tokens({tokens, bare}, {}, {});
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ((*made)[0].vector, wanted[0].vector);
  EXPECT_EQ((*made)[1].vector, wanted[0].vector);
  const auto refused = embedder_->embed_tokens({{5}, {26}}, {}, {});
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("text 2: wanted tokens of this model, 0 to 25"));
}

TEST_F(EmbedderTest, WhoStopsIsToldSoAndOthersGoOn) {
  std::stop_source stop;
  stop.request_stop();
  const auto stopped = embedder_->embed(std::vector<std::string>{"a"}, {}, stop.get_token());
  ASSERT_FALSE(stopped);
  EXPECT_EQ(stopped.error().code, ErrorCode::Cancelled);
  EXPECT_EQ(embed({"a"}).size(), 1U);
}

TEST_F(EmbedderTest, ManyAtOnceGetTheirOwn) {
  const auto a = embed({"the cat"});
  const auto b = embed({"the mat"});
  std::vector<std::jthread> threads;
  threads.reserve(4);
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&, i] {
      for (int round = 0; round < 8; ++round) {
        const auto made = embed({i % 2 == 0 ? "the cat" : "the mat"});
        EXPECT_EQ(made[0].vector, i % 2 == 0 ? a[0].vector : b[0].vector);
      }
    });
  }
}

TEST(VectorText, IsReadBackFromTheFewestDigits) {
  const std::vector<float> vector = {0.25F, -1e-5F, 0.1F, 3};
  EXPECT_EQ(vector_json(vector), "[0.25,-1e-05,0.1,3]");
  EXPECT_EQ(vector_columns(vector), "0.25 -1e-05 0.1 3");
  EXPECT_EQ(vector_json({}), "[]");
  EXPECT_EQ(vector_json(std::vector<float>{std::numeric_limits<float>::quiet_NaN()}), "[null]");
}

}  // namespace
}  // namespace mynah
