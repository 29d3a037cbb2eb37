// The real voice says what ONNX Runtime makes it say (tools/piper_oracle.py), stage by stage and
// sample by sample, noise apart.
#include <algorithm>
#include <cmath>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "backend/cpu/cpu_backend.h"
#include "base/thread_pool.h"
#include "models/piper/model.h"
#include "models/piper/real_voice.h"
#include "oracle_arrays.h"

namespace mynah::piper {
namespace {

// What the issue asks of samples, and what is asked of the stages before.
constexpr float kClose = 1e-3F;

class PiperSpeech : public testing::Test {
 protected:
  void SetUp() override {
    MYNAH_SKIP_WITHOUT(real_voice());
    MYNAH_SKIP_WITHOUT(test::oracle_path("piper/speech.npz"));
    auto made = make_cpu_backend(pool_);
    ASSERT_TRUE(made.has_value());
    backend_ = *std::move(made);
    auto oracle = test::OracleArrays::open(test::oracle_path("piper/speech.npz"));
    ASSERT_TRUE(oracle.has_value()) << oracle.error().message;
    oracle_ = *std::move(oracle);
    auto voice = read_real_voice();
    ASSERT_TRUE(voice.has_value()) << voice.error().message;
    voice_ = *std::move(voice);
    std::ifstream in(test::source_path("tests/models/piper/sentences.json"));
    sentences_ = nlohmann::json::parse(in);
  }

  [[nodiscard]] Module checkpoint() const {
    return {Weights(voice_.tensors, voice_.owner, *backend_,
                    {.storage = DType::F32, .precision = Precision::Exact}),
            voice_.steps};
  }

  [[nodiscard]] std::vector<int32_t> ids(size_t sentence) const {
    return sentences_[sentence]["ids"].get<std::vector<int32_t>>();
  }

  [[nodiscard]] std::vector<float> values(const std::string& name) const {
    return oracle_.values(name);
  }

  // (time, channels)
  [[nodiscard]] Tensor given(const std::string& name) const {
    return oracle_.tensor(*backend_, name);
  }

  static void expect_close(const std::vector<float>& found, const std::vector<float>& wanted) {
    EXPECT_LT(test::distance(found, wanted), kClose);
  }

  ThreadPool pool_{2};
  std::unique_ptr<Backend> backend_;
  test::OracleArrays oracle_;
  OnnxVoice voice_;
  nlohmann::json sentences_;
};

TEST_F(PiperSpeech, TextEncoder) {
  const auto encoder = TextEncoder::load(checkpoint() / "enc_p");
  ASSERT_TRUE(encoder.has_value()) << encoder.error().message;
  const TextEncoder::Encoded found = (*encoder)(ids(0));
  expect_close(ops::to_host(*backend_, found.x), values("encoded"));
  const Tensor prior = given("prior");
  const int64_t latent = encoder->latent();
  expect_close(ops::to_host(*backend_, found.mean),
               ops::to_host(*backend_, prior.narrow(1, 0, latent)));
  expect_close(ops::to_host(*backend_, found.logarithm),
               ops::to_host(*backend_, prior.narrow(1, latent, latent)));
}

TEST_F(PiperSpeech, DurationsOfTheOraclesText) {
  const Tensor encoded = given("encoded");
  const auto predictor = DurationPredictor::load(checkpoint() / "dp", encoded.dim(1), 0);
  ASSERT_TRUE(predictor.has_value()) << predictor.error().message;
  NormalNoise noise(0);
  expect_close((*predictor)(encoded, Tensor(), noise, 0.0F), values("durations"));
}

TEST_F(PiperSpeech, GeneratorOfTheOraclesLatent) {
  const Tensor latent = given("latent");
  const auto generator =
      Generator::load(checkpoint() / "dec", checkpoint() / "dec", latent.dim(1), 0);
  ASSERT_TRUE(generator.has_value()) << generator.error().message;
  expect_close(ops::to_host(*backend_, (*generator)(latent, Tensor())), values("samples"));
}

TEST_F(PiperSpeech, AllSentences) {
  const auto model =
      Piper::load(voice_, *backend_, {.storage = DType::F32, .precision = Precision::Exact});
  ASSERT_TRUE(model.has_value()) << model.error().message;
  ASSERT_EQ(sentences_.size(), 20U);
  for (size_t i = 0; i < sentences_.size(); ++i) {
    const auto speech = model->speak(ids(i), {.noise_scale = 0.0F, .noise_w = 0.0F});
    ASSERT_TRUE(speech.has_value()) << speech.error().message;
    const std::vector<float> wanted = values("speech" + std::to_string(i));
    const std::string text = sentences_[i]["text"].get<std::string>();
    ASSERT_EQ(speech->samples.size(), wanted.size()) << text;
    EXPECT_LT(test::distance(speech->samples, wanted), kClose) << text;
  }
}

// Fewer bits change what is heard a little, and never how long: the mean distance between
// logarithms of magnitudes, quiet ones apart. Waves themselves may differ by a phase that nobody
// hears.
TEST_F(PiperSpeech, FastTypesKeepTheLengthAndTheSound) {
  constexpr int64_t kFrame = 1000;
  const std::vector<float> ones(kFrame, 1.0F);
  const Tensor window = ops::from_host(*backend_, std::span<const float>(ones), {kFrame});
  const auto logarithms = [&](const std::vector<float>& samples) {
    const int64_t frames = std::ssize(samples) / kFrame;
    const Tensor rows =
        ops::from_host(*backend_, std::span(samples).first(static_cast<size_t>(frames * kFrame)),
                       {frames, kFrame});
    std::vector<float> values =
        ops::to_host(*backend_, ops::magnitude_spectrum(*backend_, rows, window));
    for (float& value : values) {
      value = std::log(std::max(value, 0.05F));
    }
    return values;
  };
  for (const auto& [storage, most] : {std::pair{DType::BF16, 0.03}, {DType::I8, 0.12}}) {
    const auto model =
        Piper::load(voice_, *backend_, {.storage = storage, .precision = Precision::Fast});
    ASSERT_TRUE(model.has_value()) << model.error().message;
    double sum = 0.0;
    size_t count = 0;
    for (const size_t i : {0U, 4U, 7U}) {
      const auto speech = model->speak(ids(i), {.noise_scale = 0.0F, .noise_w = 0.0F});
      ASSERT_TRUE(speech.has_value()) << speech.error().message;
      const std::vector<float> wanted = values("speech" + std::to_string(i));
      ASSERT_EQ(speech->samples.size(), wanted.size());
      EXPECT_NE(speech->samples, wanted);
      const std::vector<float> found_logarithms = logarithms(speech->samples);
      const std::vector<float> wanted_logarithms = logarithms(wanted);
      for (size_t k = 0; k < found_logarithms.size(); ++k) {
        sum += std::abs(static_cast<double>(found_logarithms[k]) -
                        static_cast<double>(wanted_logarithms[k]));
        ++count;
      }
    }
    EXPECT_LT(sum / static_cast<double>(count), most) << name(storage);
  }
}

// The host makes the noise, and no sum is split between threads.
TEST_F(PiperSpeech, IsTheSameOnAnyNumberOfThreads) {
  std::vector<std::vector<float>> spoken;
  for (const int threads : {1, 2, 3}) {
    ThreadPool pool(threads);
    const auto backend = make_cpu_backend(pool);
    ASSERT_TRUE(backend.has_value());
    const auto model = Piper::load(voice_, **backend, {});
    ASSERT_TRUE(model.has_value()) << model.error().message;
    const auto speech = model->speak(ids(0), {});
    ASSERT_TRUE(speech.has_value()) << speech.error().message;
    spoken.push_back(speech->samples);
  }
  EXPECT_EQ(spoken[0], spoken[1]);
  EXPECT_EQ(spoken[0], spoken[2]);
}

}  // namespace
}  // namespace mynah::piper
