// Libraries of CUDA that a recipe leaves to the machine it is installed on.
#include <algorithm>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "doctor/recipes/recipe_edits.h"
#include "recipe_files.h"

namespace mynah::doctor {

namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr const char* kRule = "libraries left to the machine";

// A file for an RTX 4090 of which nothing else is known.
Facts on_a_card(const char* text) {
  Facts facts = files({{"requirements.txt", text}});
  facts.machine.cards = {card("GeForce RTX 4090", "8.9")};
  facts.machine.driver = "580.95.05";
  return facts;
}

Outcome outcome_of(const Report& report, const std::string& framework) {
  const auto found = std::ranges::find(report.verdicts, framework, &FrameworkVerdict::framework);
  EXPECT_NE(found, report.verdicts.end()) << framework;
  return found == report.verdicts.end() ? Outcome::FailsAtLoad : found->outcome;
}

// What a line that is put behind the others makes of a file.
Report with_edits(Facts facts, const std::string& lines) {
  std::vector<AlignmentEdit> edits;
  for (size_t begin = 0; begin < lines.size();) {
    const size_t end = std::min(lines.find('\n', begin), lines.size());
    edits.push_back({.file = "requirements.txt",
                     .line = 0,
                     .from = {},
                     .to = lines.substr(begin, end - begin),
                     .why = {}});
    begin = end + 1;
  }
  apply_edits(facts.recipes, edits);
  return judge(facts);
}

}  // namespace

TEST(RecipeLoader, WhatNoLineBringsIsNotSaidToWorkOnAMachineOfWhichNothingIsKnown) {
  const Facts facts = on_a_card("faster-whisper==1.1.1\nctranslate2==4.5.0\n");
  const Report report = judge(facts);
  EXPECT_EQ(outcome_of(report, "ctranslate2"), Outcome::Unknown);
  const auto found = of_rule(report, kRule);
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found.front()->level, Level::Unknown);
  EXPECT_THAT(found.front()->text, HasSubstr("cuBLAS 12 and cuDNN 9"));
  ASSERT_THAT(found.front()->remedies, SizeIs(1));

  const Report mended = with_edits(facts, "nvidia-cublas-cu12\nnvidia-cudnn-cu12==9.*");
  EXPECT_EQ(outcome_of(mended, "ctranslate2"), Outcome::Works);
  const auto rest = of_rule(mended, kRule);
  ASSERT_THAT(rest, SizeIs(1));
  EXPECT_EQ(rest.front()->level, Level::Note);
  EXPECT_THAT(rest.front()->text, HasSubstr("LD_LIBRARY_PATH"));
}

TEST(RecipeLoader, WhatTheMachinesLoaderFindsIsThere) {
  Facts facts = on_a_card("ctranslate2==4.5.0\n");
  facts.machine.cache_libraries = {"/usr/local/cuda-12.4/lib64/libcublas.so.12.4.5.8"};
  facts.machine.path_libraries = {"/opt/cudnn/libcudnn.so.9.1.0"};
  const Report report = judge(facts);
  EXPECT_EQ(outcome_of(report, "ctranslate2"), Outcome::Works);
  EXPECT_THAT(of_rule(report, kRule), IsEmpty());

  // cuDNN 8 has other names.
  facts.machine.path_libraries = {"/opt/cudnn/libcudnn.so.8.9.7"};
  const Report other = judge(facts);
  EXPECT_EQ(outcome_of(other, "ctranslate2"), Outcome::Unknown);
  const auto found = of_rule(other, kRule);
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found.front()->level, Level::Warning);
  EXPECT_THAT(found.front()->text, HasSubstr("wants cuDNN 9,"));
}

TEST(RecipeLoader, OnnxRuntimeGoesToTheProcessorWhereTheMachineIsKnownToHaveNone) {
  Facts facts = on_a_card("onnxruntime-gpu==1.23.2\n");
  facts.machine.library_folders = {"/lib/x86_64-linux-gnu"};
  const Report report = judge(facts);
  EXPECT_EQ(outcome_of(report, "onnxruntime"), Outcome::WorksSlowly);
  const auto found = of_rule(report, kRule);
  ASSERT_THAT(found, SizeIs(1));
  ASSERT_THAT(found.front()->remedies, SizeIs(1));
  EXPECT_THAT(found.front()->remedies.front().command, HasSubstr("[cuda,cudnn]"));

  Facts extras = on_a_card("onnxruntime-gpu[cuda,cudnn]==1.23.2\n");
  extras.machine.library_folders = facts.machine.library_folders;
  EXPECT_EQ(outcome_of(judge(extras), "onnxruntime"), Outcome::Works);
}

TEST(RecipeLoader, TorchLoadsWhatItBringsAndThatOfAnotherCudaIsNoHelp) {
  const Report same = judge(on_a_card("torch==2.8.0\nonnxruntime-gpu==1.23.2\n"));
  EXPECT_EQ(outcome_of(same, "onnxruntime"), Outcome::Works);

  Facts facts = on_a_card(
      "--extra-index-url https://download.pytorch.org/whl/cu130\ntorch==2.9.1+cu130\n"
      "onnxruntime-gpu==1.23.2\n");
  const Report other = judge(facts);
  EXPECT_EQ(outcome_of(other, "onnxruntime"), Outcome::Unknown);
  EXPECT_THAT(of_rule(other, "cublas of another version"), SizeIs(1));
  facts.machine.cache_libraries = {"/usr/local/cuda-12.8/lib64/libcublas.so.12.8.4.1"};
  const Report machine = judge(facts);
  EXPECT_EQ(outcome_of(machine, "onnxruntime"), Outcome::Works);
  EXPECT_THAT(of_rule(machine, "cublas of another version"), IsEmpty());
}

// CTranslate2 3 stands on CUDA 11, which knows nothing of the card; each is said once.
TEST(RecipeLoader, WhatWasMadeBeforeTheCardIsUnknownAndSaidOnce) {
  Facts facts = on_a_card("faster-whisper==0.9.0\n");
  facts.machine.cards = {card("GeForce RTX 5090", "12.0")};
  const Report report = judge(facts);
  EXPECT_EQ(outcome_of(report, "ctranslate2"), Outcome::Unknown);
  EXPECT_THAT(report.verdicts.front().reason, HasSubstr("CUDA 11 is older than the card"));
  const auto found = of_rule(report, kRule);
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_THAT(found.front()->text, HasSubstr("cuBLAS 11 and cuDNN 8"));

  Facts torch =
      on_a_card("--extra-index-url https://download.pytorch.org/whl/cu118\ntorch==2.7.0+cu118\n");
  torch.machine.cards = facts.machine.cards;
  const Report other = judge(torch);
  EXPECT_EQ(std::ranges::count(other.findings, Level::Unknown, &Finding::level), 1);
}

TEST(RecipeLoader, WithoutACardOfNvidiasNothingIsWanted) {
  Facts facts = on_a_card("ctranslate2==4.5.0\n");
  facts.machine.cards.clear();
  EXPECT_THAT(of_rule(judge(facts), kRule), IsEmpty());
}

}  // namespace mynah::doctor
