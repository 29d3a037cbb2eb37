#include "cli/hear/wer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "cli/fake_recognizer.h"
#include "cli/recordings.h"
#include "cli/test_context.h"
#include "temporary_folder.h"

namespace mynah::cli {
namespace {

using Json = nlohmann::json;
using test::TemporaryFolder;
using testing::HasSubstr;

class Wer : public testing::Test {
 protected:
  int run(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "wer");
    program = std::make_unique<TestProgram>(
        std::vector<Verb>{{"wer", "Scores recordings.",
                           [this] { return std::make_unique<WerCommand>(fake_engine(fake)); }}});
    return program->run(arguments);
  }

  std::string table(const std::string& text) {
    std::ofstream(folder / "t.tsv") << text;
    return folder / "t.tsv";
  }

  TemporaryFolder folder;
  std::shared_ptr<FakeRecognizer> fake = std::make_shared<FakeRecognizer>();
  std::unique_ptr<TestProgram> program;
};

TEST_F(Wer, CountsTheErrorsOfEachClip) {
  write_wav(folder / "a.wav", 2);
  write_wav(folder / "b.wav", 1);
  const std::string references = table(
      "clip\tlang\tkind\ttext\na.wav\ten\tx\tSecond 0, SECOND 1!\nb.wav\ten\tx\tThe second "
      "0\n");
  EXPECT_EQ(run({references, "--json"}), 0) << program->err.text();
  std::istringstream lines(program->out.text());
  std::vector<Json> objects;
  for (std::string line; std::getline(lines, line);) {
    objects.push_back(Json::parse(line));
  }
  ASSERT_EQ(objects.size(), 3U);
  EXPECT_EQ(objects[0]["errors"], 0) << objects[0];
  EXPECT_EQ(objects[1]["errors"], 1);
  EXPECT_EQ(objects[1]["deletions"], 1);
  EXPECT_EQ(objects[2]["total"]["words"]["errors"], 1);
  EXPECT_EQ(objects[2]["total"]["audio_seconds"], 3.0);
  EXPECT_EQ(fake->last_options.decoding.language, "en");
}

TEST_F(Wer, ScoresTextsThatWereRecognisedBefore) {
  write_wav(folder / "a.wav", 1);
  const std::string references = table("clip\tlang\ttext\na.wav\ten\tsecond 0\n");
  EXPECT_EQ(run({references, "--write-hypotheses", folder / "h.tsv", "--html", folder / "r.html"}),
            0)
      << program->err.text();
  EXPECT_EQ(folder.read("h.tsv"), "clip\tlang\ttext\na.wav\ten\t second 0\n");
  EXPECT_THAT(folder.read("r.html"), HasSubstr("a.wav"));
  const std::string table_text = program->out.text();
  EXPECT_THAT(table_text, HasSubstr("a.wav"));
  fake->opened.clear();
  EXPECT_EQ(run({references, "--hypotheses", folder / "h.tsv"}), 0);
  EXPECT_TRUE(fake->opened.empty());
  EXPECT_TRUE(table_text.starts_with(program->out.text()));  // less the line on speed
}

TEST_F(Wer, ThePageNamesClipsFromWhereItLies) {
  write_wav(folder / "a b.wav", 1);
  std::filesystem::create_directory(folder / "reports");
  const std::string references = table("clip\tlang\ttext\na b.wav\ten\tsecond 0\n");
  EXPECT_EQ(run({references, "--html", folder / "reports/r.html"}), 0) << program->err.text();
  EXPECT_THAT(folder.read("reports/r.html"), HasSubstr(R"(src="../a%20b.wav")"));
}

TEST_F(Wer, LeavesOutLanguagesThatAnEnglishModelDoesNotKnow) {
  write_wav(folder / "a.wav", 1);
  const std::string references =
      table("clip\tlang\ttext\na.wav\ten\tsecond 0\nb.wav\tde\tGuten Tag\n");
  EXPECT_EQ(run({references}), 0);
  EXPECT_THAT(program->err.text(),
              HasSubstr("1 clip of other languages left out: the model fake is English only"));
}

TEST_F(Wer, FailsWhereNoClipIsLeft) {
  const std::string references =
      table("clip\tlang\ttext\na.wav\ten\tsecond 0\nb.wav\tde\tGuten Tag\n");
  EXPECT_EQ(run({references, "--only-language", "de"}), 1);
  EXPECT_EQ(program->out.text(), "");
  EXPECT_THAT(program->err.text(),
              HasSubstr("wanted English clips to score, as the model fake knows English only, "
                        "found none"));
  EXPECT_THAT(program->err.text(), HasSubstr("'mynah pull small'"));
  EXPECT_EQ(run({references, "--only-language", "fr"}), 1);
  EXPECT_THAT(program->err.text(), HasSubstr("found none of --only-language fr"));
}

TEST_F(Wer, CountsAClipThatFailsAsHeardAsNothing) {
  write_wav(folder / "a.wav", 1);
  const std::string references =
      table("clip\tlang\ttext\na.wav\ten\tsecond 0\nmissing.wav\ten\talpha beta gamma\n");
  EXPECT_EQ(run({references, "--json"}), 1);
  EXPECT_THAT(program->out.text(), HasSubstr(R"("deletions":3)"));
  EXPECT_THAT(program->err.text(), HasSubstr("1 of 2 clips failed and count as heard as nothing"));
}

TEST_F(Wer, AnswersABadTableInOneLine) {
  const std::vector<std::pair<std::string, std::string>> tables = {
      {"", ":1: wanted a header with the columns clip and text"},
      {"a\tb\n", ":1: wanted a header with the columns clip and text between tabs, found 'a\tb'"},
      {"clip\ttext\n", "wanted clips to score, found none"},
      {"clip\ttext\na.wav\n", ":2: wanted 2 columns, found 1"},
  };
  for (const auto& [text, message] : tables) {
    EXPECT_EQ(run({table(text)}), 1);
    EXPECT_THAT(program->err.text(), HasSubstr(message));
    EXPECT_EQ(std::ranges::count(program->err.text(), '\n'), 1);
  }
  EXPECT_EQ(run({folder / "none.tsv"}), 1);
  EXPECT_THAT(program->err.text(), HasSubstr("none.tsv: No such file"));
  EXPECT_EQ(run({folder.path()}), 1);
  EXPECT_THAT(program->err.text(), HasSubstr("wanted a table (clip, lang, text), found a folder"));
  EXPECT_EQ(run({}), 2);
}

}  // namespace
}  // namespace mynah::cli
