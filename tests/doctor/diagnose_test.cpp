// The cases of real users, each with facts as a file that --as would read, and the whole of what
// must be said of it.
#include "doctor/diagnose.h"

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "doctor/facts_json.h"
#include "doctor/known_frameworks.h"
#include "doctor/verdicts/framework_files.h"
#include "doctor/verdicts/verdict.h"

namespace mynah::doctor {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

Facts facts_of(const std::string& name) {
  std::ifstream file(std::string(MYNAH_SOURCE_DIR "/tests/doctor/data/cases/") + name + ".json");
  std::stringstream text;
  text << file.rdbuf();
  auto facts = parse_facts(text.str(), name);
  EXPECT_TRUE(facts) << facts.error().message;
  return facts ? *std::move(facts) : Facts();
}

// What is said of frameworks and models; the machine and the recipes have tests of their own.
Report report_of(const Facts& facts) {
  Report report = diagnose(facts, builtin_knowledge());
  std::erase_if(report.findings, [&](const Finding& finding) {
    const bool of_model = std::ranges::any_of(facts.wanted, [&](const WantedModel& model) {
      return finding.subject.starts_with(model.name);
    });
    return !of_model && !std::ranges::any_of(facts.environments, [&](const auto& environment) {
      return std::ranges::any_of(environment.frameworks, [&](const Framework& framework) {
        return finding.subject.starts_with(framework_title(framework));
      });
    });
  });
  return report;
}

Outcome only_outcome(const Report& report) {
  EXPECT_EQ(report.verdicts.size(), 1U);
  return report.verdicts.empty() ? Outcome::Unknown : report.verdicts.front().outcome;
}

std::vector<std::string> commands(const Finding& finding) {
  std::vector<std::string> commands;
  for (const Remedy& remedy : finding.remedies) {
    commands.push_back(remedy.command);
  }
  return commands;
}

const Finding* finding(const Report& report, std::string_view rule) {
  const auto found = std::ranges::find(report.findings, rule, &Finding::rule);
  return found == report.findings.end() ? nullptr : &*found;
}

auto evidence(const char* text) {
  return Contains(Field(&Evidence::text, HasSubstr(text)));
}

// Facts of one wheel in an environment on one card.
Facts facts_with(const Framework& framework, const char* card, const char* driver) {
  Facts facts;
  Card& only = facts.machine.cards.emplace_back();
  only.name = card;
  only.vendor = "10de";
  only.kernel_driver = "nvidia";
  facts.machine.driver = driver;
  PythonEnvironment& environment = facts.environments.emplace_back();
  environment.path = "/venv";
  environment.python = "3.11";
  Package& package = environment.packages.emplace_back();
  package.name = framework.package;
  package.version = framework.version;
  environment.frameworks = {framework};
  return facts;
}

}  // namespace

TEST(Cases, TorchForCuda126OnRtx5090HasNoKernelImageWhateverTheImageIsCalled) {
  const Report report = report_of(facts_of("rtx5090_torch_cu126"));
  EXPECT_EQ(only_outcome(report), Outcome::FailsAtFirstKernel);
  EXPECT_EQ(report.worst(), Level::Fail);
  ASSERT_EQ(report.findings.size(), 1U);
  const Finding& found = report.findings.front();
  EXPECT_EQ(found.certainty, Certainty::Certain);
  EXPECT_EQ(found.subject, "torch 2.7.1+cu126 in /opt/venv");
  EXPECT_THAT(found.text,
              AllOf(HasSubstr("sm_120"), HasSubstr("(in an LSTM already at flatten_parameters)")));
  EXPECT_THAT(found.error, HasSubstr("no kernel image is available"));
  EXPECT_THAT(found.evidence,
              AllOf(evidence("libtorch_cuda.so holds sm_50, sm_60, sm_70, sm_75, sm_80, sm_86, "
                             "sm_90, sm_90a, and no PTX"),
                    evidence("12.9.1-cudnn-runtime-ubuntu22.04 is of CUDA 12.9.1, which the wheel "
                             "does not use: it was built with CUDA 12.6"),
                    evidence("is of CUDA 13.0.1, which the wheel does not use")));
  EXPECT_THAT(commands(found), ElementsAre("/opt/venv/bin/python -m pip install torch==2.7.1+cu128 "
                                           "torchaudio==2.7.1+cu128 --index-url "
                                           "https://download.pytorch.org/whl/cu128"));
  EXPECT_EQ(found.remedies.front().cost, "");
}

TEST(Cases, TorchForCuda128WorksOnRtx5090AndForCuda121IsTooOld) {
  EXPECT_EQ(only_outcome(report_of(
                facts_with(known("torch", "2.7.1+cu128"), "GeForce RTX 5090", "580.82.07"))),
            Outcome::Works);
  Facts facts = facts_with(known("torch", "2.2.0+cu121"), "GeForce RTX 5090", "580.82.07");
  Package needs;
  needs.name = "somebody";
  needs.version = "1.0";
  needs.requires_ = {"torch<2.3", "torch<2.4; extra == \"old\""};
  facts.environments.front().packages.push_back(needs);
  const Report report = report_of(facts);
  EXPECT_EQ(only_outcome(report), Outcome::FailsAtFirstKernel);
  const Finding& found = report.findings.front();
  // The nearest release that has code for it, and what that breaks.
  EXPECT_THAT(commands(found), ElementsAre("pip install torch==2.7.0+cu128 --index-url "
                                           "https://download.pytorch.org/whl/cu128"));
  EXPECT_EQ(found.remedies.front().cost, "somebody 1.0 asks for torch<2.3");
}

TEST(Cases, Torch210OnTitanXpHasFourWaysOut) {
  const Report report = report_of(facts_of("titan_xp_torch_2.10"));
  EXPECT_EQ(only_outcome(report), Outcome::FailsAtFirstKernel);
  ASSERT_EQ(report.findings.size(), 1U);
  const Finding& found = report.findings.front();
  EXPECT_EQ(found.level, Level::Fail);
  EXPECT_THAT(found.evidence, evidence("holds sm_70, sm_75"));
  EXPECT_THAT(
      commands(found),
      ElementsAre(
          "/home/user/venv/bin/python -m pip install torch==2.10.0+cu126 --index-url "
          "https://download.pytorch.org/whl/cu126",
          StartsWith("/home/user/venv/bin/python -m pip install ctranslate2==4.6.3 "
                     "nvidia-cublas-cu12 && export "
                     "LD_LIBRARY_PATH="),
          StartsWith(
              "/home/user/venv/bin/python -m pip install 'onnxruntime-gpu[cuda,cudnn]==1.23.2' "
              "'nvidia-cudnn-cu12<=9.10.2.21' && export LD_LIBRARY_PATH="),
          "mynah transcribe RECORDING"));
  EXPECT_THAT(found.remedies.front().text, HasSubstr("not later than branch 580"));
  for (const Remedy& remedy : found.remedies) {
    EXPECT_THAT(remedy.text, Not(HasSubstr("buy")));
  }
}

TEST(Cases, ATitanXpUnderANewerDriverGetsItsLastDriverBack) {
  Facts facts = facts_of("titan_xp_torch_2.10");
  facts.machine.driver = "595.71.05";
  const Report report = report_of(facts);
  EXPECT_EQ(only_outcome(report), Outcome::FailsAtLoad);
  const Finding& found = report.findings.front();
  EXPECT_EQ(found.rule, "card dropped by driver");
  // This torch has no code for it even then.
  EXPECT_THAT(
      commands(found),
      ElementsAre("/home/user/venv/bin/python -m pip install torch==2.10.0+cu126 --index-url "
                  "https://download.pytorch.org/whl/cu126"));
  EXPECT_THAT(found.remedies.front().text,
              HasSubstr("not later than branch 580: put that one back in first"));
}

TEST(Cases, AnOnnxRuntimeWithoutItsLibrariesComputesOnTheProcessorWithoutAWord) {
  const Report report = report_of(facts_of("blackwell_onnxruntime_12"));
  EXPECT_EQ(only_outcome(report), Outcome::WorksSlowly);
  ASSERT_EQ(report.findings.size(), 1U);
  const Finding& found = report.findings.front();
  EXPECT_EQ(found.level, Level::Warning);
  EXPECT_EQ(found.certainty, Certainty::Certain);
  EXPECT_THAT(found.evidence,
              AllOf(evidence("libcublasLt.so.12, which libonnxruntime_providers_cuda.so needs, is "
                             "nowhere to be found"),
                    evidence("libcudnn.so.9, which"), evidence("libcudart.so.12, which"),
                    evidence("/home/builder/cuda/lib64, a folder of the machine that built it")));
  const std::string site = "/srv/asr/lib/python3.11/site-packages";
  EXPECT_THAT(
      commands(found),
      ElementsAre(AllOf(
          StartsWith(
              "/srv/asr/bin/python -m pip install 'onnxruntime-gpu[cuda,cudnn]==1.23.2' && export "
              "LD_LIBRARY_PATH=\""),
          HasSubstr(site + "/nvidia/cublas/lib:"), HasSubstr(site + "/nvidia/cudnn/lib"),
          Not(HasSubstr("ln -s")))));
}

TEST(Cases, AnOnnxRuntimeForCuda11IsNotReliedOnWhereAPathWouldMakeItLoad) {
  const Report report = report_of(facts_of("blackwell_onnxruntime_11"));
  EXPECT_EQ(only_outcome(report), Outcome::WorksSlowly);
  const Finding* missing = finding(report, "library missing");
  const Finding* old = finding(report, "cuda older than card");
  ASSERT_TRUE(missing != nullptr && old != nullptr);
  EXPECT_EQ(missing->level, Level::Warning);
  EXPECT_THAT(missing->evidence, evidence("is not on the loader's way, but at /srv/asr/lib"));
  EXPECT_EQ(old->level, Level::Unknown);
  EXPECT_THAT(old->text, HasSubstr("cannot be relied on"));
  // Not the path alone.
  EXPECT_THAT(commands(*missing),
              ElementsAre(StartsWith(
                  "/srv/asr/bin/python -m pip install 'onnxruntime-gpu[cuda,cudnn]==1.23.2' && ")));
}

TEST(Cases, TwoModelsDoNotFitOnASmallCardAndThePlanDoes) {
  const Report report = report_of(facts_of("small_card_two_models"));
  ASSERT_EQ(report.findings.size(), 1U);
  const Finding& found = report.findings.front();
  EXPECT_EQ(found.level, Level::Fail);
  EXPECT_EQ(found.subject, "whisper large-v3 with kokoro");
  EXPECT_THAT(found.text, HasSubstr("8.0 GiB to 12.0 GiB, with 2.0 GiB that are to stay free"));
  ASSERT_EQ(found.remedies.size(), 1U);
  EXPECT_EQ(found.remedies.front().text,
            "Hold at most 4608 MiB on the card, of 6140 (8188 less 2048 that stay free):");
  EXPECT_THAT(
      found.remedies.front().steps,
      ElementsAre(
          RemedyStep{
              "WhisperModel(\"large-v3\", device=\"cuda\", compute_type=\"int8\")",
              "whisper large-v3 as int8, with faster-whisper, on the card: 3091 to 4608 MiB."},
          RemedyStep{"", "kokoro on the processor: nothing of the card."}));
  ASSERT_EQ(report.plans.size(), 1U);
  const MemoryPlan& plan = report.plans.front();
  EXPECT_EQ(plan.memory_mib, 8188U);
  EXPECT_EQ(plan.headroom_mib, 2048U);
  EXPECT_EQ(plan.taken_mib, 4608U);
  ASSERT_EQ(plan.models.size(), 2U);
  EXPECT_EQ(plan.models[0].storage, "int8");
  EXPECT_FALSE(plan.models[0].as_asked_for);
  EXPECT_THAT(plan.models[0].source, HasSubstr("nobody verified it"));
  EXPECT_FALSE(plan.models[1].on_card);
  // Nobody measured another TTS smaller, so it goes to the processor; a bigger card holds both.
  Facts bigger = facts_of("small_card_two_models");
  bigger.machine.cards.front().memory_mib = 12288;
  const Report fits = report_of(bigger);
  ASSERT_EQ(fits.plans.size(), 1U);
  EXPECT_EQ(fits.plans.front().taken_mib, 6144U + 4096U);
  EXPECT_TRUE(fits.plans.front().models[1].on_card);
}

TEST(Cases, ARemedyForACompanionIsOfAReleaseAndSaysWhatItBreaks) {
  const auto companion = [](const char* torch, const char* torchaudio) {
    Facts facts;
    PythonEnvironment& environment = facts.environments.emplace_back();
    environment.kind = "uv";
    for (const auto& [name, version] :
         {std::pair("torch", torch), {"torchaudio", torchaudio}, {"pyannote-audio", "3.3.2"}}) {
      Package& package = environment.packages.emplace_back();
      package.name = name;
      package.version = version;
    }
    const Report report = diagnose(facts, builtin_knowledge());
    const auto found = std::ranges::find(report.findings, "torch companion", &Finding::rule);
    return found == report.findings.end() || found->remedies.empty() ? Remedy()
                                                                     : found->remedies.front();
  };
  const Remedy good = companion("2.5.1+cu124", "2.4.1");
  EXPECT_THAT(good.command, StartsWith("uv pip install torchaudio==2.5.1+cu124 --index-url"));
  EXPECT_EQ(good.cost, "");
  EXPECT_THAT(companion("2.9.0+cu128", "2.8.0").cost,
              HasSubstr("torchaudio>=2.9 beside pyannote-audio<4"));
}

TEST(Cases, WhatAModelTakesThatNobodyReadIsAtMostUnknown) {
  Facts facts = facts_of("small_card_two_models");
  for (WantedModel& model : facts.wanted) {
    model.least_mib = model.most_mib = {};
  }
  EXPECT_EQ(report_of(facts).findings.front().level, Level::Unknown);
  facts.machine.cards.front().memory_mib = 24576;
  EXPECT_EQ(report_of(facts).findings.front().level, Level::Good);
  facts.wanted = {{.name = "a model of somebody", .storage = "", .least_mib = {}, .most_mib = {}}};
  EXPECT_EQ(report_of(facts).findings.front().level, Level::Unknown);
}

TEST(Cases, HealthyEnvironmentsWorkAndNothingIsSaid) {
  for (const auto& [name, version, card, driver] :
       std::vector<std::tuple<const char*, const char*, const char*, const char*>>{
           {"torch", "2.7.1+cu126", "GeForce RTX 4090", "560.35.05"},
           {"torch", "2.8.0+cu128", "Tesla V100", "570.124.06"},
           {"torch", "2.12.0+cu130", "GeForce RTX 5090", "580.95.05"},
           {"onnxruntime-gpu", "1.23.2", "GeForce GTX 1080 Ti", "535.54.03"},
           {"onnxruntime-gpu", "1.31.1", "Tesla T4", "580.95.05"},
           {"onnxruntime-gpu", "1.31.1", "GeForce RTX 4090", "580.95.05"},
           {"onnxruntime-gpu", "1.31.1", "H100", "580.95.05"},
           {"onnxruntime-gpu", "1.31.1", "GeForce RTX 5090", "580.95.05"},
           {"ctranslate2", "4.8.1", "GeForce RTX 3060", "535.54.03"},
           {"ctranslate2", "4.4.0", "GeForce GTX 1080", "525.60.13"}}) {
    const Report report = report_of(facts_with(known(name, version), card, driver));
    EXPECT_EQ(only_outcome(report), Outcome::Works) << name << " " << version << " on " << card;
    EXPECT_THAT(report.findings, IsEmpty()) << name << " " << version << " on " << card;
  }
}

TEST(Cases, TheNewestOnnxRuntimeHasNoCodeForTwoBlackwells) {
  for (const char* card : {"B200", "GB10"}) {
    Facts facts = facts_with(known("onnxruntime-gpu", "1.31.1"), card, "580.95.05");
    facts.machine.processor_flags = {"avx2", "fma"};  // its wheel for x86-64
    const Report report = report_of(facts);
    EXPECT_EQ(only_outcome(report), Outcome::FailsAtFirstKernel) << card;
    EXPECT_THAT(report.findings.front().error, HasSubstr("cudaErrorNoKernelImageForDevice"));
    EXPECT_THAT(commands(report.findings.front()),
                ElementsAre(StartsWith("pip install 'onnxruntime-gpu[cuda,cudnn]==1.23.2'")));
  }
}

TEST(Cases, WithoutACardOfNvidiasNothingFails) {
  Facts facts = facts_of("rtx5090_torch_cu126");
  facts.machine.cards.front().vendor = "1002";
  facts.machine.cards.front().compute_capability = "";
  Framework& torch = facts.environments.front().frameworks.front();
  torch.wants = {{.library = "libcudart.so.12",
                  .want = Want::Needed,
                  .by = "/opt/venv/lib/python3.11/site-packages/torch/lib/libtorch_cuda.so",
                  .found = "",
                  .via = "",
                  .elsewhere = {},
                  .dead_path = "",
                  .lacks = {}}};
  EXPECT_LT(report_of(facts).worst(), Level::Fail);
  facts.machine.cards.clear();
  EXPECT_LT(report_of(facts).worst(), Level::Fail);
  torch.wants.clear();
  const Report report = report_of(facts);
  EXPECT_EQ(only_outcome(report), Outcome::WorksSlowly);
  EXPECT_EQ(report.worst(), Level::Note);
  EXPECT_EQ(report.verdicts.front().card, "");
}

// Whether the driver ignores a card is one question, and has one answer: in the machine's finding
// and in the framework's.
TEST(Cases, ACardThatTheDriverDroppedIsAsCertainForAFrameworkAsForTheMachine) {
  Facts facts = facts_with(known("torch", "2.8.0+cu126"), "TITAN Xp", "595.71.05");
  Card& card = facts.machine.cards.front();
  card.pci = "0000:01:00.0";
  for (const auto& [held, level] :
       {std::pair("", Level::Fail), std::pair("nvidia", Level::Unknown)}) {
    card.kernel_driver = held;
    const Report report = diagnose(facts, builtin_knowledge());
    const Finding* const machine = finding(report, "driver dropped card");
    ASSERT_NE(machine, nullptr) << held;
    EXPECT_EQ(machine->level, level) << held;
    const auto own = std::ranges::find_if(report.findings, [](const Finding& each) {
      return each.subject.starts_with("torch") && each.text.contains("ignore");
    });
    ASSERT_NE(own, report.findings.end()) << held;
    EXPECT_EQ(own->level, level) << held;
    EXPECT_EQ(own->certainty, machine->certainty) << held;
  }
}

// A card's name says as much as its compute capability.
TEST(Cases, ACardByItsNameAloneGetsTheMachinesRules) {
  const auto judged = [](const char* card, const char* capability) {
    Facts facts;
    facts.machine.driver = "595.71.05";
    facts.machine.cards.emplace_back();
    facts.machine.cards.back().name = card;
    facts.machine.cards.back().compute_capability = capability;
    return diagnose(facts, builtin_knowledge());
  };
  const Report by_name = judged("TITAN Xp", "");
  const Report by_number = judged("TITAN Xp", "6.1");
  ASSERT_NE(finding(by_number, "driver dropped card"), nullptr);
  ASSERT_EQ(by_name.findings.size(), by_number.findings.size());
  for (size_t i = 0; i < by_name.findings.size(); ++i) {
    EXPECT_EQ(by_name.findings[i].rule, by_number.findings[i].rule);
    EXPECT_EQ(by_name.findings[i].level, by_number.findings[i].level);
    EXPECT_EQ(by_name.findings[i].text, by_number.findings[i].text);
  }
  // A name that nobody knows says nothing.
  EXPECT_EQ(finding(judged("GeForce RTX 9999", ""), "driver dropped card"), nullptr);
}

// Which module the kernel has was told, and where the card sits on the bus adds nothing to that.
TEST(Cases, TheClosedModuleFailsForACardByItsNameAlone) {
  Facts facts;
  facts.machine.driver = "570.86.15";
  facts.machine.closed_kernel_module = true;
  facts.machine.cards.emplace_back();
  facts.machine.cards.back().name = "NVIDIA GeForce RTX 5090";
  facts.machine.cards.back().kernel_driver = "nvidia";
  const Report by_name = diagnose(facts, builtin_knowledge());
  facts.machine.cards.front().pci = "0000:01:00.0";
  facts.machine.cards.front().compute_capability = "12.0";
  const Report by_all = diagnose(facts, builtin_knowledge());
  const Finding* const one = finding(by_name, "closed kernel module");
  const Finding* const other = finding(by_all, "closed kernel module");
  ASSERT_NE(one, nullptr);
  ASSERT_NE(other, nullptr);
  EXPECT_EQ(one->level, Level::Fail);
  EXPECT_EQ(*one, *other);
  // Inside of a container the host's module is the host's affair.
  facts.machine.cards.front().pci.clear();
  facts.machine.container.inside = true;
  EXPECT_EQ(finding(diagnose(facts, builtin_knowledge()), "closed kernel module"), nullptr);
}

// Where the card sits is no reason to say less: a driver that is too old says why it lacks the
// card.
TEST(Cases, ADriverThatIsTooOldIsSaidOfACardOnTheBusAsOfItsName) {
  Facts facts;
  facts.machine.driver = "550.54.14";
  facts.machine.cards.emplace_back();
  facts.machine.cards.back().name = "NVIDIA GeForce RTX 5090";
  const Report by_name = diagnose(facts, builtin_knowledge());
  facts.machine.cards.back().pci = "0000:01:00.0";
  facts.machine.cards.back().compute_capability = "12.0";
  const Report by_all = diagnose(facts, builtin_knowledge());
  ASSERT_NE(finding(by_name, "driver too old"), nullptr);
  ASSERT_NE(finding(by_all, "driver too old"), nullptr);
  EXPECT_EQ(*finding(by_all, "driver too old"), *finding(by_name, "driver too old"));
  EXPECT_EQ(finding(by_all, "card without driver"), nullptr);
}

// Facts by hand: what they do not mention is unknown, in the findings as in the table.
TEST(Cases, ALibraryOfTheDriverThatFactsDoNotMentionIsNotMissing) {
  Facts facts = facts_of("rtx5090_torch_cu126");
  facts.machine.driver_libraries.clear();
  facts.machine.library_folders = {"/usr/lib/x86_64-linux-gnu"};
  EXPECT_EQ(finding(diagnose(facts, builtin_knowledge()), "driver library missing"), nullptr);
}

TEST(Cases, TheSameOfSeveralCardsIsSaidOnce) {
  Facts facts = facts_of("rtx5090_torch_cu126");
  facts.machine.cards.push_back(facts.machine.cards.front());
  facts.machine.cards.back().name = "NVIDIA GeForce RTX 5080";
  const Report report = report_of(facts);
  EXPECT_EQ(report.verdicts.size(), 2U);
  ASSERT_EQ(report.findings.size(), 1U);
  EXPECT_EQ(report.findings.front().card, "NVIDIA GeForce RTX 5090, NVIDIA GeForce RTX 5080");
  // Two of one kind are one.
  facts.machine.cards.back() = facts.machine.cards.front();
  EXPECT_EQ(report_of(facts).verdicts.size(), 1U);
}

TEST(Cases, TheWorstComesFirst) {
  Facts facts = facts_of("rtx5090_torch_cu126");
  facts.environments.push_back(facts_of("blackwell_onnxruntime_11").environments.front());
  std::swap(facts.environments.front(), facts.environments.back());
  const Report report = report_of(facts);
  EXPECT_TRUE(std::ranges::is_sorted(report.findings, std::ranges::greater(), &Finding::level));
  EXPECT_EQ(report.findings.front().level, Level::Fail);
}

}  // namespace mynah::doctor
