// Whisper tiny.en with its real weights.
#include <gtest/gtest.h>

#include "audio/open.h"
#include "backend/cpu/cpu_backend.h"
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
    const std::string folder = test::weights_path("tiny.en");
    MYNAH_SKIP_WITHOUT(folder);
    auto backend = make_cpu_backend(pool_);
    ASSERT_TRUE(backend.has_value()) << backend.error().message;
    backend_ = std::move(*backend);
    auto file = open_tensor_file(folder);
    ASSERT_TRUE(file.has_value()) << file.error().message;
    auto vocabulary = load_vocabulary(folder);
    ASSERT_TRUE(vocabulary.has_value()) << vocabulary.error().message;
    Model::LoadOptions options;
    options.name = "tiny.en";
    options.storage = DType::F32;
    options.precision = Precision::Exact;
    auto model = Model::load(std::make_shared<const TensorFile>(std::move(*file)),
                             std::move(*vocabulary), options, *backend_);
    ASSERT_TRUE(model.has_value()) << model.error().message;
    model_ = *model;
  }

  // Greedy text without timestamps.
  std::string text(const std::vector<float>& samples, int64_t frames, bool with_silence) {
    const auto rules = TokenRules::create(model_->tokenizer(), {.timestamps = false}, *backend_);
    EXPECT_TRUE(rules.has_value());
    const AudioWindow window{.samples = samples, .frames = frames};
    Lengths lengths;
    const Tensor mel = model_->log_mel(std::span(&window, 1), lengths);
    const SilenceCache* silence = with_silence ? &model_->silence() : nullptr;
    const Tensor states = model_->encoder().forward(mel, lengths, silence);
    CrossCache cross = model_->decoder().cross_cache(states, model_->encoder().positions(lengths));
    cross.silence = silence;
    const WhisperSpecialTokens& special = model_->tokenizer().special();
    const GenerateRequest request{.utterance = 0, .prompt = {special.sot, special.no_timestamps}};
    const auto result =
        model_->generator(*rules).run(std::span(&request, 1), {}, cross, std::stop_token());
    return model_->tokenizer().decode(result.front().tokens);
  }

  ThreadPool pool_{2};
  std::unique_ptr<Backend> backend_;
  std::shared_ptr<const Model> model_;
};

TEST_F(RealWhisper, WritesDownAClipInAFullWindowAndWithCachedSilence) {
  const std::string clip = test::shared_path("speech/clips/ljspeech_LJ001-0017.flac");
  MYNAH_SKIP_WITHOUT(clip);
  const std::vector<float> samples = read_all(clip);
  const std::string expected =
      " that the forms of printed letters should follow more or less closely those of the written "
      "character, and they followed them very closely.";
  EXPECT_EQ(text(samples, 3000, false), expected);
  // The clip's own 10 ms frames and half a second more, in whole groups of 32.
  const auto frames = (static_cast<int64_t>(samples.size()) / kHop + 50 + 31) / 32 * 32;
  EXPECT_EQ(text(samples, frames, true), expected);
}

}  // namespace
}  // namespace mynah::whisper
