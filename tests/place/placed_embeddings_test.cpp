// An embedding model where it is placed: vectors are alike on every device, and a batch whose
// device dies is made elsewhere.
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "place/made_up_placer.h"
#include "place/placer.h"

namespace mynah::place {
namespace {

const TokenTexts& texts() {
  static const TokenTexts kTexts = {{2, 15, 17, 18, 3}, {2, 3}, {2, 5, 11, 12, 6, 3}};
  return kTexts;
}

std::vector<float> vectors_of(const EmbeddingModel& model, const TokenTexts& texts) {
  const auto vectors = model.embed(texts);
  EXPECT_TRUE(vectors) << vectors.error().message;
  return vectors ? *vectors : std::vector<float>();
}

class PlacedEmbeddings : public ::testing::Test {
 protected:
  [[nodiscard]] PlacerOptions placer(const std::string& devices) const {
    return test::placer_options(machine_, devices);
  }

  // Of the processor, where nothing else can be.
  [[nodiscard]] std::vector<float> here() const {
    Placer processor(placer("cpu"));
    const auto model = processor.embeddings(file_);
    EXPECT_TRUE(model) << model.error().message;
    return model ? vectors_of(**model, texts()) : std::vector<float>();
  }

  mynah::test::MadeUpMachine machine_;
  EmbeddingFile file_{.path = MYNAH_SOURCE_DIR "/tests/models/bert/golden/tiny",
                      .precision = Precision::Exact};
};

TEST_F(PlacedEmbeddings, AreAlikeOnEachDevice) {
  const std::vector<float> wanted = here();
  ASSERT_EQ(wanted.size(), 48U);
  Placer card(placer("simt:0"));
  const auto model = card.embeddings(file_);
  ASSERT_TRUE(model) << model.error().message;
  EXPECT_EQ(card.device(card.id_of(file_)), "simt:0");
  EXPECT_EQ((*model)->facts().longest, 12);
  EXPECT_TRUE((*model)->facts().normalized);
  const std::vector<float> found = vectors_of(**model, texts());
  ASSERT_EQ(found.size(), wanted.size());
  for (size_t i = 0; i < found.size(); ++i) {
    EXPECT_NEAR(found[i], wanted[i], 1e-5F) << i;
  }
}

TEST_F(PlacedEmbeddings, ABatchWhoseDeviceDiesIsMadeElsewhere) {
  PlacerOptions options = placer("simt:0,cpu");
  options.faults = {{.stage = kEmbedStage, .kind = FaultKind::Crash, .call = 2}};
  Placer failing(options);
  const auto model = failing.embeddings(file_);
  ASSERT_TRUE(model) << model.error().message;
  EXPECT_EQ(vectors_of(**model, {{2, 3}}).size(), 16U);
  EXPECT_EQ(vectors_of(**model, texts()), here());
  EXPECT_EQ(failing.state().openings().moves().size(), 1U);
  EXPECT_EQ(failing.device(failing.id_of(file_)), "cpu");
}

TEST_F(PlacedEmbeddings, ADeviceThatIsNamedAloneIsNotLeft) {
  PlacerOptions options = placer("simt:0");
  options.faults = {{.stage = kEmbedStage, .kind = FaultKind::Crash, .call = 1}};
  Placer failing(options);
  const auto model = failing.embeddings(file_);
  ASSERT_TRUE(model) << model.error().message;
  const auto vectors = (*model)->embed(texts());
  ASSERT_FALSE(vectors);
  EXPECT_EQ(vectors.error().code, ErrorCode::Device) << vectors.error().message;
}

TEST_F(PlacedEmbeddings, WhatIsLetGoOfIsOpenedAgain) {
  Placer processor(placer("cpu"));
  const auto model = processor.embeddings(file_);
  ASSERT_TRUE(model) << model.error().message;
  const std::vector<float> before = vectors_of(**model, texts());
  for (const ModelHooks& hooks : processor.state().openings().hooks()) {
    hooks.unload_after({});
  }
  EXPECT_TRUE(processor.state().openings().open_places().empty());
  EXPECT_EQ(vectors_of(**model, texts()), before);
}

TEST_F(PlacedEmbeddings, AFileThatIsNoneIsRefused) {
  Placer processor(placer("cpu"));
  const auto none =
      processor.embeddings({.path = MYNAH_SOURCE_DIR "/tests/models/llama/golden/llama.gguf"});
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, ErrorCode::Unsupported) << none.error().message;
}

}  // namespace
}  // namespace mynah::place
