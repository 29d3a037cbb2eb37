// A tiny voice on every backend against ONNX Runtime (tools/export_piper_golden.py): two speakers,
// durations without a flow, blocks of pairs, and a graph whose nodes have no names.
#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/mapped_file.h"
#include "golden_backend.h"
#include "models/piper/model.h"
#include "oracle_arrays.h"
#include "tensor/device_error.h"
#include "tensor/fault_watch.h"
#include "tensor/watched_backend.h"

namespace mynah::piper {
namespace {

constexpr WeightOptions kExact{.storage = DType::F32, .precision = Precision::Exact};
constexpr float kSlower = 1.5F;

class PiperGolden : public testing::TestWithParam<DeviceKind> {
 protected:
  void SetUp() override {
    backend_ = test::golden_backend(GetParam(), pool_);
    ASSERT_NE(backend_, nullptr);
    auto golden = test::OracleArrays::open(folder() + "golden.npz");
    ASSERT_TRUE(golden.has_value()) << golden.error().message;
    golden_ = std::move(*golden);
    const auto model_file = MappedFile::open(folder() + "voice.onnx");
    ASSERT_TRUE(model_file.has_value()) << model_file.error().message;
    const auto graph = read_onnx_model(*model_file);
    ASSERT_TRUE(graph.has_value()) << graph.error().message;
    auto voice = read_onnx_voice(*graph);
    ASSERT_TRUE(voice.has_value()) << voice.error().message;
    voice_ = std::move(*voice);
  }

  static std::string folder() { return test::source_path("tests/models/piper/golden/"); }

  [[nodiscard]] Module checkpoint() const {
    return {Weights(voice_.tensors, voice_.owner, *backend_, kExact), voice_.steps};
  }

  template <class T>
  [[nodiscard]] std::vector<T> golden(const std::string& name) const {
    return golden_.values<T>(name);
  }

  // Sums of at most a hundred numbers, a dozen layers deep: some hundred roundings of the largest.
  void expect_close(const std::vector<float>& found, const std::string& name) const {
    const std::vector<float> wanted = golden<float>(name);
    EXPECT_LE(test::distance(found, wanted),
              500.0F * 0x1p-24F * std::max(1.0F, test::largest(wanted)))
        << name;
  }

  ThreadPool pool_{2};
  std::unique_ptr<Backend> backend_;
  test::OracleArrays golden_;
  OnnxVoice voice_;
};

TEST_P(PiperGolden, Text) {
  const auto encoder = TextEncoder::load(checkpoint() / "enc_p");
  ASSERT_TRUE(encoder.has_value()) << encoder.error().message;
  expect_close(ops::to_host(*backend_, (*encoder)(golden<int32_t>("ids")).x), "encoded0");
}

TEST_P(PiperGolden, BothSpeakers) {
  const auto model = Piper::load(voice_, *backend_, kExact);
  ASSERT_TRUE(model.has_value()) << model.error().message;
  EXPECT_EQ(model->speakers(), 2);
  EXPECT_EQ(model->symbols(), 9);
  EXPECT_EQ(model->frame_samples(), 8);
  const std::vector<int32_t> ids = golden<int32_t>("ids");
  for (const int speaker : {0, 1}) {
    const auto speech =
        model->speak(ids, {.speaker = speaker, .length_scale = kSlower, .noise_scale = 0.0F});
    ASSERT_TRUE(speech.has_value()) << speech.error().message;
    std::vector<int32_t> frames;
    for (const float logarithm : golden<float>("durations" + std::to_string(speaker))) {
      frames.push_back(static_cast<int32_t>(std::ceil(std::exp(logarithm) * kSlower)));
    }
    EXPECT_EQ(speech->frames, frames);
    expect_close(speech->samples, "samples" + std::to_string(speaker));
  }
}

// The acoustic stage on one device, the generator on another.
TEST_P(PiperGolden, TheVocoderOnAnotherDevice) {
  const std::vector<int32_t> ids = golden<int32_t>("ids");
  const SpeechSettings settings{.speaker = 1, .length_scale = kSlower, .noise_scale = 0.0F};
  const auto alone = Piper::load(voice_, *backend_, kExact);
  ASSERT_TRUE(alone.has_value()) << alone.error().message;
  const auto wanted = alone->speak(ids, settings);
  ASSERT_TRUE(wanted.has_value()) << wanted.error().message;
  for (const DeviceKind device : {DeviceKind::Ref, DeviceKind::Cpu, DeviceKind::Simt}) {
    SCOPED_TRACE(test::golden_device(device));
    const auto vocoder = test::golden_backend(device, pool_);
    const auto model = Piper::load(voice_, {.backend = backend_.get(), .options = kExact},
                                   {.backend = vocoder.get(), .options = kExact});
    ASSERT_TRUE(model.has_value()) << model.error().message;
    const auto speech = model->speak(ids, settings);
    ASSERT_TRUE(speech.has_value()) << speech.error().message;
    EXPECT_EQ(speech->frames, wanted->frames);
    expect_close(speech->samples, "samples1");
    if (device == GetParam()) {
      EXPECT_EQ(speech->samples, wanted->samples) << "the same kind of device: the same bits";
    }
  }
}

// Two watches of one device share its tensors; a device that makes no numbers is the error.
TEST_P(PiperGolden, WatchedStagesOfOneDevice) {
  const std::vector<int32_t> ids = golden<int32_t>("ids");
  const SpeechSettings settings{.length_scale = kSlower, .noise_scale = 0.0F};
  FaultWatch fault;
  WatchedBackend acoustic(*backend_, &fault);
  WatchedBackend vocoder(*backend_);
  const auto model = Piper::load(voice_, {.backend = &acoustic, .options = kExact},
                                 {.backend = &vocoder, .options = kExact});
  ASSERT_TRUE(model.has_value()) << model.error().message;
  const auto alone = Piper::load(voice_, *backend_, kExact);
  EXPECT_EQ(model->speak(ids, settings)->samples, alone->speak(ids, settings)->samples);
  EXPECT_GT(acoustic.operations(), 0U);
  EXPECT_GT(vocoder.operations(), 0U);
  fault.arm(FaultKind::Nan, 3);
  EXPECT_THROW(static_cast<void>(model->speak(ids, settings)), DeviceError);
}

TEST_P(PiperGolden, SeedsDecideTheNoise) {
  const auto model = Piper::load(voice_, *backend_, kExact);
  ASSERT_TRUE(model.has_value()) << model.error().message;
  const auto samples = [&](uint64_t seed) {
    const auto speech = model->speak(golden<int32_t>("ids"), {.length_scale = 3.0F, .seed = seed});
    EXPECT_TRUE(speech.has_value());
    return speech ? speech->samples : std::vector<float>();
  };
  EXPECT_EQ(samples(1), samples(1));
  EXPECT_NE(samples(1), samples(2));
}

TEST_P(PiperGolden, AnEndlessSentenceIsRefused) {
  const auto model = Piper::load(voice_, *backend_, kExact);
  ASSERT_TRUE(model.has_value()) << model.error().message;
  const std::vector<int32_t> ids = golden<int32_t>("ids");
  for (const float length_scale : {1e6F, std::numeric_limits<float>::infinity()}) {
    const auto speech = model->speak(ids, {.length_scale = length_scale});
    ASSERT_FALSE(speech.has_value());
    EXPECT_THAT(speech.error().message, testing::HasSubstr("at most 16384 frames"));
  }
}

TEST(PiperVoice, SaysWhatIsMissing) {
  const auto file = MappedFile::open(test::source_path("tests/models/piper/golden/voice.onnx"));
  ASSERT_TRUE(file.has_value());
  const auto graph = read_onnx_model(*file);
  ASSERT_TRUE(graph.has_value());
  const auto message = [&](const std::string& missing) {
    auto voice = read_onnx_voice(*graph);
    EXPECT_TRUE(voice.has_value());
    const size_t erased =
        std::erase_if(voice->tensors, [&](const auto& tensor) { return tensor.name == missing; });
    EXPECT_EQ(erased, 1U) << missing;
    RefBackend own;
    const auto model = Piper::load(*voice, own, kExact);
    return model ? "" : model.error().message;
  };
  for (const std::string name :
       {"enc_p.emb.weight", "enc_p.proj.weight", "dp.proj.weight", "flow.flows.4.post.weight",
        "flow.flows.0.enc.res_skip_layers.1.weight", "dec.resblocks.1.convs2.0.weight",
        "dec.conv_post.weight"}) {
    EXPECT_THAT(message(name), testing::HasSubstr(name));
  }
}

std::string case_name(const testing::TestParamInfo<DeviceKind>& info) {
  return test::golden_device(info.param);
}

INSTANTIATE_TEST_SUITE_P(Backends, PiperGolden,
                         testing::Values(DeviceKind::Ref, DeviceKind::Cpu, DeviceKind::Simt),
                         case_name);

}  // namespace
}  // namespace mynah::piper
