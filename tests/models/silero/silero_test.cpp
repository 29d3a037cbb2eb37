// Silero's probabilities against ONNX Runtime's: golden/probabilities.txt for a few clips, and
// tools/silero_oracle.py's output for all where it is there.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backend/cpu/cpu_backend.h"
#include "backend/cuda/cuda_backend.h"
#include "backend/ref/ref_backend.h"
#include "base/thread_pool.h"
#include "models/silero/recordings.h"
#include "speech/voice_detector.h"
#include "test_paths.h"

namespace mynah {
namespace {

// The bound on the difference from ONNX Runtime in f32.
constexpr float kBound = 1e-4F;

// A model file, and the name that tools/silero_oracle.py has for its values.
struct Source {
  std::string name;
  std::string file;  // below the weights' folder
  int rate_hz = 0;
};

const Source kSources[] = {
    {"onnx", "silero/silero_vad.onnx", 16000},
    {"onnx", "silero/silero_vad.onnx", 8000},
    {"safetensors", "silero/silero_vad_16k.safetensors", 16000},
    {"ggml", "pysilero/ggml-silero-v6.2.0.bin", 16000},
};

std::string print(const Source& source) {
  return source.name + "_at_" + std::to_string(source.rate_hz) + "_Hz";
}

struct GoldenClip {
  std::string source;
  int rate_hz = 0;
  std::string name;
  std::vector<float> probabilities;
};

std::vector<GoldenClip> golden_clips(const Source& source) {
  std::ifstream file(test::source_path("tests/models/silero/golden/probabilities.txt"));
  std::string comment;
  std::getline(file, comment);
  std::vector<GoldenClip> clips;
  GoldenClip clip;
  size_t frames = 0;
  while (file >> clip.source >> clip.rate_hz >> clip.name >> frames) {
    clip.probabilities.resize(frames);
    for (float& probability : clip.probabilities) {
      file >> probability;
    }
    if (clip.source == source.name && clip.rate_hz == source.rate_hz) {
      clips.push_back(clip);
    }
  }
  return clips;
}

std::shared_ptr<const VoiceDetector> load(const Source& source, Backend& backend) {
  auto detector = load_silero(test::weights_path(source.file), source.rate_hz, backend);
  EXPECT_TRUE(detector) << detector.error().message;
  return detector ? *detector : nullptr;
}

// Both lists, frame by frame.
void expect_close(const std::vector<float>& found, const std::vector<float>& expected, float bound,
                  const std::string& what) {
  ASSERT_EQ(found.size(), expected.size()) << what;
  size_t worst = 0;
  size_t outside = 0;
  for (size_t i = 0; i < found.size(); ++i) {
    const float difference = std::abs(found[i] - expected[i]);
    outside += difference <= bound ? 0 : 1;  // counts NaN
    worst = difference > std::abs(found[worst] - expected[worst]) ? i : worst;
  }
  EXPECT_EQ(outside, 0U) << what << ": frame " << worst << " of " << found.size() << ": found "
                         << found[worst] << ", wanted " << expected[worst] << " within " << bound;
}

std::vector<float> samples_of(const std::string& name, int rate_hz) {
  return test::read_recording(test::shared_path("speech/" + name + ".flac"), rate_hz);
}

std::vector<float> probabilities_of(const VoiceDetector& detector, std::span<const float> samples) {
  const auto found = detector.probabilities({&samples, 1});
  EXPECT_TRUE(found) << found.error().message;
  return found ? found->front() : std::vector<float>();
}

// Everything a session says of samples pushed in pieces of the given length.
std::vector<float> push_in_pieces(VoiceDetector::Session& session, std::span<const float> samples,
                                  size_t piece) {
  std::vector<float> all;
  const auto keep = [&](const Result<std::vector<float>>& found) {
    ASSERT_TRUE(found) << found.error().message;
    all.insert(all.end(), found->begin(), found->end());
  };
  for (size_t begin = 0; begin < samples.size(); begin += piece) {
    keep(session.push(samples.subspan(begin, std::min(piece, samples.size() - begin))));
  }
  keep(session.flush());
  return all;
}

// Runs on real weights and recordings, for each source.
class Silero : public testing::TestWithParam<Source> {
 protected:
  void SetUp() override {
    MYNAH_SKIP_WITHOUT(test::weights_path(GetParam().file));
    MYNAH_SKIP_WITHOUT(test::shared_path("speech"));
  }

  // Of the first `count` clips.
  void expect_golden(Backend& backend, size_t count = 3) {
    const auto detector = load(GetParam(), backend);
    ASSERT_TRUE(detector);
    EXPECT_EQ(detector->rate_hz(), GetParam().rate_hz);
    EXPECT_DOUBLE_EQ(detector->frame_s(), 0.032);
    const std::vector<GoldenClip> clips = golden_clips(GetParam());
    ASSERT_EQ(clips.size(), 3U);
    for (const GoldenClip& clip : std::span(clips).first(count)) {
      expect_close(probabilities_of(*detector, samples_of(clip.name, detector->rate_hz())),
                   clip.probabilities, kBound, clip.name);
    }
  }

  ThreadPool pool_{2};
};

INSTANTIATE_TEST_SUITE_P(files, Silero, testing::ValuesIn(kSources),
                         [](const auto& source) { return print(source.param); });

TEST_P(Silero, gives_onnx_runtimes_probabilities_by_definition) {
  RefBackend backend;
  expect_golden(backend);
}

TEST_P(Silero, gives_onnx_runtimes_probabilities_on_the_cpu) {
  const std::unique_ptr<Backend> backend = *make_cpu_backend(pool_);
  expect_golden(*backend);
}

#ifndef MYNAH_ADDRESS_SANITIZER  // ten times as long there; SileroNetwork has a short one
TEST_P(Silero, gives_onnx_runtimes_probabilities_on_the_simulated_card) {
  const std::unique_ptr<Backend> backend = make_simt_backend(pool_, {.check_shared = false});
  expect_golden(*backend, 1);
}
#endif

TEST_P(Silero, gives_onnx_runtimes_probabilities_on_every_recording) {
  const std::filesystem::path oracle =
      std::filesystem::path(test::folder_from("MYNAH_ORACLES", ".cache/oracles")) / "silero" /
      GetParam().name / std::to_string(GetParam().rate_hz);
  MYNAH_SKIP_WITHOUT(oracle);
  const std::unique_ptr<Backend> backend = *make_cpu_backend(pool_);
  const auto detector = load(GetParam(), *backend);
  ASSERT_TRUE(detector);
  size_t recordings = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(oracle)) {
    if (!entry.is_regular_file()) {
      continue;
    }
    ++recordings;
    const std::string bytes = test::read_file(entry.path().string());
    std::vector<float> expected(bytes.size() / sizeof(float));
    std::memcpy(expected.data(), bytes.data(), expected.size() * sizeof(float));
    const std::string name = (entry.path().parent_path().filename() / entry.path().stem()).string();
    expect_close(probabilities_of(*detector, samples_of(name, detector->rate_hz())), expected,
                 kBound, name);
  }
  EXPECT_EQ(recordings, 136U);
}

TEST_P(Silero, gives_the_same_in_pieces_as_at_once) {
  const std::unique_ptr<Backend> backend = *make_cpu_backend(pool_);
  const auto detector = load(GetParam(), *backend);
  ASSERT_TRUE(detector);
  const std::vector<float> samples = samples_of("clips/jfk_jfk", detector->rate_hz());
  const std::vector<float> whole = probabilities_of(*detector, samples);
  const auto session = detector->session();
  for (const size_t piece : {1U, 160U, 511U, 512U, 7777U, 1000000U}) {
    // A second recording through the same session: flush forgets the first.
    EXPECT_EQ(push_in_pieces(*session, samples, piece), whole) << piece;
  }
}

TEST_P(Silero, gives_the_same_in_a_batch_as_alone) {
  const std::unique_ptr<Backend> backend = *make_cpu_backend(pool_);
  const auto detector = load(GetParam(), *backend);
  ASSERT_TRUE(detector);
  std::vector<float> samples = samples_of("clips/jfk_jfk", detector->rate_hz());
  samples.resize(5000);
  // Of all lengths, one empty, one of a sample, more than go together.
  constexpr size_t kLengths = 20;
  std::vector<std::span<const float>> recordings;
  recordings.reserve(kLengths + 1);
  for (size_t i = 0; i < kLengths; ++i) {
    recordings.push_back(std::span(samples).subspan(13 * i, i * i * 12));
  }
  recordings.push_back(std::span(samples).first(1));
  const auto together = detector->probabilities(recordings);
  ASSERT_TRUE(together) << together.error().message;
  ASSERT_EQ(together->size(), recordings.size());
  for (size_t i = 0; i < recordings.size(); ++i) {
    EXPECT_EQ((*together)[i], probabilities_of(*detector, recordings[i])) << i;
  }
}

// What users do wrong, and damaged files.
class SileroFiles : public testing::Test {
 protected:
  Error error_of(const std::string& path, int rate_hz) {
    RefBackend backend;
    auto detector = load_silero(path, rate_hz, backend);
    EXPECT_FALSE(detector);
    return detector ? Error{} : detector.error();
  }
};

TEST_F(SileroFiles, says_that_a_file_has_the_other_rate_only) {
  const std::string path = test::weights_path("silero/silero_vad_16k.safetensors");
  MYNAH_SKIP_WITHOUT(path);
  const Error error = error_of(path, 8000);
  EXPECT_EQ(error.code, ErrorCode::Unsupported);
  EXPECT_THAT(error.message, testing::HasSubstr("16000 Hz only, wanted 8000 Hz"));
}

TEST_F(SileroFiles, refuses_a_rate_that_silero_has_not) {
  const std::string path = test::weights_path("silero/silero_vad_16k.safetensors");
  MYNAH_SKIP_WITHOUT(path);
  EXPECT_EQ(error_of(path, 44100).code, ErrorCode::InvalidInput);
}

}  // namespace
}  // namespace mynah
