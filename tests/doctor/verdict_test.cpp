// Verdicts on frameworks as the knowledge base has them, and on facts that are written down.
#include "doctor/verdicts/verdict.h"

#include <array>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "doctor/diagnose.h"
#include "doctor/known_frameworks.h"
#include "doctor/verdicts/coverage.h"
#include "doctor/verdicts/remedy_plan.h"

namespace mynah::doctor {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

// The same as its own files show it where its libraries are found.
Framework read_here(Framework framework) {
  framework.source.clear();
  framework.wants.clear();
  return framework;
}

Card card(const char* name) {
  Card card;
  card.name = name;
  card.vendor = "10de";
  card.kernel_driver = "nvidia";
  return card;
}

Machine machine(const char* card_name, const char* driver) {
  Machine machine;
  machine.cards = {card(card_name)};
  machine.driver = driver;
  return machine;
}

Judged judge(const Framework& framework, const char* card_name, const char* driver) {
  const Machine at = machine(card_name, driver);
  return judge_framework(framework, at.cards.data(), at, builtin_knowledge());
}

Outcome outcome(const Framework& framework, const char* card_name, const char* driver) {
  return judge(framework, card_name, driver).verdict.outcome;
}

}  // namespace

TEST(Verdict, TorchRunsOnTheCardsItsVariantHasCodeFor) {
  EXPECT_EQ(outcome(known("torch", "2.7.1+cu126"), "RTX 5090", "575.57.08"),
            Outcome::FailsAtFirstKernel);
  EXPECT_EQ(outcome(known("torch", "2.7.1+cu128"), "RTX 5090", "575.57.08"), Outcome::Works);
  EXPECT_EQ(outcome(known("torch", "2.7.1+cu126"), "RTX 4090", "560.35.05"), Outcome::Works);
  EXPECT_EQ(outcome(known("torch", "2.10.0+cu128"), "TITAN Xp", "580.95.05"),
            Outcome::FailsAtFirstKernel);
  EXPECT_EQ(outcome(known("torch", "2.10.0+cu126"), "TITAN Xp", "580.95.05"), Outcome::Works);
  EXPECT_EQ(outcome(known("torch", "2.10.0+cu126"), "TITAN Xp", "595.71.05"), Outcome::FailsAtLoad);
  EXPECT_EQ(outcome(known("torch", "2.12.0+cu130"), "RTX 4090", "550.163.01"),
            Outcome::FailsAtLoad);
}

TEST(Verdict, OnnxRuntimeRunsOnTheCardsItsProviderHasCodeFor) {
  const Framework newest = known("onnxruntime-gpu", "1.31.1");
  EXPECT_EQ(outcome(newest, "Tesla T4", "580.95.05"), Outcome::Works);
  EXPECT_EQ(outcome(newest, "RTX 4090", "580.95.05"), Outcome::Works);
  EXPECT_EQ(outcome(newest, "H100", "580.95.05"), Outcome::Works);
  EXPECT_EQ(outcome(newest, "RTX 5090", "580.95.05"), Outcome::Works);
  EXPECT_EQ(outcome(newest, "B200", "580.95.05"), Outcome::FailsAtFirstKernel);
  // Its Python code prints the error of a driver too old, and takes the processor.
  EXPECT_EQ(outcome(newest, "RTX 4090", "550.54.14"), Outcome::WorksSlowly);
  EXPECT_EQ(judge(newest, "RTX 4090", "550.54.14").cause, Cause::DriverTooOld);
  // As its own files show it: nobody knows what the wheel for Arm holds.
  EXPECT_EQ(outcome(read_here(newest), "GB10", "580.95.05"), Outcome::FailsAtFirstKernel);
}

TEST(Verdict, PtxIsCompiledByDriversThatKnowItsLanguage) {
  const Framework framework = known("ctranslate2", "4.8.1");
  const Judged compiled = judge(framework, "RTX 5090", "570.86.15");
  EXPECT_EQ(compiled.verdict.outcome, Outcome::Works);
  EXPECT_EQ(compiled.cause, Cause::CompiledByDriver);
  EXPECT_TRUE(computes_on_card(compiled));
  EXPECT_FALSE(has_machine_code(compiled));
  ASSERT_EQ(compiled.findings.size(), 1u);
  EXPECT_EQ(compiled.findings.front().level, Level::Note);
  EXPECT_THAT(compiled.findings.front().text, HasSubstr("CUDA_CACHE_PATH"));
  EXPECT_TRUE(has_machine_code(judge(framework, "RTX 4090", "570.86.15")));
  const Judged old = judge(framework, "H100", "550.54.14");
  EXPECT_EQ(old.verdict.outcome, Outcome::FailsAtFirstKernel);
  EXPECT_EQ(old.cause, Cause::PtxTooNew);
  EXPECT_THAT(old.findings.front().error, HasSubstr("unsupported toolchain"));
  EXPECT_EQ(outcome(framework, "RTX 4090", "550.54.14"), Outcome::Works);
}

TEST(Verdict, PtxDoesNotHelpWhereTheDriverIsNotToCompileIt) {
  const Framework framework = known("ctranslate2", "4.8.1");
  Machine at = machine("RTX 5090", "570.86.15");
  at.variables["CUDA_DISABLE_PTX_JIT"] = "1";
  const Judged off = judge_framework(framework, at.cards.data(), at, builtin_knowledge());
  EXPECT_EQ(off.verdict.outcome, Outcome::Unknown);
  EXPECT_EQ(off.cause, Cause::CompilerOff);
  EXPECT_THAT(off.verdict.reason, HasSubstr("CUDA_DISABLE_PTX_JIT"));
  at.variables = {{"CUDA_DISABLE_PTX_JIT", "0"}, {"CUDA_CACHE_DISABLE", "1"}};
  const Judged every = judge_framework(framework, at.cards.data(), at, builtin_knowledge());
  EXPECT_EQ(every.verdict.outcome, Outcome::Works);
  EXPECT_THAT(every.findings.front().text, HasSubstr("every start while CUDA_CACHE_DISABLE"));
  // Machine code asks for no compiler.
  at = machine("RTX 4090", "570.86.15");
  at.variables["CUDA_DISABLE_PTX_JIT"] = "1";
  EXPECT_EQ(judge_framework(framework, at.cards.data(), at, builtin_knowledge()).verdict.outcome,
            Outcome::Works);
}

TEST(Verdict, MetadataWithoutFilesTellNothing) {
  Framework framework;
  framework.name = framework.package = "torch";
  framework.version = "2.7.1+cu126";
  framework.folder = "/layer/torch/lib";
  framework.unverified = {std::string(kNoFiles)};
  const Judged judged = judge(framework, "RTX 5090", "570.86.15");
  EXPECT_EQ(judged.verdict.outcome, Outcome::Unknown);
  EXPECT_EQ(judged.cause, Cause::FilesMissing);
  EXPECT_THAT(judged.verdict.reason, HasSubstr("/layer/torch/lib is not"));
  ASSERT_EQ(judged.findings.size(), 1u);
  EXPECT_EQ(judged.findings.front().level, Level::Unknown);
  EXPECT_EQ(judge_framework(framework, nullptr, Machine(), builtin_knowledge()).verdict.outcome,
            Outcome::Unknown);
}

TEST(Verdict, CudnnWithoutCodeForTheCardFailsAtTheFirstLstm) {
  const Framework torch = known("torch", "2.10.0+cu126");
  const Machine at = machine("TITAN Xp", "580.95.05");
  PythonEnvironment environment;
  environment.packages.resize(1);
  environment.packages.front().name = "nvidia-cudnn-cu12";
  environment.packages.front().version = "9.28.0.10";
  const Judged late =
      judge_framework(torch, at.cards.data(), at, builtin_knowledge(), &environment);
  EXPECT_EQ(late.verdict.outcome, Outcome::FailsAtLstm);
  EXPECT_EQ(late.cause, Cause::CudnnCode);
  EXPECT_THAT(late.findings.front().text, HasSubstr("flatten_parameters"));
  environment.packages.front().version = "9.10.2.21";
  EXPECT_EQ(judge_framework(torch, at.cards.data(), at, builtin_knowledge(), &environment)
                .verdict.outcome,
            Outcome::Works);
  // One that nobody looked into.
  environment.packages.front().version = "9.15.0.1";
  EXPECT_EQ(judge_framework(torch, at.cards.data(), at, builtin_knowledge(), &environment)
                .verdict.outcome,
            Outcome::Works);
}

TEST(Verdict, GuessedWantsAndTextsInsideFilesNeverFail) {
  Framework torch = known("torch", "2.7.1+cu126");
  torch.source.clear();
  for (LibraryWant& want : torch.wants) {
    want.guessed = true;
  }
  EXPECT_EQ(outcome(torch, "RTX 4090", "560.35.05"), Outcome::Works);
  for (LibraryWant& want : torch.wants) {
    want.guessed = false;
  }
  EXPECT_EQ(outcome(torch, "RTX 4090", "560.35.05"), Outcome::FailsAtLoad);
}

TEST(Verdict, HiddenAndForeignCardsAreSaidPlainly) {
  const Framework torch = known("torch", "2.7.1+cu126");
  Machine at = machine("RTX 4090", "560.35.05");
  at.variables["CUDA_VISIBLE_DEVICES"] = "";
  const Judged hidden = judge_framework(torch, at.cards.data(), at, builtin_knowledge());
  EXPECT_EQ(hidden.verdict.outcome, Outcome::WorksSlowly);
  EXPECT_EQ(hidden.cause, Cause::CardHidden);
  at.variables["CUDA_VISIBLE_DEVICES"] = "0";
  EXPECT_EQ(judge_framework(torch, at.cards.data(), at, builtin_knowledge()).verdict.outcome,
            Outcome::Works);
  at.variables.clear();
  at.driver.clear();
  at.cards.front().kernel_driver = "nouveau";
  EXPECT_EQ(judge_framework(torch, at.cards.data(), at, builtin_knowledge()).cause,
            Cause::NoDriver);
  at.cards.front().vendor = "1002";
  const Judged amd = judge_framework(torch, at.cards.data(), at, builtin_knowledge());
  EXPECT_EQ(amd.cause, Cause::NoCard);
  EXPECT_EQ(amd.findings.front().level, Level::Note);
}

TEST(Verdict, OfTwoOnnxRuntimesTheFilesThatAreThereDecide) {
  const Framework framework = known("onnxruntime-gpu", "1.23.2");
  const Machine at = machine("RTX 4090", "560.35.05");
  PythonEnvironment environment;
  SharedPath& shared = environment.shared_paths.emplace_back();
  shared.path = "/venv/onnxruntime/__init__.py";
  shared.owners = {"onnxruntime", "onnxruntime-gpu"};
  const auto judged = [&](const char* winner) {
    shared.winner = winner;
    return judge_framework(framework, at.cards.data(), at, builtin_knowledge(), &environment)
        .verdict.outcome;
  };
  EXPECT_EQ(judged("onnxruntime"), Outcome::WorksSlowly);
  EXPECT_EQ(judged("onnxruntime-gpu"), Outcome::Works);
  EXPECT_EQ(judged(""), Outcome::Unknown);
}

TEST(Verdict, FilesForTheProcessorOverThoseForCardsAreTheOnlyReason) {
  // As a real environment had it: the CUDA provider stays behind, and lacks its libraries.
  Facts facts;
  facts.machine = machine("RTX 4090", "570.86.10");
  PythonEnvironment& environment = facts.environments.emplace_back();
  environment.path = "/srv/my asr";
  environment.kind = "venv";
  environment.python = "3.11";
  for (const auto& [name, version] :
       {std::pair("onnxruntime", "1.23.2"), std::pair("onnxruntime-gpu", "1.22.0")}) {
    Package& package = environment.packages.emplace_back();
    package.name = name;
    package.version = version;
    package.folder = "/srv/my asr/lib/python3.11/site-packages";
  }
  SharedPath& shared = environment.shared_paths.emplace_back();
  shared.path = environment.packages.front().folder + "/onnxruntime/capi/pybind.so";
  shared.owners = {"onnxruntime", "onnxruntime-gpu"};
  Framework& framework = environment.frameworks.emplace_back();
  framework.name = "onnxruntime";
  framework.package = "onnxruntime";
  framework.version = "1.23.2";
  framework.cuda = "12";
  LibraryWant& want = framework.wants.emplace_back();
  want.library = "libcublasLt.so.12";
  want.by = "/x/libonnxruntime_providers_cuda.so";
  const auto said = [&](const char* winner) {
    shared.winner = winner;
    std::vector<Finding> findings = diagnose(facts, builtin_knowledge()).findings;
    std::erase_if(findings, [](const Finding& finding) { return finding.level < Level::Warning; });
    return findings;
  };
  const std::vector<Finding> lost = said("onnxruntime");
  ASSERT_EQ(lost.size(), 1U);
  EXPECT_EQ(lost[0].rule, "packages overwrite each other");
  ASSERT_EQ(lost[0].remedies.size(), 1U);
  EXPECT_THAT(lost[0].remedies[0].command,
              StartsWith("'/srv/my asr/bin/python' -m pip uninstall -y onnxruntime "
                         "onnxruntime-gpu && '/srv/my asr/bin/python' -m pip install "
                         "'onnxruntime-gpu[cuda,cudnn]==1.22.0' && export LD_LIBRARY_PATH="));
  // The other one was installed last: its libraries are what is missing.
  framework.package = "onnxruntime-gpu";
  framework.version = "1.22.0";
  const std::vector<Finding> won = said("onnxruntime-gpu");
  ASSERT_EQ(won.size(), 2U);
  EXPECT_EQ(won[0].rule, "library missing");
  ASSERT_FALSE(won[0].remedies.empty());
  EXPECT_THAT(won[0].remedies[0].command,
              StartsWith("'/srv/my asr/bin/python' -m pip install "
                         "'onnxruntime-gpu[cuda,cudnn]==1.22.0' && export"));
  EXPECT_EQ(won[1].rule, "clash");
  EXPECT_EQ(won[1].evidence.back().text, "the files that are there are those of onnxruntime-gpu");
}

TEST(Verdict, RemediesNameTheInterpreterOfTheirEnvironment) {
  PythonEnvironment environment;
  const auto command = [&](const char* kind, const char* path, System system = System::Linux) {
    environment.kind = kind;
    environment.path = path;
    environment.system = system;
    return install_command(environment);
  };
  environment.python = "3.11";
  EXPECT_EQ(command("venv", "/srv/asr"), "/srv/asr/bin/python -m pip install");
  EXPECT_EQ(command("conda", "/opt/conda"), "/opt/conda/bin/python -m pip install");
  EXPECT_EQ(command("system", "/usr"), "/usr/bin/python3.11 -m pip install");
  EXPECT_EQ(command("uv", "/srv/asr"), "uv pip install --python /srv/asr/bin/python");
  EXPECT_EQ(uninstall_command(environment), "uv pip uninstall --python /srv/asr/bin/python");
  EXPECT_EQ(command("venv", "C:\\asr", System::Windows),
            "'C:\\asr\\Scripts\\python.exe' -m pip install");
  // Nobody knows where it lies.
  EXPECT_EQ(command("venv", ""), "pip install");
  EXPECT_EQ(command("uv", ""), "uv pip install");
  EXPECT_EQ(command("poetry", ""), "poetry run pip install");
  EXPECT_EQ(command("wheel", "/x/torch.whl"), "pip install");
}

TEST(Verdict, SystemsOnAChipShareNoMachineCodeWithCards) {
  const Framework torch = read_here(known("torch", "2.7.1+cu126"));
  Machine at = machine("Jetson Orin", "540.4.0");
  at.cards.front().compute_capability = "8.7";
  EXPECT_EQ(judge_framework(torch, at.cards.data(), at, builtin_knowledge()).verdict.outcome,
            Outcome::FailsAtFirstKernel);
}

TEST(Verdict, ACardThatNobodyKnowsMayBeAJetsonsAndHasNoCertainFloor) {
  const Framework torch = known("torch", "2.12.0+cu130");
  Machine at = machine("a card of which nobody heard", "540.4.0");
  EXPECT_EQ(judge_framework(torch, at.cards.data(), at, builtin_knowledge()).verdict.outcome,
            Outcome::Unknown);
  at.cards.front().pci = "0000:01:00.0";
  EXPECT_EQ(judge_framework(torch, at.cards.data(), at, builtin_knowledge()).verdict.outcome,
            Outcome::FailsAtLoad);
}

// Wheels for Arm are others than those that the knowledge base has.
TEST(Verdict, BesideAnArmProcessorWhatIsKnownOfWheelsTellsNothing) {
  const Framework torch = known("torch", "2.7.1+cu126");
  for (const char* const name : {"GB10", "GH200", "Jetson AGX Orin"}) {
    const Judged judged = judge(torch, name, "580.95.05");
    EXPECT_EQ(judged.verdict.outcome, Outcome::Unknown) << name;
    EXPECT_THAT(judged.verdict.reason, HasSubstr("aarch64")) << name;
    EXPECT_EQ(judged.findings.front().level, Level::Unknown) << name;
  }
  Machine at = machine("RTX 5090", "580.95.05");
  const auto outcome_here = [&](const Framework& framework) {
    return judge_framework(framework, at.cards.data(), at, builtin_knowledge()).verdict.outcome;
  };
  at.processor_flags = {"fp", "asimd"};
  EXPECT_EQ(outcome_here(torch), Outcome::Unknown);
  EXPECT_EQ(outcome_here(read_here(torch)), Outcome::FailsAtFirstKernel);
  EXPECT_EQ(outcome_here(mynah_framework()), Outcome::Works);
  EXPECT_EQ(outcome_here(known("torch", "2.7.1+cpu")), Outcome::WorksSlowly);
  at.processor_flags = {"avx2"};
  EXPECT_EQ(outcome_here(torch), Outcome::FailsAtFirstKernel);
}

// A driver knows no card that came after it, whatever programs it starts.
TEST(Verdict, ADriverFromBeforeTheCardIsNotLikelyToKnowIt) {
  const Framework torch = known("torch", "2.5.1+cu118");
  for (const auto& [card, old, good] :
       std::vector<std::array<const char*, 3>>{{"RTX 4090", "515.65.01", "520.61.05"},
                                               {"RTX 3060", "450.80.02", "455.23.05"},
                                               {"H100", "515.65.01", "520.61.05"}}) {
    const Judged judged = judge(torch, card, old);
    EXPECT_EQ(judged.cause, Cause::DriverTooOld) << card;
    EXPECT_EQ(judged.verdict.outcome, Outcome::Unknown) << card;
    EXPECT_EQ(outcome(torch, card, good), Outcome::Works) << card;
  }
  EXPECT_EQ(outcome(torch, "GTX 1080", "450.80.02"), Outcome::Works);
  EXPECT_EQ(outcome(torch, "Tesla T4", "450.80.02"), Outcome::Works);
}

TEST(Verdict, BuildsThatDoNotUseCudaAreNotJudged) {
  Framework directml;
  directml.name = "onnxruntime";
  directml.package = "onnxruntime-directml";
  directml.version = "1.20.0";
  directml.cuda = "";
  const Judged judged = judge(directml, "RTX 4090", "572.61");
  EXPECT_EQ(judged.verdict.outcome, Outcome::Unknown);
  EXPECT_EQ(judged.findings.front().level, Level::Note);
  Framework rocm = known("torch", "2.7.1+cpu");
  rocm.version = "2.7.1+rocm6.3";
  EXPECT_EQ(outcome(rocm, "RTX 4090", "570.124.06"), Outcome::WorksSlowly);
}

}  // namespace mynah::doctor
