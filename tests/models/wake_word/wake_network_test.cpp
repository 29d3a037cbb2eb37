// The networks against TensorFlow Lite's own kernels, to the last code (tools/wake_oracle.py): one
// with random weights, and the real words on every recording.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "models/silero/recordings.h"
#include "models/wake_word/network.h"
#include "oracle_arrays.h"

namespace mynah::wake_word {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

constexpr auto kGolden = "tests/models/wake_word/golden/golden.npz";
constexpr auto kTiny = "tests/models/wake_word/golden/tiny.tflite";

Result<WakeNetwork> load(const std::shared_ptr<const MappedFile>& file) {
  MYNAH_TRY(const TfliteModel model, read_tflite(file));
  return WakeNetwork::load(model);
}

Result<WakeNetwork> load(const std::string& path) {
  MYNAH_TRY(const auto file, MappedFile::open(path));
  return load(file);
}

std::vector<FeatureFrame> frames_of(const std::vector<int32_t>& values) {
  std::vector<FeatureFrame> frames(values.size() / kFeatureChannels);
  for (size_t i = 0; i < values.size(); ++i) {
    frames[i / kFeatureChannels][i % kFeatureChannels] = static_cast<uint16_t>(values[i]);
  }
  return frames;
}

// The probabilities of all whole steps, as codes.
std::vector<int32_t> codes_of(const WakeNetwork& network, std::span<const FeatureFrame> frames) {
  WakeState state = network.initial_state();
  std::vector<int32_t> codes;
  for (size_t size = network.frames_per_step(); frames.size() >= size;
       frames = frames.subspan(size)) {
    codes.push_back(
        static_cast<int32_t>(std::lround(network.step(frames.first(size), state) * 256)));
  }
  return codes;
}

// Where two differ first; "": nowhere.
template <class T>
std::string first_difference(const std::vector<T>& found, const std::vector<T>& wanted) {
  const auto [a, b] = std::ranges::mismatch(found, wanted);
  if (a == found.end() && b == wanted.end()) {
    return "";
  }
  return fmt::format("at {} of {} and {}: found {}, wanted {}", a - found.begin(), found.size(),
                     wanted.size(), a == found.end() ? "the end" : testing::PrintToString(*a),
                     b == wanted.end() ? "the end" : testing::PrintToString(*b));
}

class TinyNetwork : public testing::Test {
 protected:
  void SetUp() override {
    auto arrays = test::OracleArrays::open(test::source_path(kGolden));
    ASSERT_TRUE(arrays) << arrays.error().message;
    arrays_ = std::move(*arrays);
  }

  [[nodiscard]] std::vector<int32_t> values(const std::string& name) const {
    return arrays_.values<int32_t>(name);
  }

 private:
  test::OracleArrays arrays_;
};

TEST_F(TinyNetwork, SaysWhatTheReferenceSays) {
  const auto network = load(test::source_path(kTiny));
  ASSERT_TRUE(network) << network.error().message;
  EXPECT_EQ(network->frames_per_step(), 3U);
  EXPECT_EQ(codes_of(*network, frames_of(values("features"))), values("codes"));
  EXPECT_EQ(codes_of(*network, frames_of(values("random_features"))), values("random_codes"));
}

TEST_F(TinyNetwork, GoesItsOwnWayInACopyOfAState) {
  const auto network = load(test::source_path(kTiny));
  ASSERT_TRUE(network);
  const std::vector<FeatureFrame> frames = frames_of(values("random_features"));
  const std::span<const FeatureFrame> begin = std::span(frames).first(3);
  const std::span<const FeatureFrame> next = std::span(frames).subspan(3, 3);
  WakeState state = network->initial_state();
  static_cast<void>(network->step(begin, state));
  WakeState copy = state;
  const float wanted = network->step(next, state);
  static_cast<void>(network->step(begin, state));
  EXPECT_EQ(network->step(next, copy), wanted);
}

TEST_F(TinyNetwork, IsRefusedWhereItIsCutOrOfAnotherFormat) {
  std::ifstream stream(test::source_path(kTiny), std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(stream), {}};
  ASSERT_GT(bytes.size(), 1000U);
  for (size_t size = 0; size < bytes.size(); size += 97) {
    EXPECT_FALSE(load(MappedFile::from_bytes(std::as_bytes(std::span(bytes).first(size)), "cut")));
  }
  const std::string other = "ONNX is not this format, and long enough";
  const auto refused = load(MappedFile::from_bytes(std::as_bytes(std::span(other)), "other"));
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("wanted the identifier TFL3"));
}

// Whatever is changed in a file, it is refused or computes something, and touches nothing else:
// what the sanitizers look at.
TEST_F(TinyNetwork, IsRefusedOrRunsWhateverBytesAreChanged) {
  std::ifstream stream(test::source_path(kTiny), std::ios::binary);
  const std::string good{std::istreambuf_iterator<char>(stream), {}};
  std::mt19937 random(11);
  int ran = 0;
  constexpr int kRounds = 3000;
  for (int round = 0; round < kRounds; ++round) {
    std::string bytes = good;
    for (uint32_t changes = 1 + random() % 3; changes > 0; --changes) {
      bytes[random() % bytes.size()] = static_cast<char>(random() % 4 == 0 ? 0xFF : random());
    }
    if (const auto network =
            load(MappedFile::from_bytes(std::as_bytes(std::span(bytes)), "changed"))) {
      WakeState state = network->initial_state();
      static_cast<void>(
          network->step(std::vector<FeatureFrame>(network->frames_per_step()), state));
      ++ran;
    }
  }
  EXPECT_GT(ran, kRounds / 10);
  EXPECT_LT(ran, kRounds);
}

class Words : public testing::TestWithParam<const char*> {};

// Recordings of the shared folder, whose features are codes that int8 holds: beyond those the
// reference wraps (network.cpp).
TEST_P(Words, SayWhatTheReferenceSaysOfRecordings) {
  const std::string weights = test::weights_path(std::string("wake/") + GetParam() + ".tflite");
  MYNAH_SKIP_WITHOUT(weights);
  MYNAH_SKIP_WITHOUT(test::oracle_path("wake"));
  const auto network = load(weights);
  ASSERT_TRUE(network) << network.error().message;
  size_t steps = 0;
  for (const auto& entry : fs::directory_iterator(test::oracle_path("wake"))) {
    const auto arrays = test::OracleArrays::open(entry.path().string());
    ASSERT_TRUE(arrays) << entry.path() << ": " << arrays.error().message;
    const std::vector<int32_t> features = arrays->values<int32_t>("features");
    constexpr int32_t kMostHeld = 665;
    EXPECT_LE(*std::ranges::max_element(features), kMostHeld) << entry.path();
    const std::vector<int32_t> found = codes_of(*network, frames_of(features));
    EXPECT_EQ(first_difference(found, arrays->values<int32_t>(std::string("codes_") + GetParam())),
              "")
        << entry.path();
    steps += found.size();
  }
  EXPECT_GT(steps, 1000U);
}

INSTANTIATE_TEST_SUITE_P(Real, Words,
                         testing::Values("okay_nabu", "hey_jarvis", "alexa", "hey_mycroft"),
                         [](const auto& one) { return std::string(one.param); });

// The features of every recording of the shared folder.
TEST(MicroFeaturesOfRecordings, AreThoseOfTheReference) {
  MYNAH_SKIP_WITHOUT(test::oracle_path("wake"));
  MYNAH_SKIP_WITHOUT(test::shared_path("speech/clips"));
  size_t recordings = 0;
  for (const char* folder : {"speech/clips", "speech/noise"}) {
    for (const auto& entry : fs::directory_iterator(test::shared_path(folder))) {
      if (entry.path().extension() != ".flac") {
        continue;
      }
      const fs::path name = fs::path("wake") / (entry.path().stem().string() + ".npz");
      const auto arrays = test::OracleArrays::open(test::oracle_path(name.string()));
      ASSERT_TRUE(arrays) << arrays.error().message;
      std::vector<int16_t> samples;
      for (const float sample : test::read_recording(entry.path().string(), kFeatureRate_hz)) {
        samples.push_back(static_cast<int16_t>(std::lround(sample * 32768.0F)));
      }
      EXPECT_EQ(first_difference(MicroFeatures().push(samples),
                                 frames_of(arrays->values<int32_t>("features"))),
                "")
          << entry.path();
      ++recordings;
    }
  }
  EXPECT_GT(recordings, 50U);
}

}  // namespace
}  // namespace mynah::wake_word
