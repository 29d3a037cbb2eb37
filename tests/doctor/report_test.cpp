#include <set>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "doctor/facts_json.h"
#include "doctor/reports/report_html.h"
#include "doctor/reports/report_json.h"
#include "doctor/reports/report_text.h"

namespace mynah::doctor {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using Json = nlohmann::json;

// Two frameworks on two cards, a FAIL and a note.
struct Sample {
  Sample() {
    facts.machine.release = "Debian GNU/Linux 12 (bookworm)";
    facts.machine.driver = "580.95.05";
    facts.machine.cards = {{.name = "NVIDIA GeForce RTX 5090",
                            .compute_capability = "12.0",
                            .memory_mib = 32607,
                            .pci = "0000:01:00.0",
                            .vendor = "10de",
                            .kernel_driver = "nvidia"}};
    facts.skipped = {"/opt/huge: more than 100000 files"};
    report.verdicts = {{.framework = "torch",
                        .version = "2.7.1+cu126",
                        .environment = "/opt/venv",
                        .card = "NVIDIA GeForce RTX 5090",
                        .outcome = Outcome::FailsAtFirstKernel,
                        .reason = "it holds no code for sm_120"},
                       {.framework = "torch",
                        .version = "2.7.1+cu126",
                        .environment = "/opt/venv",
                        .card = "NVIDIA TITAN Xp",
                        .outcome = Outcome::Works,
                        .reason = ""},
                       {.framework = "ctranslate2",
                        .version = "4.8.0",
                        .environment = "/opt/venv",
                        .card = "NVIDIA TITAN Xp",
                        .outcome = Outcome::WorksSlowly,
                        .reason = "on the processor"}};
    report.findings = {
        {.rule = "kernel image",
         .level = Level::Fail,
         .certainty = Certainty::Certain,
         .subject = "torch 2.7.1+cu126 in /opt/venv",
         .card = "NVIDIA GeForce RTX 5090",
         .text = "Every kernel fails, since no library of it holds code that this card runs.",
         .evidence = {{"libtorch_cuda.so holds sm_50 to sm_90, and no PTX",
                       "/opt/venv/lib/python3.11/site-packages/torch/lib/libtorch_cuda.so"}},
         .remedies = {{.command = "pip install torch==2.7.1 --index-url "
                                  "https://download.pytorch.org/whl/cu128 --force-reinstall",
                       .text = "Install the build of CUDA 12.8.",
                       .cost = "torchaudio has to be of the same build."},
                      {.command = "", .text = "Use another card.", .cost = ""}},
         .error = "CUDA error: no kernel image is available for execution on the device"},
        {.rule = "driver",
         .level = Level::Note,
         .certainty = Certainty::Likely,
         .subject = "driver",
         .card = "",
         .text = "A newer one is out.",
         .evidence = {},
         .remedies = {},
         .error = ""}};
  }

  [[nodiscard]] ReportFrame frame() const {
    return {
        .report = report, .facts = facts, .program = "mynah 0.6", .knowledge_date = "2026-11-24"};
  }

  [[nodiscard]] std::string text(TextStyle style = {}) const { return report_text(frame(), style); }

  Facts facts;
  Report report;
};

TEST(ReportText, IsATableThenWhatFails) {
  EXPECT_EQ(Sample().text(),
            "Debian GNU/Linux 12 (bookworm), NVIDIA's driver 580.95.05\n"
            "NVIDIA GeForce RTX 5090 (sm_120, 32607 MiB)\n"
            "\n"
            "                   NVIDIA GeForce RTX 5090    NVIDIA TITAN Xp\n"
            "torch 2.7.1+cu126  fails at the first kernel  works\n"
            "ctranslate2 4.8.0  -                          works slowly\n"
            "\n"
            "FAIL: torch 2.7.1+cu126 in /opt/venv on NVIDIA GeForce RTX 5090\n"
            "    Every kernel fails, since no library of it holds code that this card runs.\n"
            "    seen: libtorch_cuda.so holds sm_50 to sm_90, and no PTX\n"
            "          (/opt/venv/lib/python3.11/site-packages/torch/lib/libtorch_cuda.so)\n"
            "    shows as: CUDA error: no kernel image is available for execution on the\n"
            "              device\n"
            "    do: pip install torch==2.7.1 --index-url https://download.pytorch.org/whl/cu128 "
            "--force-reinstall\n"
            "        Install the build of CUDA 12.8.\n"
            "        cost: torchaudio has to be of the same build.\n"
            "    or: Use another card.\n"
            "\n"
            "Not looked at:\n"
            "    /opt/huge: more than 100000 files\n"
            "\n"
            "1 will fail; 1 note not shown: --all shows it\n");
}

TEST(ReportText, SaysWhatThereWasToJudge) {
  Report report;
  Facts facts;
  ReportFrame frame{
      .report = report, .facts = facts, .program = "mynah 0.6", .knowledge_date = "2026-11-24"};
  EXPECT_EQ(report_text(frame, {}), "no card\n\nnothing that will fail\n");
  frame.everywhere = true;
  EXPECT_THAT(report_text(frame, {}), AllOf(HasSubstr("no Python environment: none is active"),
                                            HasSubstr("mynah doctor FOLDER")));
  PythonEnvironment environment;
  environment.path = "/usr";
  environment.python = "3.11";
  environment.packages.resize(2);
  facts.environments = {environment};
  facts.recipes.emplace_back().path = "/p/requirements.txt";
  facts.recipes.emplace_back(facts.recipes.front());  // read for another stage, or by another
  EXPECT_EQ(report_text(frame, {}),
            "no card\n"
            "looked at 1 Python environment, 1 recipe of this folder\n"
            "no framework that computes on cards in /usr (Python 3.11, 2 packages)\n"
            "\n"
            "nothing that will fail\n");
  facts.environments.assign(8, environment);
  EXPECT_THAT(report_text(frame, {}), HasSubstr("3 more"));
  facts.environments.front().frameworks.emplace_back();
  EXPECT_THAT(report_text(frame, {}),
              AllOf(HasSubstr("looked at 8 Python environments"), Not(HasSubstr("no framework"))));
  facts.environments.back().kind = "wheel";
  EXPECT_THAT(report_text(frame, {}), HasSubstr("looked at 7 Python environments, 1 wheel, 1 re"));
  facts.environments.back().kind = "venv";
  const auto json = report_json(frame);
  EXPECT_EQ(json["looked_at"]["environments"][0]["frameworks"], 1);
  EXPECT_EQ(json["looked_at"]["recipes"], nlohmann::json::array({"/p/requirements.txt"}));
  EXPECT_THAT(report_html(frame), HasSubstr("<li>looked at 8 Python environments"));
}

TEST(ReportText, OfANarrowTerminalIsAList) {
  EXPECT_THAT(Sample().text({.columns = 60}),
              HasSubstr("torch 2.7.1+cu126\n"
                        "  NVIDIA GeForce RTX 5090: fails at the first kernel\n"
                        "  NVIDIA TITAN Xp: works\n"));
}

TEST(ReportText, ShowsNotesAndHowSureTheyAreWhereAllIsWanted) {
  EXPECT_THAT(Sample().text({.all = true}),
              AllOf(HasSubstr("\nnote (likely): driver\n    A newer one is out.\n"),
                    Not(HasSubstr("not shown"))));
}

TEST(ReportText, HasColoursOnlyWhereTheyAreWanted) {
  EXPECT_THAT(Sample().text(), Not(HasSubstr("\x1b")));
  EXPECT_THAT(Sample().text({.colours = true}),
              AllOf(HasSubstr("\x1b[1;31mFAIL\x1b[0m: torch"), HasSubstr("\x1b[32mworks\x1b[0m")));
}

TEST(ReportText, NamesEnvironmentsWhereThereAreSeveral) {
  Sample sample;
  sample.report.verdicts[2].environment = "/opt/other";
  EXPECT_THAT(sample.text({.columns = 100}), HasSubstr("ctranslate2 4.8.0 in /opt/other"));
}

TEST(ReportText, MovesNoCursorByWhatFactsHold) {
  Sample sample;
  sample.facts.machine.release = "Debian\x1b[2J\r\a \xC2\x9B";
  sample.report.findings[0].subject = "\x1b]0;title\x07";
  const std::string text = sample.text();
  EXPECT_EQ(text.find_first_of("\x1b\r\a"), std::string::npos);
  EXPECT_EQ(text.find("\xC2\x9B"), std::string::npos);
}

// Of sherpa-onnx alone there is no row, and no silence either.
TEST(ReportText, SaysThatARecipeHasNothingThatIsJudged) {
  Report report;
  Facts facts;
  facts.recipes.emplace_back().path = "./requirements.txt";
  ReportFrame frame{
      .report = report, .facts = facts, .program = "mynah 0.6", .knowledge_date = "2026-11-24"};
  EXPECT_THAT(report_text(frame, {}),
              HasSubstr("no framework whose code for cards is judged in ./requirements.txt\n"));
  report.verdicts.emplace_back().framework = "torch";
  EXPECT_THAT(report_text(frame, {}), testing::Not(HasSubstr("no framework")));
}

TEST(ReportText, BreaksACommandWhereItsLinesEndAndNowhereElse) {
  Sample sample;
  Remedy& remedy = sample.report.findings.front().remedies.front();
  remedy.command = "RUN python3 -m venv /opt/venv\nENV PATH=/opt/venv/bin:$PATH";
  EXPECT_THAT(sample.text(), HasSubstr("    do: RUN python3 -m venv /opt/venv\n"
                                       "        ENV PATH=/opt/venv/bin:$PATH\n"
                                       "        Install the build"));
}

TEST(ReportText, OfNothingSaysSo) {
  const Facts facts;
  const Report report;
  EXPECT_EQ(report_text({report, facts, "mynah", ""}, {}), "no card\n\nnothing that will fail\n");
}

TEST(ReportJson, HasEveryField) {
  const Json json = Json::parse(json_line(report_json(Sample().frame())));
  EXPECT_EQ(json["format"], "mynah doctor report");
  EXPECT_EQ(json["version"], 1);
  EXPECT_EQ(json["worst"], "fail");
  EXPECT_EQ(json["knowledge"], "2026-11-24");
  EXPECT_EQ(json["verdicts"][0]["outcome"], "fails at the first kernel");
  EXPECT_EQ(json["verdicts"][1]["reason"], nullptr);
  const Json& finding = json["findings"][0];
  EXPECT_EQ(finding["rule"], "kernel image");
  EXPECT_EQ(finding["level"], "fail");
  EXPECT_EQ(finding["certainty"], "certain");
  EXPECT_EQ(finding["evidence"][0]["text"], "libtorch_cuda.so holds sm_50 to sm_90, and no PTX");
  EXPECT_EQ(finding["remedies"][1]["command"], nullptr);
  EXPECT_EQ(finding["remedies"][0]["cost"], "torchaudio has to be of the same build.");
  EXPECT_EQ(json["findings"][1]["card"], nullptr);
  EXPECT_EQ(json["skipped"][0], "/opt/huge: more than 100000 files");
}

TEST(ReportJson, OfBytesThatAreNoTextIsJsonStill) {
  Sample sample;
  sample.report.findings[0].text = "\xff\xfe";
  EXPECT_TRUE(Json::accept(json_line(report_json(sample.frame()))));
}

// Names of all tags of a page.
std::set<std::string> tags_of(const std::string& page) {
  std::set<std::string> tags;
  for (size_t at = page.find('<'); at != std::string::npos; at = page.find('<', at + 1)) {
    tags.insert(page.substr(at + 1, page.find_first_of(" >", at) - at - 1));
  }
  return tags;
}

TEST(ReportHtml, HoldsVerdictsFindingsAndFacts) {
  const Sample sample;
  const std::string page = report_html(sample.frame());
  EXPECT_THAT(page, AllOf(HasSubstr("<b class=\"fail\">fails at the first kernel</b>"),
                          HasSubstr("<b class=\"fail\">1 will fail</b>"),
                          HasSubstr("<section class=\"fail\">"), HasSubstr("Cost: torchaudio"),
                          HasSubstr("prefers-color-scheme:dark")));
  // The facts are there to be read again.
  std::string facts = page.substr(page.find("<details>"));
  facts = facts.substr(facts.find("<pre>") + 5, facts.find("</pre>") - facts.find("<pre>") - 5);
  for (size_t at = 0; (at = facts.find("&quot;", at)) != std::string::npos;) {
    facts.replace(at, 6, "\"");
  }
  const auto again = parse_facts(facts, "page");
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(*again, sample.facts);
}

TEST(ReportHtml, IsNotBrokenOutOfByWhatFactsHold) {
  const std::set<std::string> tags = tags_of(report_html(Sample().frame()));
  const std::string evil = "</pre><script>alert(1)</script>\"' onload='x' <img src=x> &lt;";
  Sample sample;
  sample.facts.machine.cards[0].name = evil;
  sample.facts.machine.release = evil;
  sample.facts.skipped = {evil};
  sample.facts.environments = {{.path = evil, .kind = "venv", .packages = {{.name = evil}}}};
  for (FrameworkVerdict& verdict : sample.report.verdicts) {
    verdict = {evil, evil, evil, evil, Outcome::FailsAtLoad, evil};
  }
  for (Finding& finding : sample.report.findings) {
    finding = {evil, Level::Fail,    Certainty::Guess,     evil, evil,
               evil, {{evil, evil}}, {{evil, evil, evil}}, evil};
  }
  const std::string page = report_html(
      {.report = sample.report, .facts = sample.facts, .program = evil, .knowledge_date = evil});
  const std::set<std::string> found = tags_of(page);
  EXPECT_TRUE(std::ranges::includes(tags, found)) << ::testing::PrintToString(found);
  EXPECT_THAT(page, AllOf(Not(HasSubstr("<script")), Not(HasSubstr("<img")),
                          HasSubstr("&lt;script&gt;"), HasSubstr("&quot;&#39; onload")));
  EXPECT_EQ(page.find("='x'"), std::string::npos);
}

TEST(ReportHtml, IsUtf8WhateverFactsHold) {
  Sample sample;
  sample.facts.machine.release = "caf\xC3\xA9 \xff";
  EXPECT_THAT(report_html(sample.frame()), HasSubstr("caf\xC3\xA9 \xEF\xBF\xBD"));
}

// A package that two recipes pin apart, and one that drifts.
Alignment apart() {
  Alignment alignment;
  alignment.columns = {{"asr", "/srv/asr.txt"}, {"tts", "/srv/tts.txt"}};
  alignment.rows = {{"torch",
                     {{"==2.5.1", "2.5.1+cu124", "/srv/asr.txt:1", false, true},
                      {"==2.1.2+cu121", "2.1.2+cu121", "/srv/tts.txt:4", false, true}},
                     true,
                     "One process can hold one."},
                    {"numpy", {{}, {">=1", "", "/srv/tts.txt:5", true, false}}, false, ""},
                    {"python", {{"3.11", "3.11", "", false, false}, {}}, false, ""}};
  alignment.edits = {{"/srv/tts.txt", 4, "torch==2.1.2+cu121", "torch==2.5.1", ""}};
  alignment.target = "torch 2.5.1+cu124";
  return alignment;
}

TEST(Reports, SetRecipesSideBySide) {
  const Alignment alignment = apart();
  Sample sample;
  ReportFrame frame = sample.frame();
  frame.alignment = &alignment;
  EXPECT_THAT(report_text(frame, {}), AllOf(HasSubstr("Recipes side by side:\n"
                                                      "torch: One process can hold one.\n"
                                                      "    asr: ==2.5.1 (2.5.1+cu124)\n"
                                                      "    tts: ==2.1.2+cu121 (2.1.2+cu121)\n"
                                                      "numpy\n"
                                                      "    tts: >=1, drifts\n"),
                                            Not(HasSubstr("python\n"))));
  const Json json = Json::parse(json_line(report_json(frame)));
  EXPECT_EQ(json["alignment"]["rows"][0]["cells"][1]["written"], "==2.1.2+cu121");
  EXPECT_EQ(json["alignment"]["edits"][0]["line"], 4);
  EXPECT_EQ(Json::parse(json_line(report_json(sample.frame())))["alignment"], nullptr);
  EXPECT_THAT(report_html(frame), AllOf(HasSubstr("<b class=\"warning\">torch</b>"),
                                        HasSubstr("&gt;=1, drifts"), HasSubstr("/srv/tts.txt:4")));
}

TEST(ExplanationText, CallsAGuessAGuess) {
  const std::vector<Explanation> explanations = {{.id = "E07",
                                                  .title = "A thing",
                                                  .cause = "Because.",
                                                  .predictor = "",
                                                  .remedies = {},
                                                  .seen = {"a/b#1"},
                                                  .source = "",
                                                  .line = 3,
                                                  .text = "oops",
                                                  .times = 1,
                                                  .follows = "",
                                                  .verified = false,
                                                  .harmless = false,
                                                  .guess = true,
                                                  .sureness = 0.62}};
  const std::string text = explanation_text(explanations, {});
  EXPECT_THAT(text,
              AllOf(HasSubstr("A thing [E07]\n"), HasSubstr("This is a guess"), HasSubstr("62 %"),
                    HasSubstr("    line 3: oops\n"), HasSubstr("    why: Because.\n"),
                    HasSubstr("Nobody has verified this"), HasSubstr("    met in: a/b#1\n")));
}

}  // namespace
}  // namespace mynah::doctor
