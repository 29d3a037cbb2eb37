// tiny.en's real weights in every format that people have them in (tools/rewrite_whisper.py),
// imported: files with the same values give the same tokens, rounded ones nearly the same words.
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "audio/open.h"
#include "backend/cpu/cpu_backend.h"
#include "speech/recognizer.h"
#include "speech/window_model.h"
#include "store/pull.h"
#include "temporary_folder.h"
#include "test_paths.h"
#include "text/word_error.h"

namespace mynah {
namespace {

class Heard final : public RecognizerObserver {
 public:
  void on_done(size_t /*job*/, const Result<Transcript>& result) override {
    ASSERT_TRUE(result.has_value()) << result.error().message;
    for (const Segment& segment : result->segments) {
      tokens.insert(tokens.end(), segment.tokens.begin(), segment.tokens.end());
      text += segment.text;
    }
  }

  std::vector<int32_t> tokens;
  std::string text;
};

// The repository's own Python environment, which ./dev test makes, or the machine's, with numpy.
std::string python_with_numpy() {
  for (const std::string& python :
       {test::source_path(".venv/bin/python"), std::string("python3")}) {
    if (std::system(("'" + python + "' -c 'import numpy' 2>/dev/null").c_str()) == 0) {
      return python;
    }
  }
  return {};
}

class WhisperFormats : public testing::Test {
 protected:
  void SetUp() override {
    const std::string weights = test::weights_path("tiny.en");
    MYNAH_SKIP_WITHOUT(weights);
    MYNAH_SKIP_WITHOUT(test::shared_path("speech/clips"));
    const std::string python = python_with_numpy();
    if (python.empty()) {
      GTEST_SKIP() << "no Python with numpy here to write the files with";
    }
    const std::string command = "'" + python + "' '" +
                                test::source_path("tools/rewrite_whisper.py") + "' '" + weights +
                                "' '" + (folder_ / "files") + "'";
    ASSERT_EQ(std::system(command.c_str()), 0);
    auto backend = make_cpu_backend(pool_);
    ASSERT_TRUE(backend.has_value()) << backend.error().message;
    backend_ = std::move(*backend);
    reference_ = hear(weights, "reference");
    ASSERT_GT(reference_.tokens.size(), 80U);
  }

  // What five clips say to a file that is imported, computed in f32.
  Heard hear(const std::string& file, const std::string& name) {
    Heard heard;
    const Store store({.home = folder_ / "home", .cache = folder_ / "cache"});
    StoreObserver quiet;
    const auto model = import_model(store, file, {.name = name, .storage = {}}, quiet, {});
    EXPECT_TRUE(model.has_value()) << model.error().message;
    HearingLoadOptions options;
    options.storage = DType::F32;
    options.precision = Precision::Exact;
    auto recognizer = load_recognizer(model ? model->path() : "", options, *backend_, nullptr);
    EXPECT_TRUE(recognizer.has_value()) << recognizer.error().message;
    std::vector<RecognizerJob> jobs;
    for (const char* clip :
         {"jfk_jfk", "librispeech_test-other_1688-142285-0000", "misc_f5_basic_ref_en",
          "librispeech_test-other_3005-163389-0007", "librispeech_test-other_3331-159605-0004"}) {
      jobs.push_back({.name = clip, .open = [clip] {
                        const std::string path = std::string("speech/clips/") + clip + ".flac";
                        return open_audio(test::shared_path(path), {});
                      }});
    }
    if (recognizer) {
      (*recognizer)->run(jobs, {}, heard, {});
    }
    return heard;
  }

  test::TemporaryFolder folder_;
  ThreadPool pool_{2};
  std::unique_ptr<Backend> backend_;
  Heard reference_;
};

TEST_F(WhisperFormats, FilesWithTheSameValuesGiveTheSameTokens) {
  for (const std::string file : {"ggml-f32.bin", "ggml-f16.bin", "openai.pt"}) {
    EXPECT_EQ(hear(folder_ / "files/" + file, file).tokens, reference_.tokens) << file;
  }
  // Rounded to 8 bits a weight, and to 5 and a half: measured 0 and 1 words of 81.
  for (const auto& [file, most] : {std::pair{"ggml-q8_0.bin", 3U}, {"ggml-q5_1.bin", 5U}}) {
    const Heard rounded = hear(folder_ / "files/" + file, file);
    const Alignment alignment = TextScorer("en").score(reference_.text, rounded.text);
    EXPECT_LE(alignment.counts.errors(), most) << file << rounded.text;
    RecordProperty(file, static_cast<int>(alignment.counts.errors()));
  }
}

}  // namespace
}  // namespace mynah
