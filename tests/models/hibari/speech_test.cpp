// The wheel's voice says what ONNX Runtime and its own dsp.py make it say
// (tools/hibari_oracle.py), noise apart.
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backend/cpu/cpu_backend.h"
#include "backend/cuda/cuda_backend.h"
#include "base/mapped_file.h"
#include "base/thread_pool.h"
#include "golden_backend.h"
#include "models/hibari/model.h"
#include "oracle_arrays.h"
#include "tensor/device_error.h"
#include "tensor/fault_watch.h"
#include "tensor/watched_backend.h"

namespace mynah::hibari {
namespace {

constexpr WeightOptions kExact{.storage = DType::F32, .precision = Precision::Exact};

class HibariSpeech : public testing::Test {
 protected:
  void SetUp() override {
    const std::string path = test::weights_path("hibari/hibari.onnx");
    MYNAH_SKIP_WITHOUT(path);
    MYNAH_SKIP_WITHOUT(test::oracle_path("hibari/speech.npz"));
    auto made = make_cpu_backend(pool_);
    ASSERT_TRUE(made.has_value());
    backend_ = *std::move(made);
    auto oracle = test::OracleArrays::open(test::oracle_path("hibari/speech.npz"));
    ASSERT_TRUE(oracle.has_value()) << oracle.error().message;
    oracle_ = *std::move(oracle);
    const auto file = MappedFile::open(path);
    ASSERT_TRUE(file.has_value());
    const auto graph = read_onnx_model(*file);
    ASSERT_TRUE(graph.has_value()) << graph.error().message;
    auto weights = read_onnx_weights(*graph);
    ASSERT_TRUE(weights.has_value()) << weights.error().message;
    weights_ = *std::move(weights);
  }

  template <class T>
  [[nodiscard]] std::vector<T> values(const std::string& name) const {
    return oracle_.values<T>(name);
  }

  ThreadPool pool_{2};
  std::unique_ptr<Backend> backend_;
  test::OracleArrays oracle_;
  OnnxWeights weights_;
};

TEST_F(HibariSpeech, DrawsWhatTheOracleDraws) {
  const auto model = Hibari::load(weights_, *backend_, kExact);
  ASSERT_TRUE(model.has_value()) << model.error().message;
  EXPECT_EQ(model->symbols(), 178);
  const auto drawing = model->draw(values<int32_t>("ids0"), 1.0F);
  ASSERT_TRUE(drawing.has_value()) << drawing.error().message;
  EXPECT_LT(test::distance(drawing->pitch, values<float>("pitch")), 1e-2F);  // Hz
  EXPECT_LT(test::distance(drawing->spectra, values<float>("spectra")), 1e-3F);
}

// The oracle's spectra: what is compared is dsp.py.
TEST_F(HibariSpeech, SoundsAsTheOracleDoes) {
  NormalNoise noise(0);
  const std::vector<float> samples =
      synthesise(*backend_, values<float>("spectra"), values<float>("pitch"), noise, 0.0F);
  EXPECT_LT(test::distance(samples, values<float>("speech0")), 1e-3F);
}

// The pitch is summed up to phases, so that its last bits are heard at the end of a sentence: a
// thousandth of a hertz turns the fortieth harmonic by a quarter of a radian in a second.
TEST_F(HibariSpeech, AllSentences) {
  constexpr float kClose = 1e-2F;
  const auto model = Hibari::load(weights_, *backend_, kExact);
  ASSERT_TRUE(model.has_value()) << model.error().message;
  for (int i = 0; i < 10; ++i) {
    const auto speech =
        model->speak(values<int32_t>("ids" + std::to_string(i)), {.noise_scale = 0.0F});
    ASSERT_TRUE(speech.has_value()) << speech.error().message;
    const std::vector<float> wanted = values<float>("speech" + std::to_string(i));
    ASSERT_EQ(speech->samples.size(), wanted.size()) << i;
    EXPECT_LT(test::distance(speech->samples, wanted), kClose) << i;
    int64_t units = 0;
    for (const int32_t unit : speech->units) {
      units += unit;
    }
    EXPECT_EQ(units * kPhonemeSamples, std::ssize(wanted)) << i;
  }
}

TEST_F(HibariSpeech, IsTheSameOnAnyNumberOfThreads) {
  std::vector<std::vector<float>> spoken;
  for (const int threads : {1, 3}) {
    ThreadPool pool(threads);
    const auto backend = make_cpu_backend(pool);
    ASSERT_TRUE(backend.has_value());
    const auto model =
        Hibari::load(weights_, **backend, {.storage = DType::I8, .precision = Precision::Fast});
    ASSERT_TRUE(model.has_value()) << model.error().message;
    const auto speech = model->speak(values<int32_t>("ids0"), {.seed = 3});
    ASSERT_TRUE(speech.has_value()) << speech.error().message;
    spoken.push_back(speech->samples);
  }
  EXPECT_EQ(spoken[0], spoken[1]);
}

// The card's kernels, simulated here, on the shortest sentence.
TEST_F(HibariSpeech, SpeaksOnASimulatedCard) {
  const auto simulated = make_simt_backend(pool_, {.check_shared = false});
  const auto model = Hibari::load(weights_, *simulated, kExact);
  ASSERT_TRUE(model.has_value()) << model.error().message;
  const auto drawing = model->draw(std::vector<int32_t>{50, 69}, 4.0F);
  ASSERT_TRUE(drawing.has_value()) << drawing.error().message;
  const auto own = Hibari::load(weights_, *backend_, kExact);
  const auto wanted = own->draw(std::vector<int32_t>{50, 69}, 4.0F);
  EXPECT_EQ(drawing->units, wanted->units);
  EXPECT_LT(test::distance(drawing->spectra, wanted->spectra), 1e-3F);
}

// The acoustic stage on one device, sound's part on another, on the shortest sentence.
TEST_F(HibariSpeech, TheVocoderOnAnotherDevice) {
  const auto ref = test::golden_backend(DeviceKind::Ref, pool_);
  const auto simulated = test::golden_backend(DeviceKind::Simt, pool_);
  const std::vector<int32_t> ids{50, 69};
  const auto own = Hibari::load(weights_, *backend_, kExact);
  ASSERT_TRUE(own.has_value()) << own.error().message;
  const auto wanted = own->draw(ids, 4.0F);
  ASSERT_TRUE(wanted.has_value()) << wanted.error().message;
  const std::vector<std::pair<Backend*, Backend*>> pairs = {{backend_.get(), ref.get()},
                                                            {backend_.get(), simulated.get()},
                                                            {simulated.get(), backend_.get()}};
  for (const auto& [acoustic, vocoder] : pairs) {
    SCOPED_TRACE(acoustic->device().str() + "," + vocoder->device().str());
    const auto model = Hibari::load(weights_, {.backend = acoustic, .options = kExact},
                                    {.backend = vocoder, .options = kExact});
    ASSERT_TRUE(model.has_value()) << model.error().message;
    const auto drawing = model->draw(ids, 4.0F);
    ASSERT_TRUE(drawing.has_value()) << drawing.error().message;
    EXPECT_EQ(drawing->units, wanted->units);
    EXPECT_LT(test::distance(drawing->spectra, wanted->spectra), 1e-3F);
  }
}

// Two watches of one device are that device; one that makes no numbers is the error.
TEST_F(HibariSpeech, WatchedStagesOfOneDevice) {
  const std::vector<int32_t> ids{50, 69};
  FaultWatch fault;
  WatchedBackend acoustic(*backend_, &fault);
  WatchedBackend vocoder(*backend_);
  const auto model = Hibari::load(weights_, {.backend = &acoustic, .options = kExact},
                                  {.backend = &vocoder, .options = kExact});
  ASSERT_TRUE(model.has_value()) << model.error().message;
  const auto own = Hibari::load(weights_, *backend_, kExact);
  EXPECT_EQ(model->draw(ids, 4.0F)->spectra, own->draw(ids, 4.0F)->spectra);
  EXPECT_GT(acoustic.operations(), 0U);
  EXPECT_GT(vocoder.operations(), 0U);
  fault.arm(FaultKind::Nan, 3);
  EXPECT_THROW(static_cast<void>(model->draw(ids, 4.0F)), DeviceError);
}

TEST_F(HibariSpeech, AnEndlessSentenceIsRefused) {
  const auto model = Hibari::load(weights_, *backend_, kExact);
  ASSERT_TRUE(model.has_value()) << model.error().message;
  const auto speech = model->speak(values<int32_t>("ids0"), {.speed = 1e-4F});
  ASSERT_FALSE(speech.has_value());
  EXPECT_THAT(speech.error().message, testing::HasSubstr("at most 4096 units"));
}

TEST_F(HibariSpeech, SaysWhatIsMissing) {
  for (const std::string missing :
       {"m.dec.3.pw2.weight", "m.text.emb.weight", "pn.dur.2.weight", "pn.pro.0.norm.weight"}) {
    OnnxWeights without = weights_;
    std::erase_if(without.tensors, [&](const auto& tensor) { return tensor.name == missing; });
    const auto model = Hibari::load(without, *backend_, kExact);
    ASSERT_FALSE(model.has_value()) << missing;
    EXPECT_THAT(model.error().message, testing::HasSubstr(missing));
  }
}

}  // namespace
}  // namespace mynah::hibari
