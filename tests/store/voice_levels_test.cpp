// How loud voices are, kept beside their model.
#include "store/voice_levels.h"

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "temporary_folder.h"

namespace mynah {
namespace {

namespace fs = std::filesystem;

class Levels : public testing::Test {
 protected:
  Levels() {
    fs::create_directories(folder_ / "home/models/kokoro");
    write(folder_ / "af_a.pt", "a");
    write(folder_ / "af_b.pt", "b");
  }

  static void write(const std::string& path, const std::string& text) {
    std::ofstream(path, std::ios::binary) << text;
  }

  [[nodiscard]] VoiceLevels open() const { return {store_, model_}; }

  test::TemporaryFolder folder_;
  Store store_{{.home = folder_ / "home", .cache = folder_ / "cache"}};
  SpeechModel model_{.name = "kokoro",
                     .path = folder_ / "home/models/kokoro/model.gguf",
                     .family = "kokoro",
                     .voices = {{.name = "af_a", .path = folder_ / "af_a.pt"},
                                {.name = "af_b", .path = folder_ / "af_b.pt"}}};
};

TEST_F(Levels, AreThereForTheNextRun) {
  VoiceLevels levels = open();
  EXPECT_FALSE(levels.find("af_a"));
  levels.keep("af_a", -27.5);
  EXPECT_EQ(levels.find("af_a"), -27.5);
  EXPECT_EQ(open().find("af_a"), -27.5);
  EXPECT_FALSE(open().find("af_b"));
  EXPECT_TRUE(fs::exists(folder_ / "home/models/kokoro/levels.json"));
}

TEST_F(Levels, OfTwoRunsAtOnceAreBothKept) {
  VoiceLevels one = open();
  VoiceLevels other = open();
  one.keep("af_a", -20);
  other.keep("af_b", -21);
  EXPECT_EQ(open().find("af_a"), -20);
  EXPECT_EQ(open().find("af_b"), -21);
}

TEST_F(Levels, OfAFileThatHasChangedAreNone) {
  open().keep("af_a", -20);
  write(folder_ / "af_a.pt", "another voice");
  EXPECT_FALSE(open().find("af_a"));
}

TEST_F(Levels, OfAModelByItsPathAreInTheCache) {
  model_.name.clear();
  open().keep("af_a", -20);
  EXPECT_EQ(open().find("af_a"), -20);
  EXPECT_FALSE(fs::exists(folder_ / "home/models/kokoro/levels.json"));
  EXPECT_FALSE(fs::is_empty(folder_ / "cache/levels"));
}

TEST_F(Levels, DamageIsAsIfThereWereNone) {
  for (const char* text : {"", "{", "[]", "{\"af_a\": 3}", "{\"af_a\": {\"lufs\": \"x\"}}",
                           "{\"af_a\": {\"lufs\": 1e300, \"stamp\": \"\"}}"}) {
    write(folder_ / "home/models/kokoro/levels.json", text);
    EXPECT_FALSE(open().find("af_a")) << text;
    open().keep("af_b", -20);
    EXPECT_EQ(open().find("af_b"), -20) << text;
  }
}

TEST_F(Levels, WhereNothingCanBeWrittenIsNoError) {
  fs::remove_all(folder_ / "home");
  write(folder_ / "home", "a file");
  VoiceLevels levels = open();
  levels.keep("af_a", -20);
  EXPECT_EQ(levels.find("af_a"), -20);
  EXPECT_FALSE(open().find("af_a"));
}

}  // namespace
}  // namespace mynah
