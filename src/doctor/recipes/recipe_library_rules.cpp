// What an image lacks of the libraries of CUDA that its packages open.
#include <algorithm>
#include <iterator>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "doctor/recipes/alignment_parts.h"
#include "doctor/recipes/column_cudnn.h"
#include "doctor/recipes/column_libraries.h"
#include "doctor/recipes/installation_edits.h"
#include "doctor/recipes/recipe_drift.h"
#include "doctor/recipes/recipe_edits.h"
#include "doctor/recipes/recipe_pythons.h"
#include "doctor/recipes/recipe_rule_parts.h"
#include "doctor/verdicts/coverage.h"

namespace mynah::doctor {

namespace {

// Whether a torch is there that loads libraries of CUDA from the folders of wheels.
bool torch_loads(const RecipeColumn& column, const Knowledge& knowledge) {
  return (column.asks_for("torch") || !column.image_torch.empty()) &&
         !is_for_processor(column, knowledge);
}

// "ENV LD_LIBRARY_PATH=..." for an image of Python, whose packages lie where its name says, or in
// an environment of its own.
std::string path_line(const RecipeColumn& column, int cuda_major, bool cudnn,
                      const std::string& package, const Knowledge& knowledge) {
  const std::string prefix = column.environment.empty() ? "/usr/local" : column.environment;
  if (!column.image.starts_with("python:") || column.python.empty() || !prefix.starts_with('/')) {
    return {};
  }
  const std::string packages = fmt::format("{}/lib/python{}/site-packages", prefix, column.python);
  std::vector<std::string> folders =
      wheel_folders(cuda_major, cudnn, package == "onnxruntime-gpu", knowledge);
  for (std::string& folder : folders) {
    folder = fmt::format("{}/{}", packages, folder);
  }
  return fmt::format("ENV LD_LIBRARY_PATH={}", fmt::join(folders, ":"));
}

// What installs them: into the project whose lock pins what opens them, or by a line of the image.
Remedy wheels_remedy(const Asked& asked, const std::string& words) {
  const std::string add = add_command(asked, words);
  return {.command = add.empty() ? "RUN " + installer_command(asked, "pip install" + words) : add,
          .text = add.empty() ? "Add this line" : "Do this, and build the image anew",
          .cost = {}};
}

// What brings the wheels: extras of onnxruntime-gpu, or the wheels by their names.
Remedy wheels_line(const OpenedLibraries& opens) {
  const bool onnxruntime = opens.package == "onnxruntime-gpu";
  const auto version = Version::parse(opens.version);
  const bool extras = !version || onnxruntime_extras(*version) == OnnxRuntimeExtras::Bring;
  std::string words = onnxruntime && extras ? " 'onnxruntime-gpu[cuda,cudnn]'" : "";
  if (!words.empty()) {
    return wheels_remedy(*opens.asked, words);  // of the version that is there
  }
  for (const std::string& wheel : cuda_wheels(opens.cuda_major, opens.cudnn_major, onnxruntime)) {
    words += wheel.contains('*') ? fmt::format(" '{}'", wheel) : " " + wheel;
  }
  return words.empty() ? Remedy() : wheels_remedy(*opens.asked, words);
}

// Lines that bring the libraries where there is no image that has them.
void add_lines(Finding& finding, const RecipeColumn& column, const OpenedLibraries& opens,
               bool wheels_are_there, const Knowledge& knowledge) {
  const std::string path =
      path_line(column, opens.cuda_major, opens.cudnn_major != 0, opens.package, knowledge);
  const Remedy wheels = wheels_line(opens);
  if (wheels_are_there && !path.empty()) {
    finding.remedies.push_back({.command = path,
                                .text = fmt::format("Add this line below {}", column.image_where),
                                .cost = {}});
  } else if (!wheels.command.empty()) {
    finding.remedies.push_back(
        {.command = wheels.command,
         .text = path.empty()
                     ? fmt::format("{}, and name the folders of these wheels in LD_LIBRARY_PATH",
                                   wheels.text)
                     : fmt::format("{}, and below it {}", wheels.text, path),
         .cost = {}});
  }
}

// Another image with another release of the package: where no image has what this one wants beside
// the torch that is there.
void propose_both(const Diagnosis& diagnosis, const RecipeColumn& column,
                  const OpenedLibraries& opens, Proposals& proposals) {
  const Knowledge& knowledge = diagnosis.knowledge;
  const PackageReleases* listed = knowledge.releases_of(opens.package);
  const bool own = opens.by.empty() && !opens.version.empty();
  std::set<int> tried = {opens.cudnn_major};
  for (const Version& release :
       listed != nullptr && own ? listed->releases : std::vector<Version>()) {
    const auto wants = stretch_of(opens.package, release, knowledge);
    const bool fits = wants && wants->verified && !release.is_prerelease() &&
                      takes_python(column, opens.package, release, knowledge) &&
                      tried.insert(wants->cudnn_major).second;
    const std::string image =
        fits ? image_with(column, wants->cuda_major, wants->cudnn_major, knowledge) : "";
    if (!image.empty()) {
      propose(diagnosis, proposals,
              {image_edit(column, image, fmt::format("it holds {}", wants->wants)),
               pin_edit(column, *opens.asked, "==" + release.text(),
                        fmt::format("it wants {}", wants->wants))});
    }
  }
}

// The newest release that is for another CUDA, and an image that holds what it wants: where another
// package wants that one, no image serves both.
void propose_other_cuda(const Diagnosis& diagnosis, const RecipeColumn& column,
                        const OpenedLibraries& opens, int cuda_major, std::string text,
                        Proposals& proposals) {
  const Knowledge& knowledge = diagnosis.knowledge;
  const PackageReleases* listed = knowledge.releases_of(opens.package);
  if (listed == nullptr || opens.version.empty() || !opens.by.empty()) {
    return;
  }
  for (const Version& release : listed->releases) {
    const auto wants = stretch_of(opens.package, release, knowledge);
    const bool fits = wants && wants->verified && !release.is_prerelease() &&
                      wants->cuda_major == cuda_major &&
                      takes_python(column, opens.package, release, knowledge);
    const std::string image =
        fits ? image_with(column, cuda_major, wants->cudnn_major, knowledge) : "";
    if (!image.empty()) {
      std::vector<AlignmentEdit> edits = {pin_edit(column, *opens.asked, "==" + release.text(),
                                                   fmt::format("it wants {}", wants->wants))};
      if (image != column.image) {
        edits.push_back(image_edit(column, image, fmt::format("it holds {}", wants->wants)));
      }
      propose(diagnosis, proposals, std::move(edits), std::move(text));
      return;
    }
  }
}

// The CUDA that the driver is made for, where an image is of a newer one, which may not start then;
// 0: it is not.
int cuda_of_older_driver(const Diagnosis& diagnosis, const std::string& image) {
  const DriverBranch* branch = diagnosis.knowledge.branch(diagnosis.facts.machine.driver);
  const size_t colon = std::min(image.rfind(':'), image.size());
  const ImageFacts says =
      image_facts(image.substr(0, colon), image.substr(std::min(colon + 1, image.size())));
  const bool newer =
      branch != nullptr && !says.cuda.empty() && cuda_number(branch->cuda) < cuda_number(says.cuda);
  return newer ? major_version(branch->cuda) : 0;
}

void add_remedies(Diagnosis& diagnosis, const RecipeColumn& column, const LibraryLack& lack,
                  Proposals& proposals) {
  const Knowledge& knowledge = diagnosis.knowledge;
  OpenedLibraries opens = lack.opens;
  opens.cudnn_major = lack.cudnn ? opens.cudnn_major : 0;  // else it is there, or said elsewhere
  const std::string image =
      image_with(column, opens.cuda_major,
                 lack.cudnn ? opens.cudnn_major : column.image_says.cudnn_major, knowledge);
  if (const int older = cuda_of_older_driver(diagnosis, image);
      older != 0 && older != opens.cuda_major) {
    propose_other_cuda(diagnosis, column, lack.opens, older,
                       "Take both for a CUDA that the driver is made for.", proposals);
  } else if (!image.empty()) {
    propose(diagnosis, proposals,
            {image_edit(column, image,
                        fmt::format("it holds {}", library_words(lack.cublas ? opens.cuda_major : 0,
                                                                 opens.cudnn_major)))});
  } else if (column.image.starts_with("nvidia/cuda:")) {
    propose_both(diagnosis, column, lack.opens, proposals);
  }
  Finding& finding = diagnosis.report.findings.back();
  if (image.empty()) {
    add_lines(finding, column, opens, lack.beside, knowledge);
  }
  if (lack.beside && torch_loads(column, knowledge)) {
    finding.remedies.push_back(
        {.command = "import torch",
         .text = fmt::format("Import torch before {} in the program: it loads the same libraries",
                             opens.package),
         .cost = {}});
  }
}

// `torch_loads`: the torch that is there loads the same libraries from their folders.
std::string text_of(const LibraryLack& lack, const std::string& image, bool torch_loads) {
  const bool silent = lack.opens.package == "onnxruntime-gpu";
  const std::string missing = library_words(lack.cublas ? lack.opens.cuda_major : 0,
                                            lack.cudnn ? lack.opens.cudnn_major : 0);
  if (!lack.opens.elsewhere.empty()) {
    return fmt::format(
        "{} may come from {}, of whose builds nobody knows: that of the Python "
        "index wants {}, which is not where the loader looks.",
        title_of(lack.opens), lack.opens.elsewhere, missing);
  }
  return lack.beside
             ? fmt::format(
                   "{} looks for {} where the loader does; here only wheels bring that, in "
                   "folders of their own: it is found where {}{}LD_LIBRARY_PATH names them.",
                   title_of(lack.opens), missing, torch_loads ? "torch is imported first, or " : "",
                   silent ? "preload_dlls() is called, or " : "")
             : fmt::format("On a card {} wants {}, and neither {} nor a line here brings that: {}.",
                           title_of(lack.opens), missing, image, lack_words(lack.opens.package));
}

Level level_of(const LibraryLack& lack, const RecipeColumn& column, const Machine& machine) {
  if (!lack.opens.elsewhere.empty()) {
    return speaks_of_card(column) ? Level::Unknown : Level::Note;
  }
  if (!speaks_of_card(column)) {
    return lack.beside || !has_nvidia_card(machine) ? Level::Note : Level::Unknown;
  }
  return lack.beside ? Level::Unknown : Level::Warning;
}

// That a package finds another cuDNN than its own is said of what brings that one (judge_cudnn).
void leave_out_other_cudnn(std::vector<LibraryLack>& lacks, const RecipeColumn& column,
                           const Knowledge& knowledge) {
  const ColumnCudnn cudnn = cudnn_of(column, knowledge);
  for (LibraryLack& lack : lacks) {
    lack.cudnn &= std::ranges::none_of(cudnn.wanted, [&](const CudnnWanted& wish) {
      return wish.package == lack.opens.package && cudnn.lacks(wish);
    });
  }
  std::erase_if(lacks, [](const LibraryLack& lack) { return !lack.cublas && !lack.cudnn; });
}

// Whether one image may serve both.
bool go_together(const LibraryLack& a, const LibraryLack& b) {
  return a.opens.elsewhere.empty() && b.opens.elsewhere.empty() &&
         a.opens.cuda_major == b.opens.cuda_major &&
         (!a.cudnn || !b.cudnn || a.opens.cudnn_major == b.opens.cudnn_major);
}

// What several packages lack, and one remedy brings.
void judge_lacks(Diagnosis& diagnosis, const RecipeColumn& column,
                 std::span<const LibraryLack> lacks, Proposals& proposals) {
  std::vector<std::string> titles;
  for (const LibraryLack& lack : lacks) {
    titles.push_back(title_of(lack.opens));
  }
  Finding& finding =
      add_finding(diagnosis, "image lacks libraries", Level::Note, Certainty::Likely,
                  fmt::format("{} in {}", fmt::join(titles, " and "), column.name), "");
  finding.evidence.push_back({column.image, column.image_where});
  finding.error = error_of(lacks.front());
  for (const LibraryLack& lack : lacks) {
    finding.level = std::max(finding.level, level_of(lack, column, diagnosis.facts.machine));
    finding.text += (finding.text.empty() ? "" : " ") +
                    text_of(lack, column.image, torch_loads(column, diagnosis.knowledge));
    finding.evidence.push_back(evidence_of(*lack.opens.asked));
  }
  for (const LibraryLack& lack : lacks) {
    const bool silent = lack.opens.package == "onnxruntime-gpu";
    if (const Note* note =
            diagnosis.knowledge.note(silent ? "onnxruntime loader" : "ctranslate2 opens cublas")) {
      finding.evidence.push_back({note->text, note->source});
    }
  }
  if (!lacks.front().opens.elsewhere.empty()) {
    return;  // what it wants is not known
  }
  // What serves the one that wants more serves the other, too.
  LibraryLack more = lacks.back();
  for (const LibraryLack& lack : lacks) {
    more.opens.cudnn_major = lack.cudnn ? lack.opens.cudnn_major : more.opens.cudnn_major;
    more.cublas |= lack.cublas;
    more.cudnn |= lack.cudnn;
    more.beside &= lack.beside;
  }
  add_remedies(diagnosis, column, more, proposals);
}

}  // namespace

void judge_image_libraries(Diagnosis& diagnosis, const RecipeColumn& column, Proposals& proposals) {
  std::vector<LibraryLack> lacks = library_lacks(column, diagnosis.knowledge);
  std::vector<OpenedLibraries> all;
  std::ranges::transform(lacks, std::back_inserter(all), &LibraryLack::opens);
  leave_out_other_cudnn(lacks, column, diagnosis.knowledge);
  // An image whose torch is for the processor is meant for one, where no card is there or spoken
  // of.
  if (is_for_processor(column, diagnosis.knowledge)) {
    std::erase_if(lacks, [&](const LibraryLack& lack) {
      return level_of(lack, column, diagnosis.facts.machine) == Level::Note;
    });
  }
  std::span<const LibraryLack> rest = lacks;
  while (!rest.empty()) {
    size_t count = 1;
    while (count < rest.size() && go_together(rest[count], rest.front())) {
      ++count;
    }
    judge_lacks(diagnosis, column, rest.first(count), proposals);
    const auto& opens = rest.front().opens;
    for (const OpenedLibraries& other : all) {
      if (count == 1 && opens.elsewhere.empty() && other.elsewhere.empty() &&
          other.cuda_major > opens.cuda_major) {
        propose_other_cuda(diagnosis, column, opens, other.cuda_major,
                           "Take all for the same CUDA.", proposals);
      }
    }
    rest = rest.subspan(count);
  }
}

void lower_by_libraries(const Diagnosis& diagnosis, const RecipeColumn& column,
                        std::string_view package, FrameworkVerdict& verdict) {
  if (verdict.outcome != Outcome::Works) {
    return;
  }
  const ColumnCudnn cudnn = cudnn_of(column, diagnosis.knowledge);
  for (const CudnnWanted& wish : cudnn.wanted) {
    if (wish.package == package && cudnn.lacks(wish)) {
      verdict.outcome = Outcome::Unknown;
      verdict.reason = fmt::format("it wants cuDNN {}, and another one comes: {}", wish.major,
                                   cudnn.there_text());
      return;
    }
  }
  for (const LibraryLack& lack : library_lacks(column, diagnosis.knowledge)) {
    if (lack.opens.package == package &&
        level_of(lack, column, diagnosis.facts.machine) > Level::Note) {
      const bool silent =
          package == "onnxruntime-gpu" && !lack.beside && lack.opens.elsewhere.empty();
      verdict.outcome = silent ? Outcome::WorksSlowly : Outcome::Unknown;
      verdict.reason = fmt::format("where the loader looks there is no {}{}",
                                   library_words(lack.cublas ? lack.opens.cuda_major : 0,
                                                 lack.cudnn ? lack.opens.cudnn_major : 0),
                                   lack.beside ? ": wheels bring it, in folders of their own" : "");
      return;
    }
  }
}

}  // namespace mynah::doctor
