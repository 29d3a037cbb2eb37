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
            "sed -i '1s|.*|--extra-index-url https://download.pytorch.org/whl/cu128\\ntorch ; "
            "sys_platform == \"linux\"|' 'requirements.txt'");
  EXPECT_EQ(found[1]->level, Level::Note);
  EXPECT_EQ(found[1]->remedies.at(0).command, "sed -i '2s|.*|torchaudio|' 'requirements.txt'");
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
    for (const Finding* finding : of_rule(feed, rule)) {
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

}  // namespace mynah::doctor
