// Judge: device code, of the framework and of the libraries that it computes with.
#include <algorithm>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "doctor/verdicts/judge.h"
#include "doctor/verdicts/known_framework.h"

namespace mynah::doctor {

namespace {

// How much of a file must fit a card before the rest counts as fast paths that are missing, and how
// much of it may fit although it does not: in hundredths of its general units.
constexpr uint64_t kLeastShare = 5;

bool enough(uint64_t units, const Coverage& coverage) {
  return units * 100 >= coverage.general() * kLeastShare && units > 0;
}

bool is_switched_on(const Machine& machine, std::string_view variable) {
  const auto found = machine.variables.find(std::string(variable));
  return found != machine.variables.end() && !found->second.empty() && found->second != "0";
}

}  // namespace

void Judge::look_at_code() {
  if (target_.capability == 0) {
    Problem& problem = add(Cause::CardUnknown, Outcome::Unknown);
    problem.reason = "what the card can run is not known";
    problem.text = "Neither the card nor the knowledge base says what its compute capability is.";
    return;
  }
  const std::vector<const DeviceCode*> files = deciding_code(framework_);
  if (files.empty()) {
    if (!is_cuda_library(framework_)) {
      Problem& problem = add(Cause::CodeUnknown, Outcome::Unknown);
      problem.reason = "which cards its device code is for is not known";
      problem.text = framework_.source.empty() && !framework_.folder.empty()
                         ? "None of its files was read that says which cards its code is for."
                         : "The knowledge base has no list of the cards that this release's code "
                           "is for.";
    }
    return;
  }
  Coverage coverage;
  for (const DeviceCode* file : files) {
    cover(*file, target_, knowledge_, coverage);
  }
  judge_coverage(coverage, files);
}

void Judge::judge_coverage(const Coverage& coverage, const std::vector<const DeviceCode*>& files) {
  const bool certain = target_.sure && !doubts("code");
  if (enough(coverage.native, coverage)) {
    known_for_sure_ &= certain;
    return;
  }
  if (coverage.general() == 0) {
    if (coverage.special_here == 0) {
      add_code_problem(Cause::CodeUnknown, Outcome::Unknown, Certainty::Likely, files,
                       "its device code is for single architectures, and none is the card's",
                       "All its device code is for single architectures, none of them the card's; "
                       "whether it has other ways was not to be seen.");
    }
    return;
  }
  if (enough(coverage.native + coverage.compiled, coverage)) {
    add_compiled(files, certain && !doubts("ptx"));
    return;
  }
  if (enough(coverage.native + coverage.compiled + coverage.doubtful, coverage)) {
    add_code_problem(Cause::PtxTooNew, Outcome::Unknown, Certainty::Likely, files,
                     "it has PTX alone for the card, and whether the driver takes it is not known",
                     "For the card it has PTX alone, and whether the driver knows that version of "
                     "the language is not known.");
    return;
  }
  const bool driver_certain = certain && target_.driver_sure && machine_.compat_libraries.empty();
  if (enough(coverage.packed, coverage)) {
    Problem& problem = add_code_problem(
        Cause::Packed, Outcome::FailsAtFirstKernel, sure(driver_certain && !doubts("compression")),
        files,
        fmt::format("its device code is packed with zstd, which driver {} cannot read",
                    machine_.driver),
        fmt::format("Its machine code fits the card, but is packed with zstd, which drivers before "
                    "branch 550 cannot read, and the driver is {}.",
                    machine_.driver));
    problem.error = "CUDA error: device kernel image is invalid";
    driver_evidence(problem);
    note(problem, "zstd");
    return;
  }
  if (enough(coverage.too_new, coverage)) {
    Problem& problem = add_code_problem(
        Cause::PtxTooNew, Outcome::FailsAtFirstKernel, sure(driver_certain && !doubts("ptx")),
        files,
        fmt::format("it has PTX of CUDA {} alone for the card, and driver {} is older",
                    coverage.ptx_cuda, machine_.driver),
        fmt::format(
            "For the card it has PTX alone, of CUDA {}, and the driver {} does not know that "
            "version of the language.",
            coverage.ptx_cuda, machine_.driver));
    problem.error = "the provided PTX was compiled with an unsupported toolchain";
    driver_evidence(problem);
    note(problem, "ptx");
    return;
  }
  if (coverage.none < coverage.general()) {
    add_code_problem(Cause::NoCode, Outcome::Unknown, Certainty::Likely, files,
                     "next to nothing of its device code fits the card",
                     "Next to nothing of its device code fits the card: what does not may be "
                     "needed, or be fast paths alone.");
    return;
  }
  Problem& problem = add_code_problem(
      Cause::NoCode, Outcome::FailsAtFirstKernel, sure(certain), files,
      fmt::format("it has no code for sm_{}", target_.capability),
      fmt::format("It has neither machine code for sm_{} nor PTX that the driver could compile for "
                  "it: the first kernel fails{}.",
                  target_.capability,
                  framework_.name == "torch" ? " (in an LSTM already at flatten_parameters), while "
                                               "torch.cuda.is_available() still says True"
                                             : ""));
  problem.error = framework_.name == "onnxruntime"
                      ? "CUDA error cudaErrorNoKernelImageForDevice:no kernel image is available "
                        "for execution on the device"
                      : "CUDA error: no kernel image is available for execution on the device";
  note(problem, "sass");
}

// What these variables do: NVIDIA's CUDA Programming Guide, "CUDA Environment Variables".
void Judge::add_compiled(const std::vector<const DeviceCode*>& files, bool certain) {
  for (const std::string_view name : {"CUDA_DISABLE_PTX_JIT", "CUDA_DISABLE_JIT"}) {
    if (is_switched_on(machine_, name)) {
      Problem& problem = add_code_problem(
          Cause::CompilerOff, Outcome::FailsAtFirstKernel, Certainty::Likely, files,
          fmt::format("it has PTX alone for the card, and {} forbids the driver to compile it",
                      name),
          fmt::format("It has no machine code for the card, and {} forbids the driver to compile "
                      "its PTX: the first kernel fails.",
                      name));
      problem.error = "the PTX JIT compilation was disabled";
      problem.evidence.push_back({fmt::format("{} is set", name), "environment"});
      return;
    }
  }
  std::string text =
      "It has no machine code for the card: the driver compiles its PTX where it is first used. "
      "The first start takes longer by that, up to minutes; ";
  if (is_switched_on(machine_, "CUDA_CACHE_DISABLE")) {
    text += "so does every start while CUDA_CACHE_DISABLE is set.";
  } else {
    text += fmt::format(
        "what was made is kept in {}. Where later starts take as long: CUDA_CACHE_PATH names "
        "another folder, for containers one that outlives them, and CUDA_CACHE_MAXSIZE=4294967296 "
        "leaves most room.",
        machine_.system == System::Windows ? R"(%APPDATA%\NVIDIA\ComputeCache)"
                                           : "~/.nv/ComputeCache");
  }
  add_code_problem(Cause::CompiledByDriver, Outcome::Works, sure(certain), files,
                   "the driver compiles its PTX at the first use", std::move(text));
}

Problem& Judge::add_code_problem(Cause cause, Outcome outcome, Certainty certainty,
                                 const std::vector<const DeviceCode*>& files, std::string reason,
                                 std::string text) {
  Problem& problem = add(cause, outcome, certainty);
  problem.reason = std::move(reason);
  problem.text = std::move(text);
  for (const DeviceCode* file : files) {
    problem.evidence.push_back(
        {fmt::format("{} holds {}", file_name(file->file), code_text(*file)), where_of(*file)});
  }
  card_evidence(problem);
  over_ |= is_failure(outcome) && certainty == Certainty::Certain;
  return problem;
}

void Judge::look_at_cuda_library(std::string_view library) {
  const bool cudnn = library == "cudnn";
  if ((cudnn && framework_.cudnn.empty()) || target_.capability == 0 ||
      is_cuda_library(framework_)) {
    return;
  }
  const auto found = cuda_library_of(library, framework_, environment_, knowledge_);
  if (!found) {
    return;
  }
  for (const DeviceCode& code : found->code) {
    const std::string_view name = file_name(code.file);
    const bool decides = cudnn ? name.contains("cudnn_ops") || name.contains("cudnn_adv")
                               : name.starts_with("libcublas.so") || name.starts_with("cublas64_");
    Coverage coverage;
    cover(code, target_, knowledge_, coverage);
    if (!decides || coverage.general() == 0 || coverage.none < coverage.general()) {
      continue;
    }
    const bool lstm = cudnn && framework_.name == "torch";
    const bool certain =
        target_.sure && found->unverified.empty() && (environment_ != nullptr || !doubts("cudnn"));
    Problem& problem =
        add(cudnn ? Cause::CudnnCode : Cause::CublasCode,
            lstm ? Outcome::FailsAtLstm : Outcome::FailsAtFirstKernel, sure(certain));
    const std::string title = fmt::format("{} {}", cudnn ? "cuDNN" : "cuBLAS", found->version);
    problem.reason = fmt::format("{} has no code for sm_{}", title, target_.capability);
    problem.text =
        fmt::format("{} has no code for sm_{}: {}.", title, target_.capability,
                    !cudnn ? "the first product of matrices fails"
                    : lstm ? "the first LSTM fails, at flatten_parameters, and so do convolutions"
                           : "the first convolution or recurrent layer fails");
    problem.error = "no kernel image is available for execution on the device";
    problem.evidence.push_back({fmt::format("{} holds {}", name, code_text(code)),
                                found->source.empty() ? code.file : found->source});
    card_evidence(problem);
    return;
  }
}

void Judge::look_at_cuda_age() {
  const Architecture* architecture = knowledge_.architecture(capability_text(target_.capability));
  const int major = cuda_major_of(framework_, knowledge_);
  if (architecture == nullptr || major == 0 || framework_.name == kMynah ||
      major >= cuda_number(architecture->first_toolkit.value) / 100 ||
      std::ranges::any_of(problems_,
                          [](const Problem& problem) { return is_failure(problem.outcome); })) {
    return;
  }
  Problem& problem = add(Cause::CudaTooOld, Outcome::Unknown, Certainty::Likely);
  problem.reason = fmt::format("CUDA {} is older than the card, whose first is {}", major,
                               architecture->first_toolkit.value);
  problem.text = fmt::format(
      "cuBLAS and cuDNN of CUDA {} were made before there were {} cards, whose first CUDA "
      "version is "
      "{}: even where all of it loads, it cannot be relied on.",
      major, architecture->name, architecture->first_toolkit.value);
  card_evidence(problem);
  problem.evidence.push_back({fmt::format("CUDA {} is the first that compiles for the card",
                                          architecture->first_toolkit.value),
                              architecture->first_toolkit.source});
}

}  // namespace mynah::doctor
