// Smart Turn v3.2 against ONNX Runtime on every recording of the shared folder
// (tools/turn_oracle.py clips): of the same weights without the rounding of activations to within
// the sums of f32, and of the file as it is to within what that rounding does to each score.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "audio/open.h"
#include "backend/cpu/cpu_backend.h"
#include "models/turn/model.h"
#include "oracle_arrays.h"

namespace mynah::turn {
namespace {

double logit(double p) {
  constexpr double kLeast = 1e-9;
  const double inside = std::clamp(p, kLeast, 1 - kLeast);
  return std::log(inside / (1 - inside));
}

struct Case {
  std::string name;
  int32_t length = 0;  // samples from the recording's begin
  float runtime = 0;   // what ONNX Runtime says of the file as it is
  float exact = 0;     // and without the rounding of activations
};

std::vector<Case> read_cases() {
  auto golden = test::OracleArrays::open(test::source_path("tests/models/turn/golden/clips.npz"));
  EXPECT_TRUE(golden.has_value());
  const std::vector<char> names = golden->values<char>("names");
  const std::vector<int32_t> lengths = golden->values<int32_t>("lengths");
  const std::vector<float> runtime = golden->values("runtime");
  const std::vector<float> exact = golden->values("exact");
  std::istringstream lines(std::string(names.begin(), names.end()));
  std::vector<Case> cases;
  for (std::string line; std::getline(lines, line);) {
    const size_t i = cases.size();
    cases.push_back({line, lengths[i], runtime[i], exact[i]});
  }
  return cases;
}

std::vector<float> read_sound(const std::string& path) {
  auto source = open_audio(path, {});
  EXPECT_TRUE(source.has_value()) << source.error().message;
  std::vector<float> sound;
  std::vector<float> piece(1U << 16U);
  while (source.has_value()) {
    const auto count = (*source)->read(piece);
    EXPECT_TRUE(count.has_value());
    if (!count.has_value() || *count == 0) {
      break;
    }
    sound.insert(sound.end(), piece.begin(), piece.begin() + static_cast<int64_t>(*count));
  }
  return sound;
}

struct Kept {
  const char* name;
  Precision precision;
  size_t every;  // of the recordings, one in so many
};

class RealTurn : public testing::TestWithParam<Kept> {};

// f32 sums some ten thousand numbers on the way to a score, none larger than 340 (the widest step
// of the file), each of which can add half a unit in its last place. Fast rounds what goes into
// products to 255 steps a row, where the file has 256 for all rows: it is held to half of what the
// file's own rounding does, in the mean over all recordings.
TEST_P(RealTurn, ScoresRecordingsAsOnnxRuntimeDoes) {
  const std::string path = test::weights_path("smart_turn/smart-turn-v3.2-cpu.onnx");
  const std::string clips = test::shared_path("speech/clips");
  MYNAH_SKIP_WITHOUT(path);
  MYNAH_SKIP_WITHOUT(clips);
  const bool exact = GetParam().precision == Precision::Exact;
  ThreadPool pool(2);
  const auto backend = make_cpu_backend(pool);
  ASSERT_TRUE(backend.has_value()) << backend.error().message;
  WeightOptions options{.storage = {}, .precision = GetParam().precision, .cache = nullptr};
  if (exact) {
    options.storage = DType::F32;
  }
  const auto model = Model::open(path, {.backend = backend->get(), .options = options});
  ASSERT_TRUE(model.has_value()) << model.error().message;
  EXPECT_EQ((*model)->window(), 128000);
  EXPECT_EQ((*model)->sizes().heads, 6);
  const std::vector<Case> cases = read_cases();
  ASSERT_GE(cases.size(), 254U);
  constexpr double kSums = 1e4 * 340 * 0x1p-24 / 4;
  double own = 0;
  double files = 0;
  for (size_t i = 0; i < cases.size(); i += 2 * GetParam().every) {
    const std::vector<float> sound = read_sound(clips + "/" + cases[i].name);
    for (const Case& one : {cases[i], cases[i + 1]}) {
      ASSERT_EQ(one.name, cases[i].name);
      ASSERT_LE(static_cast<size_t>(one.length), sound.size()) << one.name;
      const std::span<const float> turn(sound.data(), static_cast<size_t>(one.length));
      const double found = logit((*model)->score(std::span(&turn, 1)).front());
      const double rounding = std::abs(logit(one.exact) - logit(one.runtime));
      if (exact) {
        EXPECT_NEAR(found, logit(one.exact), kSums) << one.name << " of " << one.length;
        EXPECT_NEAR(found, logit(one.runtime), rounding + kSums) << one.name;
      }
      own += std::abs(found - logit(one.exact));
      files += rounding;
    }
  }
  EXPECT_LE(own, files / 2);
  RecordProperty("logits_off", std::to_string(own));
  RecordProperty("logits_off_in_the_file", std::to_string(files));
}

INSTANTIATE_TEST_SUITE_P(, RealTurn,
                         testing::Values(Kept{"exact_some", Precision::Exact, 16},
                                         Kept{"fast_some", Precision::Fast, 16},
                                         Kept{"exact_all", Precision::Exact, 1},
                                         Kept{"fast_all", Precision::Fast, 1}),
                         [](const auto& given) { return given.param.name; });

}  // namespace
}  // namespace mynah::turn
