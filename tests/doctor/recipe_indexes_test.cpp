// Where recipes say that packages come from, and what that leaves open.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "doctor/recipes/package_indexes.h"
#include "recipe_files.h"

namespace mynah::doctor {

namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

}  // namespace

TEST(RecipeIndexes, AnAddressOfTwoNamesAndOnePathMayBeThePythonIndexOrAMirror) {
  EXPECT_TRUE(looks_like_python_index("https://mirror.example/simple"));
  EXPECT_TRUE(looks_like_python_index("https://me:secret@mirror.example/simple/"));
  for (const char* url :
       {"https://feeds.mirror.example/simple", "https://mirror.example/team/simple",
        "https://mirror.example/", "mirror.example/simple", "./wheels", ""}) {
    EXPECT_FALSE(looks_like_python_index(url)) << url;
  }
}

TEST(RecipeIndexes, AnIndexThatNobodyKnowsMayHaveWhatOthersLack) {
  for (const char* index : {"--index-url https://mirror.example/simple\n",
                            "--extra-index-url https://feeds.mirror.example/team/simple\n",
                            "--find-links ./wheels\n"}) {
    const std::string text = std::string(index) + "torch==2.5.9\nfaster-whisper==1.0.9\n";
    const Report report = judge(files({{"requirements.txt", text.c_str()}}));
    EXPECT_THAT(failures(report), IsEmpty()) << index;
    EXPECT_EQ(of_rule(report, "no such version").size(), 2U) << index;
  }
}

TEST(RecipeIndexes, OfOneIndexOfPyTorchTheCudaVersionCannotDrift) {
  const std::string index = "https://download.pytorch.org/whl/cu128\n";
  const auto drifts = [](const std::string& text, const char* path = "requirements.txt") {
    return of_rule(judge(files({{path, text.c_str()}})), "pin drifts").size();
  };
  EXPECT_EQ(drifts("--index-url " + index + "torch>=2.7\n"), 0U);
  EXPECT_EQ(drifts("torch>=2.7\n"), 1U);
  EXPECT_EQ(drifts("--extra-index-url " + index + "torch>=2.7\n"), 1U)
      << "the newest may be elsewhere";
  EXPECT_EQ(drifts("[project]\nname='a'\ndependencies = ['torch>=2.7']\n[tool.uv.sources]\n"
                   "torch = {index='p'}\n[[tool.uv.index]]\nname='p'\nexplicit=true\n"
                   "url='https://download.pytorch.org/whl/cu128'\n",
                   "pyproject.toml"),
            0U);
}

TEST(RecipeIndexes, OnALineOfARequirementSayNothing) {
  const Report report = judge(files(
      {{"requirements.txt",
        "torch; --index-url https://download.pytorch.org/whl/cu128; sys_platform == \"linux\"\n"
        "torchaudio;\n"}}));
  const auto found = of_rule(report, "options passed over");
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0]->level, Level::Warning);
  EXPECT_EQ(found[0]->remedies.at(0).command,
            "sed -i '1s|.*|torch ; sys_platform == \"linux\"|' 'requirements.txt'");
  EXPECT_EQ(found[1]->level, Level::Note);
  EXPECT_EQ(found[1]->remedies.at(0).command, "sed -i '2s|.*|torchaudio|' 'requirements.txt'");
  const Report everywhere = judge(
      files({{"requirements.txt", "torch --index-url https://download.pytorch.org/whl/cu128\n"}}));
  EXPECT_EQ(of_rule(everywhere, "options passed over").at(0)->remedies.at(0).command,
            "sed -i '1s|.*|--extra-index-url https://download.pytorch.org/whl/cu128\\ntorch|' "
            "'requirements.txt'");
  EXPECT_THAT(of_rule(report, "recipe not understood"), IsEmpty());
}

TEST(RecipeIndexes, AFeedBesideThePythonIndexMayHaveBuildsForAnotherCuda) {
  const auto judged = [](const std::string& line) {
    const std::string text = line + "onnxruntime-gpu==1.18.0\n";
    return judge(files({{"Dockerfile",
                         "FROM nvidia/cuda:12.4.1-cudnn-devel-ubuntu22.04\n"
                         "COPY requirements.txt .\nRUN pip install -r requirements.txt\n"},
                        {"requirements.txt", text.c_str()}}));
  };
  // 1.18.0 of the Python index is for CUDA 11 and cuDNN 8.
  const Report plain = judged("");
  ASSERT_EQ(of_rule(plain, "image lacks libraries").size(), 1U);
  EXPECT_EQ(of_rule(plain, "image lacks libraries")[0]->level, Level::Warning);
  const Report feed = judged("--extra-index-url https://feeds.h.example/cuda-12/pypi/simple/\n");
  for (const char* rule : {"image lacks libraries", "cudnn of another version"}) {
    for (const auto& finding : of_rule(feed, rule)) {
      EXPECT_EQ(finding->level, Level::Unknown) << finding->text;
      for (const Remedy& remedy : finding->remedies) {
        EXPECT_THAT(remedy.text, ::testing::Not(::testing::HasSubstr("11.8.0")));
      }
    }
  }
  ASSERT_EQ(of_rule(feed, "image lacks libraries").size(), 1U);
  EXPECT_THAT(of_rule(feed, "image lacks libraries")[0]->text,
              ::testing::HasSubstr("of whose builds nobody knows"));
}

// Each extra takes the index of its own source: the other one's is not looked at.
TEST(RecipeIndexes, SourcesByExtraAreOfTheirOwnExtraAlone) {
  const std::string indexes =
      "[tool.uv]\nconflicts = [[{extra='cpu'},{extra='gpu'}]]\n"
      "[tool.uv.sources]\ntorch = [{index='c', extra='cpu'}, {index='g', extra='gpu'}]\n"
      "[[tool.uv.index]]\nname='c'\nexplicit=true\nurl='https://download.pytorch.org/whl/cpu'\n"
      "[[tool.uv.index]]\nname='g'\nexplicit=true\nurl='https://download.pytorch.org/whl/cu126'\n";
  for (const char* asks :
       {"dependencies = []\n[project.optional-dependencies]\n"
        "cpu = ['torch==2.6.0']\ngpu = ['torch==2.6.0+cu126']\n",
        "dependencies = []\n[project.optional-dependencies]\n"
        "cpu = ['torch==2.6.0']\ngpu = ['torch==2.6.0']\n",
        "dependencies = ['torch==2.6.0']\n[project.optional-dependencies]\n"
        "cpu = ['torch']\ngpu = ['torch']\n",
        // uv refuses this one, which says the same.
        "dependencies = ['torch==2.6.0']\n[project.optional-dependencies]\ncpu = []\ngpu = []\n"}) {
    const std::string text = std::string("[project]\nname='a'\n") + asks + indexes;
    Facts facts = files({{"pyproject.toml", text.c_str()}});
    facts.machine.cards = {card("GeForce RTX 5090", "12.0")};
    facts.machine.driver = "570.86";
    const Report report = judge(facts);
    EXPECT_THAT(of_rule(report, "index is not named"), IsEmpty()) << asks;
    std::vector<std::string> rows;
    for (const FrameworkVerdict& verdict : report.verdicts) {
      rows.push_back(verdict.version + " " + verdict.environment);
    }
    EXPECT_THAT(rows, ::testing::IsSupersetOf(
                          {"2.6.0+cpu pyproject.toml [cpu]", "2.6.0+cu126 pyproject.toml [gpu]"}))
        << asks;
    const bool said = std::ranges::any_of(report.findings, [](const Finding& finding) {
      return finding.rule != "pin drifts" && finding.level == Level::Unknown &&
             finding.subject == "torch 2.6.0+cu126 in pyproject.toml [gpu]";
    });
    EXPECT_TRUE(said) << asks;
  }
}

// A lock holds what each of the extras brings: those from the extra's own index are its own.
TEST(RecipeIndexes, ALockOfExtrasIsReadForEachOfThem) {
  Facts facts = files(
      {{"p/pyproject.toml",
        "[project]\nname='a'\ndependencies=[]\n[project.optional-dependencies]\n"
        "cpu = ['torch==2.6.0']\ngpu = ['torch==2.6.0']\n"
        "[tool.uv.sources]\ntorch = [{index='c', extra='cpu'}, {index='g', extra='gpu'}]\n"
        "[[tool.uv.index]]\nname='c'\nexplicit=true\nurl='https://download.pytorch.org/whl/cpu'\n"
        "[[tool.uv.index]]\nname='g'\nexplicit=true\n"
        "url='https://download.pytorch.org/whl/cu124'\n"},
       {"p/uv.lock",
        "version = 1\n[[package]]\nname='torch'\nversion='2.6.0+cpu'\n"
        "source = { registry = 'https://download.pytorch.org/whl/cpu' }\n"
        "[[package]]\nname='torch'\nversion='2.6.0+cu124'\n"
        "source = { registry = 'https://download.pytorch.org/whl/cu124' }\n"}});
  facts.machine.cards = {card("GeForce RTX 3090", "8.6")};
  facts.machine.driver = "570.86";
  std::vector<std::string> rows;
  for (const FrameworkVerdict& verdict : judge(facts).verdicts) {
    rows.push_back(verdict.version + " " + verdict.environment);
  }
  EXPECT_THAT(
      rows, ElementsAre("2.6.0+cpu p/pyproject.toml [cpu]", "2.6.0+cu124 p/pyproject.toml [gpu]"));
}

// What adds a package would add it to all that the project asks for.
TEST(RecipeIndexes, AnExtrasIndexIsNamedInWords) {
  const Report report =
      judge(files({{"pyproject.toml",
                    "[project]\nname='a'\ndependencies=[]\n[project.optional-dependencies]\n"
                    "gpu = ['torch==2.6.0+cu124']\n"}}));
  const auto found = of_rule(report, "index is not named");
  ASSERT_EQ(found.size(), 1U);
  ASSERT_FALSE(found[0]->remedies.empty());
  EXPECT_THAT(found[0]->remedies[0].command, IsEmpty());
  EXPECT_THAT(found[0]->remedies[0].text, HasSubstr("\"gpu\" in [tool.uv.sources]"));
}

}  // namespace mynah::doctor
