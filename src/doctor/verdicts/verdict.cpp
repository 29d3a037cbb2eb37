#include "doctor/verdicts/verdict.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "doctor/verdicts/arm_machines.h"
#include "doctor/verdicts/judge.h"
#include "doctor/verdicts/known_framework.h"

namespace mynah::doctor {

namespace {

constexpr std::string_view kNvidia = "10de";

bool is_of_other_maker(const Card& card) {
  return !card.vendor.empty() && card.vendor != kNvidia;
}

std::string_view rule_of(Cause cause) {
  switch (cause) {
    case Cause::None:
      return "works";
    case Cause::NoCard:
      return "no card";
    case Cause::CardUnknown:
      return "card not known";
    case Cause::CardHidden:
      return "card hidden";
    case Cause::NoDriver:
      return "no driver";
    case Cause::DriverUnknown:
      return "driver not known";
    case Cause::DriverTooOld:
      return "driver too old";
    case Cause::CardDropped:
      return "card dropped by driver";
    case Cause::LibraryMissing:
      return "library missing";
    case Cause::LibraryMisfit:
      return "library misfit";
    case Cause::LibraryOnTheWay:
      return "library by import order";
    case Cause::Overwritten:
      return kOverwriteRule;
    case Cause::ProcessorBuild:
      return "processor build";
    case Cause::OtherBuild:
      return "build for other cards";
    case Cause::ProcessorTooOld:
      return "processor instructions";
    case Cause::NoCode:
      return "kernel image";
    case Cause::CompiledByDriver:
      return "compiled by the driver";
    case Cause::CompilerOff:
      return "ptx compiler off";
    case Cause::PtxTooNew:
      return "ptx too new";
    case Cause::Packed:
      return "device code packed";
    case Cause::CudnnCode:
      return "cudnn kernel image";
    case Cause::CublasCode:
      return "cublas kernel image";
    case Cause::CudaTooOld:
      return "cuda older than card";
    case Cause::CodeUnknown:
      return "device code not known";
    case Cause::FilesMissing:
      return "files not there";
  }
  return "";
}

}  // namespace

bool is_failure(Outcome outcome) {
  return outcome == Outcome::FailsAtLoad || outcome == Outcome::FailsAtFirstKernel ||
         outcome == Outcome::FailsAtLstm;
}

Judge::Judge(const Framework& framework, const Card* card, const Machine& machine,
             const PythonEnvironment* environment, const Knowledge& knowledge)
    : framework_(framework),
      card_(card),
      machine_(machine),
      environment_(environment),
      knowledge_(knowledge) {
  if (card != nullptr) {
    target_ = target_of(*card, machine, knowledge);
  }
}

Judged Judge::judge() {
  if (doubts(kNoFiles)) {
    add_no_files();
    return answer(false);
  }
  if (card_ != nullptr && is_unread_on_arm(framework_, *card_, machine_, knowledge_)) {
    add_unread_on_arm();
    return answer(false);
  }
  look_at_processor();
  look_at_overwritten(card_ != nullptr && !is_of_other_maker(*card_));
  look_at_libraries();
  const bool nvidia = look_at_card();
  look_at_build(nvidia);
  if (nvidia && !over_) {
    look_at_driver();
  }
  if (nvidia && !over_) {
    look_at_code();
  }
  if (nvidia && !over_) {
    look_at_cuda_library("cudnn");
    look_at_cuda_library("cublas");
  }
  if (nvidia && !stays_on_processor_) {
    look_at_cuda_age();
  }
  return answer(nvidia);
}

void Judge::add_no_files() {
  Problem& problem = add(Cause::FilesMissing, Outcome::Unknown);
  problem.reason = fmt::format("its metadata are there, and {} is not", framework_.folder);
  problem.text = fmt::format(
      "Its metadata are installed, and {}, where its libraries would lie, is not there: one layer "
      "of an image, or an installation that was interrupted. What it would do cannot be told; look "
      "at the whole image, or install it again.",
      framework_.folder);
  problem.evidence.push_back({"the metadata name this version", framework_.folder});
}

void Judge::add_unread_on_arm() {
  Problem& problem = add(Cause::CodeUnknown, Outcome::Unknown, Certainty::Likely);
  problem.reason = "what its build for Arm processors (aarch64) holds is not known";
  problem.text =
      "The processor is an Arm one (aarch64), and the knowledge base has wheels for x86-64 alone: "
      "whether this one has code for the card is not known. Builds for Arm may be for the "
      "processor alone.";
}

Problem& Judge::add(Cause cause, Outcome outcome, Certainty certainty) {
  Problem& problem = problems_.emplace_back();
  problem.cause = cause;
  problem.outcome = outcome;
  problem.certainty = certainty;
  return problem;
}

void Judge::note(Problem& problem, std::string_view id) const {
  if (const Note* note = knowledge_.note(id)) {
    problem.rules.push_back({note->text, note->source});
  }
}

bool Judge::doubts(std::string_view what) const {
  return std::ranges::find(framework_.unverified, what) != framework_.unverified.end();
}

Certainty Judge::sure(bool certain) const {
  return certain ? Certainty::Certain : Certainty::Likely;
}

std::string Judge::where_of(const DeviceCode& code) const {
  return framework_.source.empty() ? code.file : framework_.source;
}

void Judge::card_evidence(Problem& problem) const {
  const Product* product = card_->pci.empty() ? knowledge_.card(card_->name) : nullptr;
  problem.evidence.push_back({fmt::format("the card is of compute capability {} (sm_{})",
                                          capability_text(target_.capability), target_.capability),
                              product != nullptr ? product->source : card_->pci});
}

void Judge::driver_evidence(Problem& problem) const {
  std::string text = fmt::format("the driver is {}", machine_.driver);
  if (const DriverBranch* branch = knowledge_.branch(machine_.driver)) {
    text += fmt::format(", made for CUDA {}", branch->cuda);
    problem.evidence.push_back({std::move(text), branch->source});
  } else {
    problem.evidence.push_back({std::move(text), ""});
  }
}

bool Judge::look_at_card() {
  const bool other_maker = card_ != nullptr && is_of_other_maker(*card_);
  const bool nvidia = card_ != nullptr && !other_maker;
  const bool rocm = !framework_.hip.empty() || framework_.version.contains("+rocm");
  // "onnxruntime-directml", "onnxruntime-openvino": by other ways than CUDA.
  const bool other_way =
      framework_.package.starts_with("onnxruntime-") && framework_.package != "onnxruntime-gpu";
  if (rocm || other_way) {
    const bool unused = rocm && nvidia;
    Problem& problem = add(Cause::OtherBuild, unused ? Outcome::WorksSlowly : Outcome::Unknown);
    problem.quiet = !unused;
    problem.ends = over_ = stays_on_processor_ = true;
    problem.reason = rocm ? "it was built for AMD's cards" : "it computes by other ways than CUDA";
    problem.text = unused ? "It was built for AMD's cards: this one stays unused."
                   : rocm ? "It was built for AMD's cards, of which nothing is known here."
                          : "It computes by other ways than CUDA, of which nothing is known here.";
  } else if (!nvidia && framework_.cuda != "") {
    Problem& problem = add(Cause::NoCard, Outcome::WorksSlowly);
    problem.quiet = true;
    problem.reason = other_maker ? "the card is not NVIDIA's: it computes on the processor"
                                 : "there is no NVIDIA card: it computes on the processor";
    problem.text = other_maker
                       ? "This build is for NVIDIA's CUDA, and the card is of another maker: "
                         "it computes on the processor."
                       : "There is no NVIDIA card here, so this build for CUDA computes on "
                         "the processor.";
  }
  return nvidia;
}

void Judge::look_at_processor() {
  if (machine_.processor_flags.empty()) {
    return;
  }
  std::vector<std::string> missing;
  for (const std::string& feature : framework_.cpu_features) {
    if (std::ranges::find(machine_.processor_flags, feature) == machine_.processor_flags.end()) {
      missing.push_back(feature);
    }
  }
  if (missing.empty()) {
    return;
  }
  Problem& problem = add(Cause::ProcessorTooOld, Outcome::FailsAtLoad);
  problem.reason = fmt::format("the processor has no {}", fmt::join(missing, ", "));
  problem.text = fmt::format(
      "Its code for the processor was compiled for {}, which this processor does not have: it "
      "dies of an illegal instruction, whether a card is used or not.",
      fmt::join(missing, ", "));
  problem.error = "Illegal instruction (core dumped)";
  note(problem, "llama processor");
}

size_t Judge::deciding() const {
  const auto rank = [](const Problem& problem) {
    if (is_failure(problem.outcome) && problem.certainty == Certainty::Certain) {
      return problem.outcome == Outcome::FailsAtLoad          ? 0
             : problem.outcome == Outcome::FailsAtFirstKernel ? 2
                                                              : 3;
    }
    if (problem.ends) {
      return 1;
    }
    return problem.outcome == Outcome::Works ? 6 : problem.outcome == Outcome::WorksSlowly ? 5 : 4;
  };
  const auto first = std::ranges::min_element(problems_, {}, rank);
  return static_cast<size_t>(first - problems_.begin());
}

Finding Judge::finding_of(const Problem& problem, bool nvidia) const {
  Finding finding;
  finding.rule = rule_of(problem.cause);
  finding.certainty = problem.certainty;
  finding.subject = framework_title(framework_);
  finding.card = card_ == nullptr ? "" : card_->name;
  finding.text = problem.text;
  finding.evidence = problem.evidence;
  finding.evidence.insert(finding.evidence.end(), problem.rules.begin(), problem.rules.end());
  finding.error = problem.error;
  if (is_failure(problem.outcome)) {
    finding.level = !nvidia                                   ? Level::Warning
                    : problem.certainty == Certainty::Certain ? Level::Fail
                                                              : Level::Unknown;
  } else if (problem.outcome == Outcome::Works) {
    finding.level = Level::Note;
  } else if (problem.outcome == Outcome::WorksSlowly) {
    finding.level = problem.quiet ? Level::Note : Level::Warning;
  } else {
    finding.level = problem.quiet ? Level::Note : Level::Unknown;
  }
  return finding;
}

Judged Judge::answer(bool nvidia) {
  // A driver that nobody saw may be missing, or too old: only then, if nothing else is wrong.
  if (nvidia && machine_.driver.empty() && !target_.tegra && !over_ &&
      std::ranges::all_of(problems_, [](const Problem& problem) {
        return problem.outcome == Outcome::WorksSlowly || problem.outcome == Outcome::Works;
      })) {
    Problem& problem = add(Cause::DriverUnknown, Outcome::Unknown);
    problem.reason = "it has code for the card, and which driver there is is not known";
    problem.text = "It has code for the card. Which driver runs the card was not to be seen.";
  }
  Judged judged;
  judged.verdict.framework = framework_.name;
  judged.verdict.version = framework_.version;
  judged.verdict.card = card_ == nullptr ? "" : card_->name;
  if (problems_.empty()) {
    judged.certainty = sure(known_for_sure_);
    judged.verdict.outcome = Outcome::Works;
    judged.verdict.reason =
        !nvidia ? "it computes on the processor, as it was built to" : "it has code for the card";
    return judged;
  }
  const size_t first = deciding();
  std::rotate(problems_.begin(), problems_.begin() + static_cast<ptrdiff_t>(first),
              problems_.begin() + static_cast<ptrdiff_t>(first) + 1);
  const Problem& decided = problems_.front();
  judged.cause = decided.cause;
  judged.certainty = decided.certainty;
  judged.verdict.reason = decided.reason;
  const bool in_doubt =
      is_failure(decided.outcome) && (!nvidia || decided.certainty != Certainty::Certain);
  judged.verdict.outcome = in_doubt ? Outcome::Unknown : decided.outcome;
  for (const Problem& problem : problems_) {
    judged.findings.push_back(finding_of(problem, nvidia));
  }
  return judged;
}

std::string Judge::capital(std::string text) {
  if (!text.empty() && !text.starts_with("lib")) {
    text.front() = static_cast<char>(
        text.front() >= 'a' && text.front() <= 'z' ? text.front() - 'a' + 'A' : text.front());
  }
  return text;
}

Judged judge_framework(const Framework& framework, const Card* card, const Machine& machine,
                       const Knowledge& knowledge, const PythonEnvironment* environment) {
  return Judge(framework, card, machine, environment, knowledge).judge();
}

bool is_unread_on_arm(const Framework& framework, const Card& card, const Machine& machine,
                      const Knowledge& knowledge) {
  return !is_of_other_maker(card) && !framework.source.empty() && framework.name != kMynah &&
         framework.cuda != "" && is_beside_arm(card, machine, knowledge);
}

bool computes_on_card(const Judged& judged) {
  return judged.verdict.outcome == Outcome::Works;
}

bool has_machine_code(const Judged& judged) {
  return computes_on_card(judged) && judged.cause != Cause::CompiledByDriver;
}

std::string framework_title(const Framework& framework) {
  const std::string& name = framework.package.empty() ? framework.name : framework.package;
  return framework.version.empty() ? name : name + " " + framework.version;
}

}  // namespace mynah::doctor
