// Whisper tiny.en with its real weights, against CTranslate2 in float32 (tools/whisper_oracle.py
// golden).
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include <gtest/gtest.h>

#include "audio/open.h"
#include "backend/cpu/cpu_backend.h"
#include "backend/cuda/cuda_backend.h"
#include "formats/open.h"
#include "models/whisper/model.h"
#include "test_paths.h"

namespace mynah::whisper {
namespace {

std::vector<float> read_all(const std::string& path) {
  auto source = open_audio(path, {});
  EXPECT_TRUE(source.has_value()) << source.error().message;
  std::vector<float> samples;
  std::vector<float> piece(1 << 16);
  while (true) {
    const auto n = (*source)->read(piece);
    EXPECT_TRUE(n.has_value());
    if (!n || *n == 0) {
      return samples;
    }
    samples.insert(samples.end(), piece.begin(), piece.begin() + static_cast<ptrdiff_t>(*n));
  }
}

class RealWhisper : public testing::Test {
 protected:
  void SetUp() override {
    MYNAH_SKIP_WITHOUT(test::weights_path("tiny.en"));
    auto backend = make_cpu_backend(pool_);
    ASSERT_TRUE(backend.has_value()) << backend.error().message;
    load(std::move(*backend));
  }

  void load(std::unique_ptr<Backend> backend, DType storage = DType::F32,
            Precision precision = Precision::Exact) {
    states_ = {};
    model_.reset();
    backend_ = std::move(backend);
    const std::string folder = test::weights_path("tiny.en");
    auto file = open_tensor_file(folder);
    ASSERT_TRUE(file.has_value()) << file.error().message;
    auto vocabulary = load_vocabulary(folder);
    ASSERT_TRUE(vocabulary.has_value()) << vocabulary.error().message;
    const StageOptions stage{
        .backend = backend_.get(), .storage = storage, .precision = precision, .cache = nullptr};
    auto model =
        Model::load(std::make_shared<const TensorFile>(std::move(*file)), std::move(*vocabulary),
                    {.name = "tiny.en", .encoder = stage, .decoder = stage});
    ASSERT_TRUE(model.has_value()) << model.error().message;
    model_ = *model;
  }

  CrossCache listen(const std::vector<float>& samples, int64_t frames, bool with_silence) {
    const AudioWindow window{.samples = samples, .frames = frames};
    Lengths lengths;
    const Tensor mel = model_->log_mel(std::span(&window, 1), lengths);
    const SilenceCache* silence = with_silence ? &model_->silence() : nullptr;
    states_ = model_->encoder().forward(mel, lengths, encoder_tail(silence));
    CrossCache cross = model_->decoder().cross_cache(states_, model_->encoder().positions(lengths));
    cross.silence = silence;
    return cross;
  }

  // Greedy tokens without timestamps.
  std::vector<int32_t> tokens(const std::vector<float>& samples, int64_t frames,
                              bool with_silence) {
    const auto rules = TokenRules::create(model_->tokenizer(), {.timestamps = false}, *backend_);
    EXPECT_TRUE(rules.has_value());
    const CrossCache cross = listen(samples, frames, with_silence);
    const WhisperSpecialTokens& special = model_->tokenizer().special();
    const GenerateRequest request{.utterance = 0, .prompt = {special.sot, special.no_timestamps}};
    return model_->generator(*rules)
        .run(std::span(&request, 1), {}, cross, std::stop_token())
        .front()
        .tokens;
  }

  static TensorFile golden() {
    auto file = open_tensor_file(test::source_path("tests/models/whisper/golden/tiny_en.npz"));
    EXPECT_TRUE(file.has_value()) << file.error().message;
    return file.value_or(TensorFile{});
  }

  // Of clip `i` of those that tools/whisper_oracle.py has.
  static std::vector<int32_t> golden_tokens(size_t i) {
    const TensorFile file = golden();
    const StoredTensor* const stored = file.find("tokens." + std::to_string(i));
    EXPECT_NE(stored, nullptr);
    std::vector<int32_t> tokens(stored == nullptr ? 0 : stored->bytes.size() / sizeof(int32_t));
    if (stored != nullptr) {
      std::memcpy(tokens.data(), stored->bytes.data(), stored->bytes.size());
    }
    return tokens;
  }

  ThreadPool pool_{2};
  std::unique_ptr<Backend> backend_;
  std::shared_ptr<const Model> model_;
  Tensor states_;
};

TEST_F(RealWhisper, WritesDownAClipInAFullWindowAndWithCachedSilence) {
  const std::string clip = test::shared_path("speech/clips/ljspeech_LJ001-0017.flac");
  MYNAH_SKIP_WITHOUT(clip);
  const std::vector<float> samples = read_all(clip);
  const std::string expected =
      " that the forms of printed letters should follow more or less closely those of the written "
      "character, and they followed them very closely.";
  EXPECT_EQ(model_->tokenizer().decode(tokens(samples, 3000, false)), expected);
  const int64_t frames = model_->frames_before_silence(static_cast<int64_t>(samples.size()));
  EXPECT_LT(frames, 3000);
  EXPECT_EQ(model_->tokenizer().decode(tokens(samples, frames, true)), expected);
}

TEST_F(RealWhisper, EncodesAsCTranslate2DoesWithinAThousandth) {
  const std::string clip = test::shared_path("speech/clips/ljspeech_LJ001-0017.flac");
  MYNAH_SKIP_WITHOUT(clip);
  (void)listen(read_all(clip), 3000, false);
  const std::vector<float> found = ops::to_host(*backend_, states_);
  const TensorFile file = golden();
  const StoredTensor* const states = file.find("states");  // (30, 48)
  ASSERT_NE(states, nullptr);
  std::vector<float> wanted(static_cast<size_t>(states->shape.elements()));
  ASSERT_EQ(states->bytes.size(), wanted.size() * sizeof(float));
  std::memcpy(wanted.data(), states->bytes.data(), states->bytes.size());
  double difference = 0;
  double norm = 0;
  for (size_t row = 0; row < 30; ++row) {
    for (size_t column = 0; column < 48; ++column) {
      const double w = wanted[row * 48 + column];
      const double f = found[row * 50 * 384 + column * 8];
      difference += (f - w) * (f - w);
      norm += w * w;
    }
  }
  EXPECT_LE(std::sqrt(difference / norm), 1e-3);
}

TEST_F(RealWhisper, WritesTheTokensOfCTranslate2InFloat32) {
  const std::array clips = {"ljspeech_LJ001-0017", "librispeech_test-other_3080-5032-0009",
                            "ljspeech_LJ001-0029", "librispeech_misc_1995-1837-0001"};
  for (size_t i = 0; i < clips.size(); ++i) {
    const std::string clip =
        test::shared_path(std::string("speech/clips/") + clips.at(i) + ".flac");
    MYNAH_SKIP_WITHOUT(clip);
    EXPECT_EQ(tokens(read_all(clip), 3000, false), golden_tokens(i)) << clip;
  }
}

// Every kernel of a card's, at the size of a real model: the same tokens as the reference's.
TEST_F(RealWhisper, WritesTheTokensOfCTranslate2OnTheSimulatedCard) {
  const std::string clip =
      test::shared_path("speech/clips/librispeech_test-other_3080-5032-0009.flac");
  MYNAH_SKIP_WITHOUT(clip);
  load(make_simt_backend(pool_, {.check_shared = false}));
  EXPECT_EQ(tokens(read_all(clip), 3000, false), golden_tokens(1));
}

// In half precision, with the kernels for matrix units.
TEST_F(RealWhisper, WritesTheTokensOfCTranslate2OnTheSimulatedCardsMatrixUnits) {
  const std::string clip =
      test::shared_path("speech/clips/librispeech_test-other_3080-5032-0009.flac");
  MYNAH_SKIP_WITHOUT(clip);
  constexpr int kLevel = 80;
  if (const std::vector<int> levels = simt_levels();
      std::ranges::find(levels, kLevel) == levels.end()) {
    GTEST_SKIP() << "this build does not simulate cards that have them";
  }
  load(make_simt_backend(pool_, {.level = kLevel, .check_shared = false}), DType::F16,
       Precision::Fast);
  EXPECT_EQ(tokens(read_all(clip), 3000, false), golden_tokens(1));
}

}  // namespace
}  // namespace mynah::whisper
