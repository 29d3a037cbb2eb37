// A tiny random network in the exporter's form and in that of ONNX Runtime's static quantiser,
// against ONNX Runtime (tools/turn_oracle.py tiny).
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "golden_backend.h"
#include "models/turn/model.h"
#include "oracle_arrays.h"

namespace mynah::turn {
namespace {

using testing::HasSubstr;

constexpr int kTurns = 5;

std::string golden_path(const std::string& file) {
  return test::source_path("tests/models/turn/golden/" + file);
}

class TurnGolden : public testing::TestWithParam<DeviceKind> {
 protected:
  void SetUp() override {
    backend_ = test::golden_backend(GetParam(), pool_);
    ASSERT_NE(backend_, nullptr);
    auto golden = test::OracleArrays::open(golden_path("tiny.npz"));
    ASSERT_TRUE(golden.has_value()) << golden.error().message;
    golden_ = *std::move(golden);
  }

  void load(const std::string& name) {
    auto model = Model::open(golden_path(name),
                             {.backend = backend_.get(), .options = {.storage = DType::F32}});
    ASSERT_TRUE(model.has_value()) << model.error().message;
    model_ = *model;
  }

  [[nodiscard]] std::vector<std::vector<float>> turns() const {
    std::vector<std::vector<float>> all;
    for (int i = 0; i < kTurns; ++i) {
      all.push_back(golden_.values("turn." + std::to_string(i)));
    }
    return all;
  }

  [[nodiscard]] std::vector<float> score(const std::vector<std::vector<float>>& turns) const {
    const std::vector<std::span<const float>> views(turns.begin(), turns.end());
    return model_->score(views);
  }

  // Each of the additions on the way to a score can add half a unit in the last place of the
  // largest number on the way (Higham 2002, section 3.1), which a norm keeps below the root of its
  // width; a sigmoid is at most a quarter as steep. Both sides add in f32.
  [[nodiscard]] float bound() const {
    const AudioEncoder::Sizes& s = model_->sizes();
    const int64_t additions = 3 * s.mels + 3 * s.width +
                              s.layers * (4 * s.width + 2 * s.positions + 5 * s.width) +
                              s.positions + 4 * s.width;
    return 2 * 0.25F * std::sqrt(static_cast<float>(s.width)) * static_cast<float>(additions) *
           0x1p-24F;
  }

  ThreadPool pool_{2};
  std::unique_ptr<Backend> backend_;
  test::OracleArrays golden_;
  std::shared_ptr<const Model> model_;
};

// Spectra are of double precision on one side and of f32 on the other, where samples are divided by
// their spread: a level is (log10 of a power + 4) / 4, whose error is the power's relative one, and
// that is some units in the last place of the frame's largest sample times the points that were
// added, over the least level that a spectrum keeps, 1e-8 of the highest power.
TEST_P(TurnGolden, HearsTheLastSamplesAsTheReferenceDoes) {
  load("tiny.onnx");
  constexpr float kLevel = 2e-4F;
  for (int i = 0; i < kTurns; ++i) {
    const std::vector<float> turn = golden_.values("turn." + std::to_string(i));
    const std::span<const float> view(turn);
    const std::vector<float> mel = ops::to_host(*backend_, model_->features(std::span(&view, 1)));
    EXPECT_LE(test::distance(mel, golden_.values("mel." + std::to_string(i))), kLevel) << i;
  }
}

TEST_P(TurnGolden, ScoresSpectraAsOnnxRuntimeDoes) {
  for (const auto& [file, scores] :
       {std::pair{"tiny.onnx", "f32"}, std::pair{"tiny-int8.onnx", "int8"}}) {
    load(file);
    std::vector<float> found;
    for (int i = 0; i < kTurns; ++i) {
      found.push_back(
          model_->score_features(golden_.tensor(*backend_, "mel." + std::to_string(i))).front());
    }
    EXPECT_LE(test::distance(found, golden_.values(scores)), bound()) << file;
  }
}

TEST_P(TurnGolden, ATurnsScoreIsTheSameAloneAndInCompany) {
  load("tiny-int8.onnx");
  const std::vector<std::vector<float>> all = turns();
  const std::vector<float> together = score(all);
  ASSERT_EQ(together.size(), all.size());
  for (size_t i = 0; i < all.size(); ++i) {
    EXPECT_EQ(score({all[i]}).front(), together[i]) << i;
  }
  EXPECT_TRUE(score({}).empty());
}

// Nothing that is said is silence, and so is what has the same level all along.
TEST_P(TurnGolden, SilenceIsSilenceWhateverItsLevel) {
  load("tiny.onnx");
  const std::vector<float> level(static_cast<size_t>(model_->window()), 0.25F);
  EXPECT_EQ(score({std::vector<float>{}}), score({level}));
}

INSTANTIATE_TEST_SUITE_P(, TurnGolden,
                         testing::Values(DeviceKind::Ref, DeviceKind::Cpu, DeviceKind::Simt),
                         [](const auto& given) { return test::golden_device(given.param); });

TEST(TurnModel, AnotherGraphIsRefusedByWhatItIs) {
  for (const auto& [path, words] :
       {std::pair{test::source_path("tests/models/turn/golden/tiny.npz"), "protobuf"},
        std::pair{test::source_path("nothing.onnx"), "nothing.onnx"}}) {
    RefBackend own;
    const auto model = Model::open(path, {.backend = &own, .options = {}});
    ASSERT_FALSE(model.has_value());
    EXPECT_THAT(model.error().message, HasSubstr(words));
  }
}

// What a damaged file may lack. The keys have no bias, and a layer that lacks its first norm is one
// that is not there.
TEST(TurnModel, AMissingTensorIsNamed) {
  RefBackend backend;
  const auto file = MappedFile::open(golden_path("tiny-int8.onnx"));
  ASSERT_TRUE(file.has_value());
  const auto graph = read_onnx_model(*file);
  ASSERT_TRUE(graph.has_value()) << graph.error().message;
  const auto weights = read_onnx_weights(*graph);
  ASSERT_TRUE(weights.has_value()) << weights.error().message;
  EXPECT_EQ(weights->heads, 2);
  int named = 0;
  for (const StoredTensor& gone : weights->tensors) {
    const bool wanted = gone.name.ends_with(".weight") &&
                        (gone.name.contains(".attn.") || gone.name.contains(".mlp.") ||
                         gone.name.starts_with("encoder.conv"));
    if (!wanted) {
      continue;
    }
    OnnxWeights less = *weights;
    std::erase_if(less.tensors, [&](const StoredTensor& t) { return t.name == gone.name; });
    const auto model = Model::load(less, {.backend = &backend, .options = {}});
    ASSERT_FALSE(model.has_value()) << gone.name;
    EXPECT_THAT(model.error().message, HasSubstr(gone.name));
    ++named;
  }
  EXPECT_EQ(named, 2 + 2 * 6);
  OnnxWeights headless = *weights;
  headless.heads = 0;
  EXPECT_FALSE(Model::load(headless, {.backend = &backend, .options = {}}).has_value());
}

}  // namespace
}  // namespace mynah::turn
