#include <cstdlib>
#include <fstream>
#include <iterator>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "cli/command/config_file.h"
#include "cli/command/version.h"
#include "cli/completion.h"
#include "cli/config.h"
#include "cli/doctor/doctor.h"
#include "cli/fake_recognizer.h"
#include "cli/hear/transcribe.h"
#include "cli/models/models.h"
#include "cli/models/pull.h"
#include "cli/models/store_access.h"
#include "cli/speak/speak.h"
#include "cli/speak/voices.h"
#include "cli/test_context.h"
#include "temporary_folder.h"

namespace mynah::cli {
namespace {

using test::TemporaryFolder;
using testing::HasSubstr;

std::vector<Verb> some_verbs() {
  return {{"transcribe", "Turns recordings into text.",
           [] {
             return std::make_unique<TranscribeCommand>(
                 fake_engine(std::make_shared<FakeRecognizer>()));
           }},
          verb<ConfigCommand>("config", "Prints options."),
          verb<CompletionCommand>("completion", "Prints a script."),
          verb<VersionCommand>("version", "Prints the version.")};
}

TEST(Completion, ScriptsAreWellFormed) {
  const TemporaryFolder folder;
  for (const std::string shell : {"bash", "zsh", "fish"}) {
    TestProgram program(some_verbs());
    EXPECT_EQ(program.run({"completion", shell}), 0);
    EXPECT_THAT(program.out.text(), HasSubstr("max-line-width"));
    std::ofstream(folder / shell) << program.out.text();
    const std::string here = "command -v " + shell + " >/dev/null";
    if (std::system(here.c_str()) == 0) {
      EXPECT_EQ(std::system((shell + " -n " + folder / shell).c_str()), 0);
    }
  }
}

TEST(Completion, BashOffersVerbsFlagsValuesAndNames) {
  const TemporaryFolder folder;
  std::vector<Verb> verbs = some_verbs();
  verbs.push_back(verb<PullCommand>("pull", "Brings models."));
  verbs.push_back(verb<ModelsCommand>("models", "Lists models."));
  verbs.push_back(verb<SpeakCommand>("speak", "Speaks."));
  verbs.push_back(verb<VoicesCommand>("voices", "Lists voices."));
  verbs.push_back(verb<DoctorCommand>("doctor", "Looks."));
  std::ofstream(folder / "mynah.bash")
      << bash_completion(verbs)
      // Stands for the program, which is asked for the names of models.
      << "mynah() { cat " << folder / "$1.json" << "; }\n";
  std::ofstream(folder / "voices.json") << R"({"voice":"af_bella","language":"en-US"})" << "\n"
                                        << R"({"voice":"bf_emma","language":"en-GB"})" << "\n";
  std::ofstream models(folder / "models.json");
  for (const auto& [name, file] :
       {std::pair{"silero", "silero_vad.onnx"}, {"tiny.en", "tiny.bin"}}) {
    StoredModel model;
    model.name = name;
    model.files.push_back({.name = file, .from = "", .sha256 = "", .size = 0, .proof = ""});
    models << to_json(model).dump() << "\n";
  }
  models.close();
  const auto complete = [&](const std::string& words, int index) {
    // In a folder of its own: places are offered, too, and wherever the tests run a name may begin
    // like a word below.
    std::ofstream(folder / "try.sh")
        << "cd " << folder.path() << "\nsource " << folder / "mynah.bash" << "\nCOMP_WORDS=("
        << words << ")\nCOMP_CWORD=" << index << "\n_mynah\nprintf '%s\\n' \"${COMPREPLY[@]}\" >"
        << folder / "out" << "\n";
    EXPECT_EQ(std::system(("bash " + folder / "try.sh").c_str()), 0);
    return folder.read("out");
  };
  EXPECT_EQ(complete("mynah trans", 1), "transcribe\n");
  EXPECT_EQ(complete("mynah transcribe --max-line", 2), "--max-line-width\n--max-line-count\n");
  EXPECT_EQ(complete("mynah transcribe --task tran", 3), "transcribe\ntranslate\n");
  EXPECT_EQ(complete("mynah transcribe --format json", 3), "json\njson-full\n");
  EXPECT_EQ(complete("mynah transcribe --device r", 3), "ref\n");
  EXPECT_EQ(complete("mynah transcribe --raw s1", 3), "s16le\n");
  EXPECT_EQ(complete("mynah transcribe --model tin", 3), "tiny.en\n");
  EXPECT_EQ(complete("mynah transcribe -m tin", 3), "tiny.en\n");
  EXPECT_EQ(complete("mynah transcribe --vad-model sil", 3), "silero\n");
  EXPECT_EQ(complete("mynah transcribe --beam-size ''", 3), "\n");
  // As bash hands over "--format=" and "--format=json".
  EXPECT_THAT(complete("mynah transcribe --format =", 3), HasSubstr("\nsrt\n"));
  EXPECT_EQ(complete("mynah transcribe --format = json", 4), "json\njson-full\n");
  EXPECT_EQ(complete("mynah transcribe --beam-size = ''", 4), "\n");
  EXPECT_EQ(complete("mynah pull sil", 2), "silero\n");
  EXPECT_EQ(complete("mynah models re", 2), "remove\n");
  EXPECT_EQ(complete("mynah models remove tin", 3), "tiny.en\n");
  EXPECT_EQ(complete("mynah models show ''", 3), "silero\ntiny.en\n");
  EXPECT_EQ(complete("mynah speak --voice a", 3), "af_bella\n");
  EXPECT_EQ(complete("mynah voices b", 2), "bf_emma\n");
  EXPECT_EQ(complete("mynah completion z", 2), "zsh\n");
  // Its first word is an action or a place, the others are places.
  EXPECT_EQ(complete("mynah doctor com", 2), "compare\n");
  EXPECT_EQ(complete("mynah doctor " + folder / "voices.j", 2), folder / "voices.json" + "\n");
  EXPECT_EQ(complete("mynah doctor compare " + folder / "voices.j", 3),
            folder / "voices.json" + "\n");
  EXPECT_EQ(complete("mynah doctor compare com", 3), "\n");
  EXPECT_EQ(complete("mynah doctor --tim", 2), "--timeout\n");
  EXPECT_EQ(complete("mynah hel", 1), "help\n");
  EXPECT_EQ(complete("mynah help tran", 2), "transcribe\n");
}

TEST(Completion, ZshOffersShortNamesBesideTheLongOnes) {
  const std::string script = zsh_completion(some_verbs());
  EXPECT_THAT(script, HasSubstr("'(-q --quiet)-q[Nothing but results and errors.]' "));
  EXPECT_THAT(script, HasSubstr("'(-q --quiet)--quiet[Nothing but results and errors.]' "));
  EXPECT_THAT(script, HasSubstr("'(-o --output-dir)-o+[Write FOLDER"));
  EXPECT_THAT(script, HasSubstr("'(-o --output-dir)--output-dir=[Write FOLDER"));
  EXPECT_THAT(script, HasSubstr("'*--format=[Formats"));
  EXPECT_THAT(script, HasSubstr(":NAME:_mynah_models'"));
  EXPECT_THAT(script, HasSubstr("names=(${(f)\"$(mynah models list --json"));
}

TEST(Completion, RefusesOtherShells) {
  TestProgram program(some_verbs());
  EXPECT_EQ(program.run({"completion", "bahs"}), 2);
  EXPECT_THAT(program.err.text(), HasSubstr("found 'bahs' (did you mean bash?)"));
}

TEST(Config, PrintsEachValueWithItsOrigin) {
  TestProgram program(some_verbs());
  program.environment["MYNAH_BEAM"] = "5";
  EXPECT_EQ(program.run({"config", "transcribe", "--json"}), 0);
  EXPECT_THAT(program.out.text(),
              HasSubstr(R"({"verb":"transcribe","option":"beam","value":"5","default":"3",)"
                        R"("origin":"environment","environment":"MYNAH_BEAM"})"));
  EXPECT_THAT(program.out.text(),
              HasSubstr(R"("option":"patience","value":"1","default":"1","origin":"default")"));
}

TEST(Config, TheExampleIsAConfigurationThatChangesNothing) {
  const std::vector<Verb> verbs = some_verbs();
  std::string example = example_config(verbs);
  ASSERT_TRUE(parse_config(example, "example"));
  // Every commented key with its "#" taken away must parse, be known, and be what it was.
  std::string active;
  std::istringstream lines(example);
  for (std::string line; std::getline(lines, line);) {
    const bool key = line.starts_with("# ") && line.find(" = ") != std::string::npos;
    const bool empty = line.ends_with(" = \"none\"") || line.ends_with("\"\"");
    active += (key && !empty ? line.substr(2) : line) + "\n";
  }
  const auto parsed = parse_config(active, "example");
  ASSERT_TRUE(parsed) << parsed.error().message;
  const Status known = check_config(*parsed, verbs);
  EXPECT_TRUE(known) << known.error().message;
}

TEST(Documents, TheManPageNamesEveryOption) {
  const std::string page = man_page(some_verbs());
  EXPECT_THAT(page, HasSubstr(".TH MYNAH 1\n"));
  EXPECT_THAT(page, HasSubstr(".B \\-\\-max\\-line\\-width N\n"));
  EXPECT_THAT(page, HasSubstr(".SH EXIT STATUS\n"));
  std::istringstream lines(page);
  for (std::string line; std::getline(lines, line);) {
    EXPECT_FALSE(line.starts_with("'")) << line;
  }
}

TEST(Documents, EveryVerbAnswersHelpAndTakesJson) {
  for (const Verb& verb : some_verbs()) {
    TestProgram program(some_verbs());
    TestProgram asked(some_verbs());
    EXPECT_EQ(asked.run({"help", verb.name}), 0);
    EXPECT_EQ(program.run({verb.name, "--help"}), 0);
    EXPECT_EQ(program.out.text(), asked.out.text());
    EXPECT_THAT(program.out.text(), HasSubstr("usage: mynah " + verb.name));
    EXPECT_THAT(program.out.text(), HasSubstr("--json"));
  }
}

}  // namespace
}  // namespace mynah::cli
