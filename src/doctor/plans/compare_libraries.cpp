#include "doctor/plans/compare_libraries.h"

#include <algorithm>
#include <set>
#include <string_view>

#include <fmt/format.h>

#include "doctor/verdicts/framework_files.h"

namespace mynah::doctor {

namespace {

bool names(const PinnedSide& side, std::string_view package) {
  return side.pins.contains(package) || side.open.contains(package);
}

// Whether something that a side names may bring a library: its wheel; a torch, of which every build
// for cards comes with such libraries, whichever they are; extras, and NVIDIA's wheels, which ask
// for each other.
bool may_bring(const PinnedSide& side, const std::string& soname, const Knowledge& knowledge) {
  const auto torch = side.pins.find("torch");
  const bool on_processor = torch != side.pins.end() && torch->second.ends_with("+cpu");
  if (!side.conda.empty() || (names(side, "torch") && !on_processor) ||
      side.extras.contains("onnxruntime-gpu")) {
    return true;
  }
  const bool cublas = soname.starts_with("libcublas");
  return std::ranges::any_of(knowledge.libraries_named(soname), [&](const Library* library) {
    return names(side, library->wheel) ||
           (cublas && names(side, fmt::format("nvidia-cudnn-cu{}", library->cuda_major)));
  });
}

// What frameworks of one name do not get, by the files that were read.
std::set<std::string> missing_of(const Facts& facts, const std::string& name,
                                 const Knowledge& knowledge) {
  std::set<std::string> missing;
  for (const PythonEnvironment& environment : facts.environments) {
    for (const Framework& framework : environment.frameworks) {
      if (framework.name != name) {
        continue;
      }
      for (const LibraryProblem& problem : library_problems(framework, knowledge)) {
        if (!problem.of_driver && !problem.misfit && !problem.on_the_way) {
          missing.insert(problem.want.library);
        }
      }
    }
  }
  return missing;
}

}  // namespace

std::vector<StillMissing> still_missing(const Facts& first, const Facts& second,
                                        const PinnedSide& wanted, const Knowledge& knowledge) {
  std::vector<StillMissing> found;
  for (const PythonEnvironment& environment : second.environments) {
    for (const Framework& framework : environment.frameworks) {
      if (framework.source.empty()) {
        continue;  // its own files were read
      }
      const std::set<std::string> missing = missing_of(first, framework.name, knowledge);
      for (const LibraryWant& want : framework.wants) {
        if (missing.contains(want.library) && !may_bring(wanted, want.library, knowledge)) {
          found.push_back({.framework = framework.name, .library = want.library});
        }
      }
    }
  }
  return found;
}

void doubt_what_misses(std::vector<FrameworkVerdict>& verdicts,
                       const std::vector<StillMissing>& missing) {
  for (FrameworkVerdict& verdict : verdicts) {
    const auto found = std::ranges::find(missing, verdict.framework, &StillMissing::framework);
    if (found != missing.end() && verdict.outcome == Outcome::Works) {
      verdict.outcome = Outcome::Unknown;
      verdict.reason = fmt::format(
          "{}, which the first misses, comes with nothing that the "
          "second names",
          found->library);
    }
  }
}

bool is_about(const Finding& finding, const std::vector<StillMissing>& missing) {
  return std::ranges::any_of(missing, [&](const StillMissing& one) {
    return finding.subject.starts_with(one.framework + " ") && finding.text.contains(one.library);
  });
}

}  // namespace mynah::doctor
