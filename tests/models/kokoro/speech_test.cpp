// Kokoro from phonemes to sound on the real weights, beside how far ONNX Runtime is from itself
// (tools/kokoro_oracle.py speech). Phases of silent harmonics are made of roundings and the
// generator hears them, so that two computations as right as each other differ by a tenth: bounds
// are the oracle's own distances, taken from the same file.
#include <algorithm>
#include <cmath>
#include <memory>
#include <numbers>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "backend/cpu/cpu_backend.h"
#include "base/thread_pool.h"
#include "models/kokoro/model.h"
#include "models/kokoro/real_file.h"
#include "oracle_arrays.h"

namespace mynah::kokoro {
namespace {

// The exported graph divides by the windows' squares in its first frame only, whose size it was
// traced with: everywhere else it is louder than PyTorch's inverse transform by their sum.
constexpr float kExportIsLouder = 1.5F;
constexpr size_t kFirstFrame = kFft;

// Logarithms of mel bands (O'Shaughnessy's scale) of overlapping frames: what is heard of a sound
// but for its phases.
class LogMel {
 public:
  explicit LogMel(Backend& backend) : backend_(backend) {
    const auto mel = [](double hertz) { return 2595 * std::log10(1 + hertz / 700); };
    const auto hertz = [](double mels) { return 700 * (std::pow(10, mels / 2595) - 1); };
    std::vector<double> edges;
    for (size_t i = 0; i < kBands + 2; ++i) {
      edges.push_back(hertz(mel(kRate / 2.0) * static_cast<double>(i) / (kBands + 1)));
    }
    for (size_t band = 0; band < kBands; ++band) {
      for (int64_t bin = 0; bin < kBins; ++bin) {
        const double at = static_cast<double>(bin * kRate) / kPoints;
        const double rise = (at - edges[band]) / (edges[band + 1] - edges[band]);
        const double fall = (edges[band + 2] - at) / (edges[band + 2] - edges[band + 1]);
        filters_.push_back(static_cast<float>(std::max(0.0, std::min(rise, fall))));
      }
    }
    for (int64_t i = 0; i < kPoints; ++i) {
      window_.push_back(static_cast<float>(
          0.5 - 0.5 * std::cos(2 * std::numbers::pi * static_cast<double>(i) / kPoints)));
    }
  }

  [[nodiscard]] std::vector<float> operator()(const std::vector<float>& samples) const {
    std::vector<float> rows;
    int64_t frames = 0;
    for (size_t at = 0; at + kPoints <= samples.size(); at += kHop, ++frames) {
      const auto begin = samples.begin() + static_cast<std::ptrdiff_t>(at);
      rows.insert(rows.end(), begin, begin + kPoints);
    }
    const Tensor x = ops::from_host(backend_, std::span<const float>(rows), {frames, kPoints});
    const Tensor window = ops::from_host(backend_, std::span<const float>(window_), {kPoints});
    const std::vector<float> spectrum =
        ops::to_host(backend_, ops::magnitude_spectrum(backend_, x, window));
    std::vector<float> bands;
    for (size_t row = 0; row < spectrum.size(); row += kBins) {
      for (size_t band = 0; band < kBands; ++band) {
        float sum = 0.0F;
        for (size_t bin = 0; bin < kBins; ++bin) {
          sum += spectrum[row + bin] * filters_[band * kBins + bin];
        }
        bands.push_back(std::log(std::max(sum, 1e-4F)));
      }
    }
    return bands;
  }

 private:
  static constexpr int64_t kPoints = 1024;
  static constexpr size_t kHop = 256;
  static constexpr int64_t kBins = kPoints / 2 + 1;
  static constexpr size_t kBands = 80;

  Backend& backend_;
  std::vector<float> filters_;
  std::vector<float> window_;
};

struct Distance {
  double mel = 0.0;      // mean of absolute differences of logarithms
  double samples = 0.0;  // RMS of differences, of the RMS
};

class KokoroSpeech : public testing::Test {
 protected:
  void SetUp() override {
    MYNAH_SKIP_WITHOUT(real_file());
    MYNAH_SKIP_WITHOUT(test::oracle_path("kokoro/speech.npz"));
    auto made = make_cpu_backend(pool_);
    ASSERT_TRUE(made.has_value());
    backend_ = *std::move(made);
    mel_ = std::make_unique<LogMel>(*backend_);
    auto oracle = test::OracleArrays::open(test::oracle_path("kokoro/speech.npz"));
    ASSERT_TRUE(oracle.has_value()) << oracle.error().message;
    oracle_ = *std::move(oracle);
    while (oracle_.has("ids" + std::to_string(sentences_))) {
      ++sentences_;
    }
    ASSERT_GE(sentences_, 5);
  }

  [[nodiscard]] std::string of(const std::string& name, int sentence) const {
    return name + std::to_string(sentence);
  }

  [[nodiscard]] Distance between(std::vector<float> found, std::vector<float> wanted) const {
    EXPECT_EQ(found.size(), wanted.size());
    for (auto* const samples : {&found, &wanted}) {
      samples->erase(samples->end() - kFirstFrame, samples->end());
      samples->erase(samples->begin(), samples->begin() + kFirstFrame);
    }
    double differences = 0.0;
    double squares = 0.0;
    for (size_t i = 0; i < wanted.size(); ++i) {
      differences += std::pow(static_cast<double>(found[i]) - static_cast<double>(wanted[i]), 2.0);
      squares += std::pow(static_cast<double>(wanted[i]), 2.0);
    }
    const std::vector<float> found_mel = (*mel_)(found);
    const std::vector<float> wanted_mel = (*mel_)(wanted);
    double mel = 0.0;
    for (size_t i = 0; i < wanted_mel.size(); ++i) {
      mel += std::abs(static_cast<double>(found_mel[i]) - static_cast<double>(wanted_mel[i]));
    }
    return {.mel = mel / static_cast<double>(wanted_mel.size()),
            .samples = std::sqrt(differences / squares)};
  }

  // The mean over the sentences.
  template <class Speak>
  [[nodiscard]] Distance mean(const Speak& speak) const {
    Distance sum;
    for (int i = 0; i < sentences_; ++i) {
      const Distance own = between(speak(i), oracle_.values(of("samples", i)));
      sum.mel += own.mel / sentences_;
      sum.samples += own.samples / sentences_;
    }
    return sum;
  }

  [[nodiscard]] Distance of_oracle(const std::string& name) const {
    return mean([&](int i) { return oracle_.values(of(name, i)); });
  }

  // Of the model with weights kept so; its durations are the oracle's.
  [[nodiscard]] Distance of_mynah(DType storage) const {
    auto stored = read_real_file();
    EXPECT_TRUE(stored.has_value());
    const Precision precision = storage == DType::F32 ? Precision::Exact : Precision::Fast;
    const auto model = Kokoro::load(Weights(std::move(stored->tensors), stored->owner, *backend_,
                                            {.storage = storage, .precision = precision}));
    EXPECT_TRUE(model.has_value());
    return mean([&](int i) {
      Speech speech =
          model->speak(oracle_.values<int32_t>(of("ids", i)), oracle_.values(of("style", i)), 1.0F);
      EXPECT_EQ(speech.frames, oracle_.values<int32_t>(of("frames", i))) << i;
      for (float& sample : speech.samples) {
        sample *= kExportIsLouder;
      }
      return speech.samples;
    });
  }

  ThreadPool pool_{2};
  std::unique_ptr<Backend> backend_;
  std::unique_ptr<LogMel> mel_;
  test::OracleArrays oracle_;
  int sentences_ = 0;
};

// ONNX Runtime with NumPy's Fourier transform for its own. Without its optimisers it differs less,
// by roundings of what is voiced alone: its transform is the same then.
TEST_F(KokoroSpeech, IsNoFurtherFromTheOracleThanTheOracleFromItself) {
  const Distance found = of_mynah(DType::F32);
  const Distance own = of_oracle("transformed");
  const Distance unoptimised = of_oracle("unoptimised");
  RecordProperty("mel", std::to_string(found.mel));
  RecordProperty("oracles_own_mel", std::to_string(own.mel));
  EXPECT_LE(found.mel, own.mel);
  EXPECT_LE(found.samples, own.samples);
  EXPECT_LT(unoptimised.mel, own.mel);
  EXPECT_LT(unoptimised.samples, own.samples);
}

TEST_F(KokoroSpeech, FastTypesAreNoFurtherThanOnnxRuntimesInt8) {
  const Distance peer = of_oracle("int8");
  for (const DType storage : {DType::I8, DType::BF16}) {
    const Distance found = of_mynah(storage);
    RecordProperty("mel_" + std::string(name(storage)), std::to_string(found.mel));
    EXPECT_LE(found.mel, peer.mel) << name(storage);
    EXPECT_LE(found.samples, peer.samples) << name(storage);
  }
}

}  // namespace
}  // namespace mynah::kokoro
