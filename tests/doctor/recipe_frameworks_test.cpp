// What recipes pin, on a card.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "recipe_files.h"

namespace mynah::doctor {

namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// A recipe on a machine with one card.
Report judged(const char* path, const std::string& text, const Card& card) {
  Facts facts = files({{path, text.c_str()}});
  facts.machine.cards = {card};
  facts.machine.driver = "580.95.05";
  return judge(facts);
}

Report on_5090(const std::string& text, const char* path = "requirements.txt") {
  return judged(path, text, card("RTX 5090", "12.0"));
}

// "torch 2.5.1+cu124: fails at the first kernel".
std::vector<std::string> rows(const Report& report) {
  std::vector<std::string> found;
  for (const FrameworkVerdict& verdict : report.verdicts) {
    found.push_back(verdict.framework + " " + verdict.version + ": " +
                    std::string(outcome_name(verdict.outcome)));
  }
  return found;
}

}  // namespace

TEST(RecipeFrameworks, OfAVersionThatNobodyKnowsNoDeviceCodeIsInvented) {
  for (const char* index :
       {"--find-links ./wheels\n", "--index-url https://mirror.example/simple\n",
        "--extra-index-url https://download.pytorch.org/whl/cu124\n"}) {
    for (const Card& card : {card("RTX 5090", "12.0"), card("RTX 3090", "8.6")}) {
      const Report report = judged("requirements.txt", std::string(index) + "torch==2.5.9\n", card);
      EXPECT_THAT(failures(report), IsEmpty()) << index;
      ASSERT_THAT(rows(report), ElementsAre(HasSubstr(": unknown"))) << index;
      EXPECT_THAT(report.verdicts[0].version, ::testing::StartsWith("2.5.9")) << index;
    }
  }
  const Report plain = on_5090("torch==2.5.9\n");
  EXPECT_THAT(failures(plain), ElementsAre("no such version: torch 2.5.9 in requirements.txt"));
  EXPECT_THAT(rows(plain), ElementsAre("torch 2.5.9: unknown"));
  EXPECT_THAT(of_rule(plain, "device code not known"), IsEmpty()) << "it is said already";
  EXPECT_THAT(rows(on_5090("onnxruntime-gpu==1.20.0rc9\nctranslate2==4.6.9\n")),
              ElementsAre("ctranslate2 4.6.9: unknown", "onnxruntime 1.20.0rc9: unknown"));
}

TEST(RecipeFrameworks, AnOverrideOfUvStandsInPlaceOfWhatItOverrides) {
  const std::string project =
      "[project]\nname = 'a'\ndependencies = ['torch==2.5.1']\n"
      "[project.optional-dependencies]\nold = ['torch==2.4.1']\n[tool.uv]\n";
  const Report report =
      on_5090(project + "override-dependencies = ['torch==2.8.0']\n", "pyproject.toml");
  EXPECT_THAT(failures(report), IsEmpty());
  EXPECT_THAT(rows(report), ElementsAre("torch 2.8.0+cu128: works"));
  EXPECT_THAT(of_rule(report, "recipe not understood"), IsEmpty());
  EXPECT_THAT(of_rule(report, "requirements contradict"), IsEmpty());
  EXPECT_THAT(failures(on_5090("[project]\nname = 'a'\ndependencies = ['torch==2.8.0']\n"
                               "[tool.uv]\noverride-dependencies = ['torch==2.5.1']\n",
                               "pyproject.toml")),
              ElementsAre("kernel image: torch 2.5.1+cu124 in pyproject.toml"));
}

TEST(RecipeFrameworks, AConstraintOfUvBoundsAndBringsNothing) {
  const Report bound = on_5090(
      "[project]\nname = 'a'\ndependencies = ['torch==2.5.1', 'faster-whisper==1.1.1']\n"
      "[tool.uv]\nconstraint-dependencies = ['torch>=2.7', 'ctranslate2==4.5.0', 'numpy<2']\n",
      "pyproject.toml");
  EXPECT_THAT(of_rule(bound, "requirements contradict").size(), 1U);
  EXPECT_THAT(of_rule(bound, "pin drifts"), IsEmpty()) << "ctranslate2 is bound";
  EXPECT_THAT(of_rule(bound, "recipe not understood"), IsEmpty());
  EXPECT_THAT(rows(on_5090("[project]\nname = 'a'\ndependencies = ['numpy']\n"
                           "[tool.uv]\nconstraint-dependencies = ['torch==2.5.1']\n",
                           "pyproject.toml")),
              IsEmpty());
}

TEST(RecipeFrameworks, AnIndexOfBuildsOfItsOwnLeavesTheDeviceCodeOpen) {
  const std::string pin = "torch==2.5.1\n";
  EXPECT_THAT(failures(on_5090(pin)).size(), 1U);
  EXPECT_THAT(failures(on_5090("--index-url https://mirror.example/simple\n" + pin)).size(), 1U);
  for (const char* index :
       {"--index-url https://feeds.mirror.example/cuda/simple\n", "--find-links ./wheels\n"}) {
    const Report report = on_5090(index + pin);
    EXPECT_THAT(failures(report), IsEmpty()) << index;
    EXPECT_THAT(rows(report), ElementsAre("torch 2.5.1+cu124: unknown")) << index;
  }
  EXPECT_THAT(rows(on_5090("--index-url https://download.pytorch.org/whl/cu128\n"
                           "--find-links ./wheels\ntorch==2.8.0\n")),
              ElementsAre("torch 2.8.0+cu128: works"));
}

}  // namespace mynah::doctor
