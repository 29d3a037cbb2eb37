// Rules about libraries of CUDA that a recipe leaves to the machine it is installed on.
#include <algorithm>
#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "doctor/recipes/alignment_parts.h"
#include "doctor/recipes/column_cublas.h"
#include "doctor/recipes/column_cudnn.h"
#include "doctor/recipes/column_libraries.h"
#include "doctor/recipes/installation_edits.h"
#include "doctor/recipes/machine_lacks.h"
#include "doctor/recipes/recipe_edits.h"
#include "doctor/recipes/recipe_rule_parts.h"
#include "doctor/verdicts/remedy_plan.h"

namespace mynah::doctor {

namespace {

// Packages that open libraries of CUDA by name.
constexpr std::string_view kOpeners[] = {"ctranslate2", "onnxruntime-gpu"};

// The CUDA that the note about CTranslate2's cuBLAS speaks of.
constexpr int kCudaOfNote = 12;

// What a wheel brings, in words: "nvidia-cudnn-cu12==9.*".
std::string words_of_wheel(std::string_view wheel) {
  return wheel.contains("cublas")  ? "it brings cuBLAS"
         : wheel.contains("cudnn") ? "it brings cuDNN"
                                   : "it brings what the CUDA provider opens besides";
}

// Lines that bring NVIDIA's wheels beside what asks for the package that opens their libraries.
std::vector<AlignmentEdit> wheel_edits(const Asked& asked, std::span<const std::string> wheels) {
  std::vector<AlignmentEdit> edits;
  for (const std::string& wheel : wheels) {
    edits.push_back(line_edit(asked, wheel, words_of_wheel(wheel)));
  }
  return edits;
}

// The line that shows the loader where those wheels lie.
RemedyStep path_step(int cuda_major, bool cudnn, bool onnxruntime, const Knowledge& knowledge) {
  std::string line = library_path_line(
      site_of({}, {}), wheel_folders(cuda_major, cudnn, onnxruntime, knowledge), System::Linux);
  constexpr std::string_view kAnd = " && ";
  line.erase(0, line.starts_with(kAnd) ? kAnd.size() : 0);
  return {.command = std::move(line),
          .text =
              "Show the loader where the wheels lie, where the program is started and before "
              "Python is"};
}

// Builds of the same torch that bring the cuBLAS that is wanted, and NVIDIA's wheel of it in the
// place of another one.
void propose_cublas(const Diagnosis& diagnosis, const RecipeColumn& column, const CublasLack& lack,
                    bool onnxruntime, Proposals& proposals) {
  const Knowledge& knowledge = diagnosis.knowledge;
  const std::string library = fmt::format("libcublas.so.{}", lack.wanted);
  const std::vector<std::string> wheels = cuda_wheels(lack.wanted, 0, onnxruntime);
  if (lack.there.by.starts_with("nvidia-cublas") && wheels.size() == 1) {
    AlignmentEdit edit =
        pin_edit(column, *lack.there.asked, lack.there.asked->requirement->specifier,
                 fmt::format("it brings {}", library));
    edit.to = wheels.front();
    propose(diagnosis, proposals, {std::move(edit)}, "Take the cuBLAS that it opens.");
    proposals.back().more.push_back(path_step(lack.wanted, false, onnxruntime, knowledge));
    return;
  }
  const auto torch = torch_of(column, knowledge);
  const TorchRelease* release = torch ? knowledge.torch_release(*torch) : nullptr;
  bool any = false;
  for (const TorchVariant& variant :
       release != nullptr ? std::span(release->variants) : std::span<const TorchVariant>()) {
    const auto local = Version::parse("0+" + variant.cuda);
    if (!local || major_version(cuda_of_variant(variant.cuda)) != lack.wanted) {
      continue;
    }
    Version target = torch->public_part();
    target.local = local->local;
    any = true;
    propose(diagnosis, proposals,
            torch_edits(column, target, fmt::format("it brings {}", library), knowledge));
  }
  if (!any && !wheels.empty()) {
    propose(diagnosis, proposals, wheel_edits(*lack.there.asked, wheels),
            "Ask for NVIDIA's wheels, and show the loader where they lie.");
    proposals.back().more.push_back(path_step(lack.wanted, false, onnxruntime, knowledge));
  }
}

void judge_cublas(Diagnosis& diagnosis, const RecipeColumn& column, const std::string& package,
                  Proposals& proposals) {
  const auto lack = cublas_lack(column, package, diagnosis.facts.machine, diagnosis.knowledge);
  if (!lack) {
    return;
  }
  const LibraryLack missing{
      .opens = {.package = package, .version = {}, .cuda_major = lack->wanted}, .cublas = true};
  Finding& finding = add_finding(
      diagnosis, "cublas of another version", Level::Warning, Certainty::Likely,
      fmt::format("{} in {}", package, column.name),
      fmt::format(
          "{} brings the cuBLAS of CUDA {}, and {} opens libcublas.so.{}: where the "
          "machine has none, {}.",
          lack->there.by, lack->there.cuda,
          lack->by.empty() ? package : fmt::format("the {} that {} asks for", package, lack->by),
          lack->wanted, lack_words(package)));
  finding.evidence = {evidence_of(*lack->there.asked), evidence_of(*lack->asked)};
  finding.error = error_of(missing);
  propose_cublas(diagnosis, column, *lack, package == "onnxruntime-gpu", proposals);
}

// Where wheels bring all, nothing is to be changed.
std::string text_of(const LibraryLack& lack, const std::string& missing, bool known) {
  const std::string name = title_of(lack.opens);
  if (lack.beside) {
    return fmt::format(
        "{} looks for {} where the loader does; wheels bring that, in folders of "
        "their own: name those in LD_LIBRARY_PATH{}.",
        name, missing, lack.opens.package == "onnxruntime-gpu" ? ", or call preload_dlls()" : "");
  }
  return known ? fmt::format(
                     "On a card {} wants {}, and neither this machine's loader finds that "
                     "nor is a line here known to bring it: {}.",
                     name, missing, lack_words(lack.opens.package))
               : fmt::format(
                     "On a card {} wants {}, and no line here is known to bring that: "
                     "where the machine's loader does not find it, {}.",
                     name, missing, lack_words(lack.opens.package));
}

std::string missing_words(const LibraryLack& lack) {
  return library_words(lack.cublas ? lack.opens.cuda_major : 0,
                       lack.cudnn ? lack.opens.cudnn_major : 0);
}

// onnxruntime-gpu's extras bring all that it opens; else NVIDIA's wheels do, by their names.
void propose_libraries(const Diagnosis& diagnosis, const RecipeColumn& column,
                       const LibraryLack& lack, Proposals& proposals) {
  const bool onnxruntime = lack.opens.package == "onnxruntime-gpu";
  const Asked& asked = *lack.opens.asked;
  const auto version = Version::parse(lack.opens.version);
  if (onnxruntime && asked.requirement->name == lack.opens.package &&
      (!version || onnxruntime_extras(*version) == OnnxRuntimeExtras::Bring)) {
    AlignmentEdit edit = pin_edit(column, asked, asked.requirement->specifier,
                                  "its extras bring them; call preload_dlls() in the program");
    edit.from = asked.requirement->name + asked.requirement->specifier;
    edit.to = "onnxruntime-gpu[cuda,cudnn]" + asked.requirement->specifier;
    propose(diagnosis, proposals, {std::move(edit)});
    return;
  }
  const std::vector<std::string> wheels =
      cuda_wheels(lack.opens.cuda_major, lack.cudnn ? lack.opens.cudnn_major : 0, onnxruntime);
  if (!wheels.empty()) {
    propose(diagnosis, proposals, wheel_edits(asked, wheels),
            "Ask for NVIDIA's wheels, and show the loader where they lie.");
    proposals.back().more.push_back(
        path_step(lack.opens.cuda_major, lack.cudnn, onnxruntime, diagnosis.knowledge));
  }
}

}  // namespace

void judge_machine_libraries(Diagnosis& diagnosis, const RecipeColumn& column,
                             Proposals& proposals) {
  const Machine& machine = diagnosis.facts.machine;
  for (const std::string_view package : kOpeners) {
    judge_cublas(diagnosis, column, std::string(package), proposals);
  }
  const bool known = loader_is_known(machine);
  for (const LibraryLack& lack : machine_lacks(column, machine, diagnosis.knowledge)) {
    const bool silent = lack.opens.package == "onnxruntime-gpu";
    Finding& finding =
        add_finding(diagnosis, "libraries left to the machine",
                    lack.beside ? Level::Note
                    : known     ? Level::Warning
                                : Level::Unknown,
                    Certainty::Likely, fmt::format("{} in {}", title_of(lack.opens), column.name),
                    text_of(lack, missing_words(lack), known));
    finding.evidence.push_back(evidence_of(*lack.opens.asked));
    const Note* const note =
        diagnosis.knowledge.note(silent ? "onnxruntime loader" : "ctranslate2 opens cublas");
    if (note != nullptr && (silent || lack.opens.cuda_major == kCudaOfNote)) {
      finding.evidence.push_back({note->text, note->source});
    }
    finding.error = error_of(lack);
    if (!lack.beside) {
      propose_libraries(diagnosis, column, lack, proposals);
    }
  }
}

void lower_by_machine_libraries(const Diagnosis& diagnosis, const RecipeColumn& column,
                                std::string_view package, FrameworkVerdict& verdict) {
  if (verdict.outcome != Outcome::Works ||
      std::ranges::find(kOpeners, package) == std::end(kOpeners)) {
    return;
  }
  const Machine& machine = diagnosis.facts.machine;
  if (const auto lack = cublas_lack(column, package, machine, diagnosis.knowledge)) {
    verdict.outcome = Outcome::Unknown;
    verdict.reason = fmt::format("it opens libcublas.so.{}, and {} brings that of CUDA {}",
                                 lack->wanted, lack->there.by, lack->there.cuda);
    return;
  }
  const bool known = loader_is_known(machine);
  for (const LibraryLack& lack : machine_lacks(column, machine, diagnosis.knowledge)) {
    if (lack.opens.package == package && !lack.beside) {
      const bool silent = known && package == "onnxruntime-gpu";
      verdict.outcome = silent ? Outcome::WorksSlowly : Outcome::Unknown;
      verdict.reason =
          fmt::format("it opens {}, and {}", missing_words(lack),
                      known ? "neither this machine has that, nor is a line here known to bring it"
                            : "no line here is known to bring that");
      return;
    }
  }
}

}  // namespace mynah::doctor
