#include "doctor/plans/stack_plan.h"

#include <algorithm>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "doctor/recipes/requirement_text.h"
#include "doctor/verdicts/known_framework.h"
#include "doctor/verdicts/verdict.h"

namespace mynah::doctor {
namespace {

using testing::Contains;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

StackWish wish(const std::string& card, const std::string& driver,
               const std::vector<std::string>& wanted, const std::string& python = "") {
  StackWish made{.machine = {}, .python = python, .wanted = {}};
  const Product* const product = builtin_knowledge().card(card);
  EXPECT_NE(product, nullptr) << card;
  Card facts;
  facts.name = product->name;
  facts.compute_capability = product->compute_capability;
  facts.vendor = "10de";
  made.machine.cards.push_back(facts);
  made.machine.driver = driver;
  for (const std::string& text : wanted) {
    made.wanted.push_back(*parse_requirement(text));
  }
  return made;
}

StackAnswer answer(const StackWish& of) {
  auto planned = plan_stack(of, builtin_knowledge());
  EXPECT_TRUE(planned) << planned.error().message;
  return planned ? *std::move(planned) : StackAnswer{};
}

std::string version_of(const StackPlan& plan, const std::string& name) {
  const auto found = std::ranges::find(plan.packages, name, &PinnedPackage::name);
  return found == plan.packages.end() ? "" : found->version;
}

// Each framework of the plan, by itself once more.
void expect_it_runs(const StackPlan& plan, const StackWish& of) {
  EXPECT_THAT(plan.verdicts, Not(IsEmpty()));
  for (const FrameworkVerdict& verdict : plan.verdicts) {
    EXPECT_TRUE(verdict.outcome == Outcome::Works || verdict.outcome == Outcome::WorksSlowly)
        << verdict.framework << ": " << verdict.reason;
  }
  for (const PinnedPackage& package : plan.packages) {
    const auto wanted = std::ranges::find(of.wanted, package.name, &Requirement::name);
    const auto version = Version::parse(package.version);
    if (wanted != of.wanted.end() && version) {
      EXPECT_TRUE(SpecifierSet::parse(wanted->specifier)->contains(*version)) << package.name;
    }
  }
}

TEST(StackPlan, ANewCardGetsVersionsThatHaveItsCodeAndThatItsDriverTakes) {
  const StackWish of =
      wish("RTX 5090", "570.86", {"faster-whisper", "torch", "onnxruntime-gpu"}, "3.11");
  const StackAnswer got = answer(of);
  ASSERT_TRUE(got.plan) << testing::PrintToString(got.reasons);
  expect_it_runs(*got.plan, of);
  EXPECT_EQ(got.plan->python, "3.11");
  EXPECT_THAT(version_of(*got.plan, "torch"), HasSubstr("+cu12"));
  EXPECT_EQ(version_of(*got.plan, "faster-whisper"), "1.2.1");
  EXPECT_THAT(version_of(*got.plan, "ctranslate2"), Not(IsEmpty()));
  // onnxruntime, which faster-whisper asks for, would write over onnxruntime-gpu.
  const std::string text = requirements_text(*got.plan);
  EXPECT_THAT(text, HasSubstr("pip install --no-deps faster-whisper==1.2.1"));
  EXPECT_THAT(text, HasSubstr("--extra-index-url https://download.pytorch.org/whl/cu12"));
  EXPECT_THAT(text, HasSubstr("\ntokenizers"));
  EXPECT_THAT(text, Not(HasSubstr("\nonnxruntime=")));
  EXPECT_THAT(dockerfile_text(*got.plan), HasSubstr("FROM python:3.11-slim\n"));
}

TEST(StackPlan, AnOldCardGetsTheBuildsThatStillHaveItsCode) {
  const StackWish of = wish("TITAN Xp", "580.95.05", {"torch", "faster-whisper"});
  const StackAnswer got = answer(of);
  ASSERT_TRUE(got.plan) << testing::PrintToString(got.reasons);
  expect_it_runs(*got.plan, of);
  EXPECT_THAT(version_of(*got.plan, "torch"), testing::EndsWith("+cu126"));
}

// CTranslate2 4 has code for Maxwell's Tegra chips alone; 3 wants CUDA 11's libraries.
TEST(StackPlan, MaxwellGetsTheCtranslate2ThatHasItsCode) {
  const StackWish of = wish("GTX 970", "580.65", {"faster-whisper"});
  const StackAnswer got = answer(of);
  ASSERT_TRUE(got.plan) << testing::PrintToString(got.reasons);
  expect_it_runs(*got.plan, of);
  EXPECT_EQ(version_of(*got.plan, "ctranslate2"), "3.24.0");
  EXPECT_EQ(version_of(*got.plan, "nvidia-cublas-cu11"), "11.11.3.6");
  EXPECT_EQ(version_of(*got.plan, "nvidia-cudnn-cu11"), "8.9.6.50");
}

TEST(StackPlan, AnOldCardsOnnxruntimeComesWithACudnnThatStillHasItsCode) {
  const StackWish of = wish("TITAN Xp", "580.95.05", {"onnxruntime-gpu"});
  const StackAnswer got = answer(of);
  ASSERT_TRUE(got.plan) << testing::PrintToString(got.reasons);
  expect_it_runs(*got.plan, of);
  EXPECT_EQ(version_of(*got.plan, "nvidia-cudnn-cu12"), "9.10.2.21");
}

// 1.24 and later have wheels for Python 3.11 to 3.14, 1.23 for 3.10 to 3.13.
TEST(StackPlan, OnnxruntimeIsPlannedForPythonsThatItHasWheelsFor) {
  const StackAnswer older = answer(wish("RTX 4090", "580.95.05", {"onnxruntime-gpu"}, "3.10"));
  ASSERT_TRUE(older.plan) << testing::PrintToString(older.reasons);
  EXPECT_EQ(version_of(*older.plan, "onnxruntime-gpu"), "1.23.2");
  const StackAnswer newer = answer(wish("RTX 4090", "580.95.05", {"onnxruntime-gpu"}, "3.14"));
  ASSERT_TRUE(newer.plan) << testing::PrintToString(newer.reasons);
  EXPECT_GE(version_of(*newer.plan, "onnxruntime-gpu"), "1.24");
}

// torch 2.14.1 has wheels for Python 3.10 to 3.14, CTranslate2 for 3.15 from 4.8.4 on.
TEST(StackPlan, APythonIsPlannedThatThereAreWheelsFor) {
  const StackAnswer torch = answer(wish("RTX 4090", "580.95.05", {"torch"}));
  ASSERT_TRUE(torch.plan) << testing::PrintToString(torch.reasons);
  EXPECT_EQ(version_of(*torch.plan, "torch"), "2.14.1+cu130");
  EXPECT_EQ(torch.plan->python, "3.14");
  const StackAnswer older = answer(wish("RTX 4090", "580.95.05", {"ctranslate2<4.8.4"}));
  ASSERT_TRUE(older.plan) << testing::PrintToString(older.reasons);
  EXPECT_EQ(older.plan->python, "3.14");
  const StackAnswer newer = answer(wish("RTX 4090", "580.95.05", {"ctranslate2"}));
  ASSERT_TRUE(newer.plan) << testing::PrintToString(newer.reasons);
  EXPECT_EQ(newer.plan->python, "3.15");
}

TEST(StackPlan, WhereThereIsNoneTheSmallestChangeIsNamedAndMakesOne) {
  const StackWish of = wish("RTX 5090", "535.104.05", {"torch"});
  const StackAnswer got = answer(of);
  EXPECT_FALSE(got.plan);
  EXPECT_THAT(got.reasons, Not(IsEmpty()));
  ASSERT_THAT(got.changes, Not(IsEmpty()));
  EXPECT_THAT(got.changes.front().text, HasSubstr("a driver of branch 5"));
  EXPECT_THAT(got.changes.front().text, HasSubstr("instead of 535.104.05"));
  EXPECT_THAT(version_of(got.changes.front().plan, "torch"), HasSubstr("+cu"));
}

// Of no driver nothing is known: what the oldest would allow are old releases for CUDA 11.
TEST(StackPlan, WithoutADriverItIsSaidAndARecentOneIsTaken) {
  const StackAnswer got = answer(wish("RTX 3090", "", {"torch"}));
  EXPECT_FALSE(got.plan);
  ASSERT_THAT(got.changes, Not(IsEmpty()));
  EXPECT_THAT(got.changes.front().text, HasSubstr("--driver"));
  EXPECT_THAT(version_of(got.changes.front().plan, "torch"), HasSubstr("+cu13"));
  // The last branch that knows Pascal is 580.
  const StackAnswer pascal = answer(wish("GTX 1080", "", {"torch"}));
  ASSERT_THAT(pascal.changes, Not(IsEmpty()));
  EXPECT_THAT(pascal.changes.front().text, HasSubstr("580 or later"));
}

// Programs of CUDA 12 start from 525.60.13 on, whichever 12.x they were built with; what is
// compiled from PTX or packed asks for more.
TEST(StackPlan, TheSmallestDriverIsTheReleaseFromWhichOnItStarts) {
  const StackAnswer got = answer(wish("RTX 3060", "450.80.02", {"faster-whisper>=1.0"}));
  EXPECT_FALSE(got.plan);
  EXPECT_FALSE(got.clash);
  ASSERT_THAT(got.changes, Not(IsEmpty()));
  EXPECT_EQ(got.changes.front().text,
            "a driver of release 525.60.13 or later instead of 450.80.02");
  const StackAnswer within = answer(wish("RTX 3060", "525.53", {"faster-whisper>=1.0"}));
  ASSERT_THAT(within.changes, Not(IsEmpty()));
  EXPECT_EQ(within.changes.front().text,
            "a driver of release 525.60.13 or later instead of 525.53");
  const StackAnswer card = answer(wish("RTX 4090", "450.80.02", {"torch"}));
  ASSERT_THAT(card.changes, Not(IsEmpty()));
  EXPECT_EQ(card.changes.front().text, "a driver of branch 520 or later instead of 450.80.02");
  StackWish windows = wish("RTX 3060", "471.11", {"faster-whisper>=1.0"});
  windows.machine.system = System::Windows;
  for (const StackChange& change : answer(windows).changes) {
    EXPECT_THAT(change.text, Not(HasSubstr("525.60.13")));
  }
}

TEST(StackPlan, AnEnvironmentOfItsOwnIsProposedForWhatWouldWorkThere) {
  const StackAnswer got = answer(wish("RTX 3060", "450.80.02", {"torch", "faster-whisper"}));
  EXPECT_FALSE(got.plan);
  EXPECT_FALSE(got.clash);
  EXPECT_THAT(got.changes, Not(Contains(Field(&StackChange::text, HasSubstr("of its own")))));
  const StackAnswer clash = answer(wish("RTX 4090", "580.95.05", {"whisperx", "torch==2.9.1"}));
  EXPECT_TRUE(clash.clash);
  EXPECT_THAT(clash.changes, Contains(Field(&StackChange::text, HasSubstr("of its own"))));
}

// No build of torch has code for both: each card has one of its own.
TEST(StackPlan, CardsThatNoBuildServesAtOnceGetOneEach) {
  StackWish both = wish("GTX 1080 Ti", "580.95.05", {"torch"});
  both.machine.cards.push_back(wish("RTX 5090", "", {}).machine.cards.front());
  both.machine.cards.push_back(both.machine.cards.front());
  const StackAnswer got = answer(both);
  EXPECT_FALSE(got.plan);
  ASSERT_THAT(got.changes, testing::SizeIs(2));
  EXPECT_THAT(got.changes[0].text, testing::StartsWith("GeForce GTX 1080 Ti alone"));
  EXPECT_THAT(version_of(got.changes[0].plan, "torch"), HasSubstr("+cu126"));
  EXPECT_THAT(got.changes[1].text, testing::StartsWith("GeForce RTX 5090 alone"));
  // Two of one kind are one.
  StackWish twins = wish("GTX 1080 Ti", "580.95.05", {"torch==2.9.1+cu128"});
  twins.machine.cards.push_back(twins.machine.cards.front());
  EXPECT_THAT(answer(twins).changes, Not(Contains(Field(&StackChange::text, HasSubstr("alone")))));
}

// What is known is known of wheels for x86-64.
TEST(StackPlan, BesideAnArmProcessorNothingIsClaimed) {
  StackWish flags = wish("RTX 4090", "580.95.05", {"torch"});
  EXPECT_TRUE(answer(flags).plan);
  flags.machine.processor_flags = {"fp", "asimd"};
  for (const StackWish& of : {flags, wish("GB10", "580.95.05", {"torch", "onnxruntime-gpu"}),
                              wish("Jetson AGX Orin", "540.4.0", {"faster-whisper"})}) {
    const StackAnswer got = answer(of);
    EXPECT_FALSE(got.plan);
    EXPECT_THAT(got.reasons, Contains(HasSubstr("for Arm processors (aarch64)")));
    EXPECT_THAT(got.changes, IsEmpty());
  }
}

TEST(StackPlan, ASpecifierThatNoReleaseCanMeetIsWhatChanges) {
  const StackWish of = wish("TITAN Xp", "580.95.05", {"ctranslate2<4.5", "torch>=2.6"});
  const StackAnswer got = answer(of);
  EXPECT_FALSE(got.plan);
  EXPECT_THAT(got.reasons, Contains(HasSubstr("cuDNN")));
  EXPECT_THAT(got.changes, Contains(Field(&StackChange::text, HasSubstr("ctranslate2 4."))));
}

TEST(StackPlan, WhatAPackageAsksForDecidesAboutTheOthers) {
  const StackWish of = wish("RTX 4090", "580.95.05", {"whisperx"});
  const StackAnswer got = answer(of);
  ASSERT_TRUE(got.plan) << testing::PrintToString(got.reasons);
  expect_it_runs(*got.plan, of);
  EXPECT_THAT(version_of(*got.plan, "torch"), testing::StartsWith("2.8.0+"));
  EXPECT_THAT(version_of(*got.plan, "torchaudio"), testing::StartsWith("2.8.0+"));
  EXPECT_THAT(version_of(*got.plan, "torchvision"), testing::StartsWith("0.23.0+"));
}

TEST(StackPlan, APackageOfWhichNothingIsKnownIsRefused) {
  const auto planned = plan_stack(wish("RTX 4090", "580.95.05", {"left-pad"}), builtin_knowledge());
  ASSERT_FALSE(planned);
  EXPECT_THAT(planned.error().message,
              testing::AllOf(testing::StartsWith(
                                 "the knowledge base has no releases of left-pad to plan with"),
                             testing::HasSubstr("; it has those of chatterbox-tts, ")));
}

// Each "there is none" says which of the wanted packages clash, who wants what, and nothing else.
TEST(StackPlan, WhereThereIsNoneTheClashIsNamed) {
  const auto reasons = [](const std::vector<std::string>& wanted, const char* python = "") {
    StackWish asked = wish("RTX 5090", "580.95.05", wanted);
    asked.python = python;
    const auto answer = plan_stack(asked, builtin_knowledge());
    EXPECT_TRUE(answer && !answer->plan);
    return answer ? answer->reasons : std::vector<std::string>();
  };
  using testing::ElementsAre;
  EXPECT_THAT(reasons({"whisperx==3.7.4", "torch==2.9.1", "kokoro"}),
              ElementsAre("whisperx==3.7.4 and torch==2.9.1 do not go together",
                          "whisperx 3.7.4 asks for torch~=2.8.0"));
  // What brings it down is said, too: this card has no use for torch 2.6.
  EXPECT_THAT(reasons({"torch==2.7.1", "torchaudio==2.6.0"}),
              ElementsAre(testing::HasSubstr("asks for torch==2.6.0+cu126"),
                          "torch 2.6.0+cu126: it has no code for sm_120"));
  EXPECT_THAT(reasons({"torch==2.9.1", "torchaudio==2.8.0"}),
              ElementsAre("torch==2.9.1 and torchaudio==2.8.0 do not go together",
                          testing::HasSubstr("asks for torch==2.8.0+")));
  EXPECT_THAT(reasons({"ctranslate2==4.4.0", "torch==2.9.1"}),
              ElementsAre("ctranslate2==4.4.0 and torch==2.9.1 do not go together",
                          testing::HasSubstr("ctranslate2 4.4.0 is for cuDNN 8, torch 2.9.1+")));
  EXPECT_THAT(reasons({"torch==9.9"}),
              ElementsAre(testing::StartsWith("torch: no release that is known is as wanted")));
  EXPECT_THAT(reasons({"whisperx==3.6.1"}),
              ElementsAre(testing::StartsWith("whisperx 3.6.1: what it asks for")));
  EXPECT_THAT(reasons({"torch==2.5.1"}),
              ElementsAre(testing::HasSubstr("it has no code for sm_120")));
  EXPECT_THAT(reasons({"kokoro"}, "3.9"),
              ElementsAre("kokoro 0.9.4 asks for Python >=3.10,<3.13, which 3.9 is not"));
  EXPECT_THAT(reasons({"torch>=2", "torch<2.5"}),
              ElementsAre(testing::HasSubstr("it has no code for sm_120")));
}

TEST(StackPlan, WhatComesWithAnotherIsInThePlan) {
  const auto alone = plan_stack(wish("RTX 5090", "580.95.05", {"torchaudio"}), builtin_knowledge());
  ASSERT_TRUE(alone && alone->plan);
  EXPECT_THAT(version_of(*alone->plan, "torch"), testing::StartsWith("2."));
  // Its metadata do not ask for torch, and its import does.
  const auto tts = plan_stack(wish("RTX 5090", "580.95.05", {"coqui-tts"}), builtin_knowledge());
  ASSERT_TRUE(tts && tts->plan);
  for (const char* name : {"torch", "torchaudio", "torchcodec"}) {
    EXPECT_THAT(version_of(*tts->plan, name), testing::Not(testing::IsEmpty())) << name;
  }
}

TEST(StackPlan, TheLastTorchaudioIsPlannedBesideALaterTorch) {
  const StackAnswer got = answer(wish("RTX 5090", "580.95.05", {"torch==2.12.0", "torchaudio"}));
  ASSERT_TRUE(got.plan);
  EXPECT_EQ(version_of(*got.plan, "torch"), "2.12.0+cu130");
  EXPECT_EQ(version_of(*got.plan, "torchaudio"), "2.11.0+cu130");
}

// What is opened by name is found: cuBLAS, and cuDNN where the release uses it.
TEST(StackPlan, TheLoadersWayLeadsToAllThatIsOpenedByName) {
  using testing::Contains;
  const auto folders = [](const std::vector<std::string>& wanted) {
    const auto planned = plan_stack(wish("RTX 4090", "570.86", wanted), builtin_knowledge());
    EXPECT_TRUE(planned && planned->plan);
    return planned && planned->plan ? planned->plan->library_folders : std::vector<std::string>();
  };
  EXPECT_THAT(folders({"ctranslate2==4.6.0"}),
              testing::ElementsAre("nvidia/cublas/lib", "nvidia/cudnn/lib"));
  EXPECT_THAT(folders({"ctranslate2==4.8.5"}), testing::ElementsAre("nvidia/cublas/lib"));
  EXPECT_THAT(folders({"onnxruntime-gpu"}),
              testing::AllOf(Contains("nvidia/cublas/lib"), Contains("nvidia/cuda_runtime/lib"),
                             Contains("nvidia/cufft/lib"), Contains("nvidia/curand/lib"),
                             Contains("nvidia/cudnn/lib")));
  EXPECT_THAT(folders({"onnxruntime-gpu", "torch"}), testing::IsEmpty());
}

// torch 2.10+cu129 pins a cuDNN that was not looked into; it is one of 9 as those of its siblings.
TEST(StackPlan, ABuildOfWhichTheCudnnIsNotKnownTakesNoOlderOne) {
  const auto planned =
      plan_stack(wish("RTX 5090", "580.95.05", {"torch==2.10.0+cu129", "ctranslate2==4.4.0"}),
                 builtin_knowledge());
  ASSERT_TRUE(planned);
  EXPECT_FALSE(planned->plan);
}

// Every plan for every card of the knowledge base under every branch of drivers is what it says.
TEST(StackPlan, WhateverTheCardAndItsDriverAPlanHoldsWhatItPromises) {
  size_t plans = 0;
  for (const char* card : {"GTX 1080 Ti", "Tesla V100", "RTX 2080 Ti", "RTX 4060", "H100",
                           "RTX 5090", "RTX PRO 6000 Blackwell Workstation Edition"}) {
    for (const char* driver :
         {"470.57", "525.60.13", "550.54.14", "570.86", "580.95.05", "615.10"}) {
      const StackWish of = wish(card, driver, {"torch", "ctranslate2"});
      const StackAnswer got = answer(of);
      if (got.plan) {
        ++plans;
        expect_it_runs(*got.plan, of);
      } else {
        EXPECT_THAT(got.reasons, Not(IsEmpty())) << card << " under " << driver;
      }
    }
  }
  EXPECT_GT(plans, 20U);
}

// faster-whisper asks for onnxruntime, which no plan chooses: it has no wheels for Python 3.15,
// which ctranslate2 has.
TEST(StackPlan, APythonForWhichSomethingAskedForHasNoWheelsIsNotTaken) {
  const StackAnswer alone = answer(wish("RTX 4090", "580.95.05", {"ctranslate2"}));
  ASSERT_TRUE(alone.plan);
  EXPECT_EQ(alone.plan->python, "3.15");
  const StackAnswer newest = answer(wish("RTX 4090", "580.95.05", {"faster-whisper"}));
  ASSERT_TRUE(newest.plan);
  EXPECT_EQ(newest.plan->python, "3.14");
  const StackAnswer none = answer(wish("RTX 4090", "580.95.05", {"faster-whisper==1.2.1"}, "3.15"));
  EXPECT_FALSE(none.plan);
  EXPECT_THAT(none.reasons, Contains(HasSubstr("has no wheels for Python 3.15")));
  ASSERT_FALSE(none.changes.empty());
  EXPECT_EQ(none.changes[0].text, "Python 3.14 instead of 3.15");
}

TEST(StackPlan, AnImageHasTheFfmpegThatAPackageRuns) {
  const StackAnswer runs = answer(wish("RTX 4090", "580.95.05", {"whisperx"}));
  ASSERT_TRUE(runs.plan);
  EXPECT_THAT(dockerfile_text(*runs.plan),
              HasSubstr("apt-get install -y --no-install-recommends ffmpeg"));
  EXPECT_THAT(requirements_text(*runs.plan), HasSubstr("apt-get install ffmpeg"));
  const StackAnswer reads = answer(wish("RTX 4090", "580.95.05", {"faster-whisper"}));
  ASSERT_TRUE(reads.plan);
  EXPECT_THAT(dockerfile_text(*reads.plan), Not(HasSubstr("ffmpeg")));
}

}  // namespace
}  // namespace mynah::doctor
