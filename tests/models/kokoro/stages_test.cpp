// Each stage of Kokoro on the real weights, fed what ONNX Runtime feeds it
// (tools/kokoro_oracle.py stages), and all of them together.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "backend/cpu/cpu_backend.h"
#include "base/mapped_file.h"
#include "base/thread_pool.h"
#include "formats/npz.h"
#include "models/kokoro/model.h"
#include "models/kokoro/real_file.h"
#include "test_paths.h"

namespace mynah::kokoro {
namespace {

// What the issue asks of each stage.
constexpr float kClose = 1e-3F;

// The exported graph divides by the windows' squares in its first frame only, whose size it was
// traced with: everywhere else it is louder than PyTorch's inverse transform by their sum.
constexpr float kExportIsLouder = 1.5F;
constexpr size_t kFirstFrame = kFft;

class KokoroStages : public testing::Test {
 protected:
  void SetUp() override {
    MYNAH_SKIP_WITHOUT(real_file());
    const std::string oracle_path =
        (std::filesystem::path(test::folder_from("MYNAH_ORACLES", ".cache/oracles")) / "kokoro" /
         "stages.npz")
            .string();
    MYNAH_SKIP_WITHOUT(oracle_path);
    auto made = make_cpu_backend(pool_);
    ASSERT_TRUE(made.has_value());
    backend_ = *std::move(made);
    const auto npz = MappedFile::open(oracle_path);
    ASSERT_TRUE(npz.has_value());
    auto oracle = read_npz(*npz);
    ASSERT_TRUE(oracle.has_value()) << oracle.error().message;
    oracle_ = *std::move(oracle);
    auto stored = read_real_file();
    ASSERT_TRUE(stored.has_value()) << stored.error().message;
    weights_ = std::make_unique<Weights>(
        std::move(stored->tensors), stored->owner, *backend_,
        WeightOptions{.storage = DType::F32, .precision = Precision::Exact});
  }

  template <class T>
  std::vector<T> values(const std::string& name) {
    const StoredTensor* const found = oracle_.find(name);
    EXPECT_NE(found, nullptr) << name;
    std::vector<T> result(found->bytes.size() / sizeof(T));
    std::memcpy(result.data(), found->bytes.data(), found->bytes.size());
    return result;
  }

  // (time, channels)
  Tensor given(const std::string& name) {
    return ops::from_host(*backend_, std::span<const float>(values<float>(name)),
                          oracle_.find(name)->shape);
  }

  Tensor style(bool acoustic) {
    const std::vector<float> both = values<float>("style");
    const auto half = std::span<const float>(both);
    return ops::from_host(*backend_, acoustic ? half.first(kStyle) : half.last(kStyle),
                          {1, kStyle});
  }

  std::vector<int32_t> phonemes() {
    std::vector<int32_t> ids = values<int32_t>("ids");
    ids.insert(ids.begin(), 0);
    ids.push_back(0);
    return ids;
  }

  // The largest difference, of the largest value.
  static void expect_close(std::span<const float> found, std::span<const float> wanted) {
    ASSERT_EQ(found.size(), wanted.size());
    float most = 0.0F;
    float largest = 0.0F;
    for (size_t i = 0; i < found.size(); ++i) {
      ASSERT_TRUE(std::isfinite(found[i])) << i;
      most = std::max(most, std::abs(found[i] - wanted[i]));
      largest = std::max(largest, std::abs(wanted[i]));
    }
    EXPECT_LT(most, kClose * largest);
  }

  static std::vector<float> tail(const std::vector<float>& samples) {
    return {samples.begin() + kFirstFrame, samples.end() - kFirstFrame};
  }

  ThreadPool pool_{2};
  std::unique_ptr<Backend> backend_;
  TensorFile oracle_;
  std::unique_ptr<Weights> weights_;
};

TEST_F(KokoroStages, TextEncoder) {
  const auto encoder = TextEncoder::load(*weights_ / "text_encoder");
  ASSERT_TRUE(encoder.has_value()) << encoder.error().message;
  expect_close(ops::to_host(*backend_, (*encoder)(phonemes())), values<float>("text"));
}

TEST_F(KokoroStages, MelodyOfTheDurationsStates) {
  const auto albert = Albert::load(*weights_ / "bert", kVocabulary);
  const auto narrow =
      Linear::load(*weights_ / "bert_encoder", {.in = Albert::kWidth, .out = kHidden});
  const auto durations = DurationPredictor::load(*weights_ / "predictor");
  const auto melody = MelodyPredictor::load(*weights_ / "predictor");
  ASSERT_TRUE(albert && narrow && durations && melody);
  const std::vector<int32_t> ids = phonemes();
  const Prosody prosody =
      (*durations)((*narrow)((*albert)(ids, {std::ssize(ids)})), style(false), 1.0F);
  const std::vector<int32_t> rows = phonemes_of(prosody.frames);
  const Melody found =
      (*melody)(ops::gather_rows(
                    *backend_, prosody.x,
                    ops::from_host(*backend_, std::span<const int32_t>(rows), {std::ssize(rows)})),
                style(false));
  expect_close(ops::to_host(*backend_, found.pitch), values<float>("pitch"));
  expect_close(ops::to_host(*backend_, found.energy), values<float>("energy"));
}

TEST_F(KokoroStages, Harmonics) {
  const auto generator = Generator::load(*weights_ / "decoder.generator");
  ASSERT_TRUE(generator.has_value()) << generator.error().message;
  const std::vector<float> found = ops::to_host(*backend_, generator->harmonics(given("pitch")));
  const std::vector<float> wanted = values<float>("harmonics");
  ASSERT_EQ(found.size(), wanted.size());
  // Phases of silent bins are anything: magnitude times direction.
  const auto turned = [](const std::vector<float>& rows) {
    std::vector<float> parts;
    for (size_t row = 0; row < rows.size(); row += 2 * kBins) {
      for (size_t bin = 0; bin < kBins; ++bin) {
        const float magnitude = rows[row + bin];
        const float phase = rows[row + kBins + bin];
        parts.push_back(magnitude * std::cos(phase));
        parts.push_back(magnitude * std::sin(phase));
      }
    }
    return parts;
  };
  expect_close(turned(found), turned(wanted));
}

TEST_F(KokoroStages, GeneratorOfTheOraclesHarmonics) {
  const auto generator = Generator::load(*weights_ / "decoder.generator");
  ASSERT_TRUE(generator.has_value()) << generator.error().message;
  const Tensor spectrum = generator->spectrum(given("decoded"), given("harmonics"), style(true));
  expect_close(ops::to_host(*backend_, ops::exp(*backend_, spectrum.narrow(1, 0, kBins))),
               values<float>("magnitudes"));
  std::vector<float> samples = ops::to_host(*backend_, generator->samples(spectrum));
  for (float& sample : samples) {
    sample *= kExportIsLouder;
  }
  const std::vector<float> wanted = values<float>("samples");
  ASSERT_EQ(samples.size(), wanted.size());
  expect_close(tail(samples), tail(wanted));
}

// ONNX Runtime differs from itself by a few percent, without its optimisers: the phases of silent
// harmonics are made of roundings, and the generator hears them. So it is the text's way that is
// held to it here, and the sound's loudness.
TEST_F(KokoroStages, AllTogetherSpeak) {
  const auto model = Kokoro::load(*weights_);
  ASSERT_TRUE(model.has_value()) << model.error().message;
  const std::vector<float> both = values<float>("style");
  const Speech speech = model->speak(values<int32_t>("ids"), both, 1.0F);
  const std::vector<float> wanted = values<float>("samples");
  ASSERT_EQ(speech.samples.size(), wanted.size());
  const auto energy = [](const std::vector<float>& samples, float scale) {
    double sum = 0.0;
    for (const float sample : samples) {
      sum += static_cast<double>(sample * scale) * static_cast<double>(sample * scale);
    }
    return sum;
  };
  const double loudness =
      energy(tail(speech.samples), kExportIsLouder) / energy(tail(wanted), 1.0F);
  EXPECT_GT(loudness, 0.9);
  EXPECT_LT(loudness, 1.1);
}

}  // namespace
}  // namespace mynah::kokoro
