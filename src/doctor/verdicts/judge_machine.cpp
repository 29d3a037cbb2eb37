// Judge: the build, the libraries that it gets, and the driver.
#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "doctor/verdicts/dropped_card.h"
#include "doctor/verdicts/judge.h"
#include "gpu/visible_devices.h"

namespace mynah::doctor {

namespace {

// What a program says of a library that it does not get.
std::string load_error(const Framework& framework, const LibraryProblem& found) {
  const std::string_view library = file_name(found.want.library);
  if (found.misfit && library.starts_with("libcudnn")) {
    return "cuDNN version incompatibility: PyTorch was compiled against another version";
  }
  if (found.misfit) {
    return fmt::format("{}: undefined symbol: {}, version {}", file_name(found.want.by),
                       found.want.lacks.front(), library);
  }
  if (framework.name == "onnxruntime" && found.without == Without::Words) {
    return fmt::format("Failed to load library {} with error: {}: cannot open shared object file",
                       file_name(found.want.by), library);
  }
  if (found.without == Without::Card && library.starts_with("libcudnn") &&
      library.ends_with(".so.9")) {
    return fmt::format("Unable to load any of {{{}}}", library);
  }
  if (found.without == Without::Card) {
    return library.starts_with("libcudnn")
               ? fmt::format("Could not load library {}", library)
               : fmt::format("Library {} is not found or cannot be loaded", library);
  }
  return fmt::format("{}: cannot open shared object file: No such file or directory", library);
}

// The first branch that is made for the CUDA version that first compiled for a card; 0: all that
// are known are. Drivers of that branch are those that the card came with.
int branch_of_toolkit(const Architecture& architecture, const Knowledge& knowledge) {
  const int cuda = cuda_number(architecture.first_toolkit.value);
  const auto first = std::ranges::find_if(knowledge.branches, [&](const DriverBranch& branch) {
    return branch.verified && cuda_number(branch.cuda) >= cuda;
  });
  return first == knowledge.branches.end() || first == knowledge.branches.begin() ? 0
                                                                                  : first->branch;
}

}  // namespace

void Judge::look_at_overwritten(bool nvidia) {
  if (environment_ == nullptr || framework_.name != "onnxruntime" || !nvidia) {
    return;
  }
  for (const SharedPath& shared : environment_->shared_paths) {
    const bool both = std::ranges::find(shared.owners, "onnxruntime") != shared.owners.end() &&
                      std::ranges::find(shared.owners, "onnxruntime-gpu") != shared.owners.end();
    if (!both || shared.winner == "onnxruntime-gpu") {
      continue;
    }
    const bool lost = shared.winner == "onnxruntime";
    Problem& problem =
        add(Cause::Overwritten, lost ? Outcome::WorksSlowly : Outcome::Unknown, sure(lost));
    problem.ends = lost;
    over_ = stays_on_processor_ = lost;
    problem.reason = lost ? "the files of onnxruntime, for the processor, lie over it"
                          : "onnxruntime and onnxruntime-gpu share their files";
    problem.text =
        lost ? "onnxruntime and onnxruntime-gpu write the same folder, and the files that are "
               "there are those for the processor: the card is not used, without a word."
             : "onnxruntime and onnxruntime-gpu write the same folder, and whose files are there "
               "was not to be seen.";
    problem.evidence.push_back({fmt::format("{} and {} more are of {}", file_name(shared.path),
                                            shared.others, fmt::join(shared.owners, " and of ")),
                                shared.path});
    note(problem, "onnxruntime twice");
    return;
  }
}

void Judge::look_at_libraries() {
  // Files for the processor that lie over those for cards leave the CUDA provider behind, which
  // nothing opens any more: what that one lacks is no reason.
  const bool card_unasked = over_;
  for (const LibraryProblem& found : library_problems(framework_, knowledge_)) {
    if (found.of_driver && !driver_library_should_be_there()) {
      continue;
    }
    if (found.without != Without::Import && (card_ == nullptr || card_unasked)) {
      continue;
    }
    add_library(found);
  }
}

bool Judge::driver_library_should_be_there() const {
  return machine_.container.inside || !machine_.driver_libraries.empty() ||
         (machine_.no_driver_library && !machine_.driver.empty());
}

void Judge::add_library(const LibraryProblem& found) {
  const Cause cause = found.on_the_way ? Cause::LibraryOnTheWay
                      : found.misfit   ? Cause::LibraryMisfit
                                       : Cause::LibraryMissing;
  Outcome outcome = Outcome::FailsAtLoad;
  if (found.without == Without::Words) {
    outcome = Outcome::WorksSlowly;
  } else if (found.on_the_way) {
    outcome = Outcome::Unknown;
  }
  // Where it was not looked for it may well be.
  const bool elsewhere = cause == Cause::LibraryMissing && doubts(kOtherLoader);
  if (elsewhere) {
    outcome = Outcome::Unknown;
  }
  // Further libraries of the same fate are evidence of the first.
  for (Problem& earlier : problems_) {
    if (earlier.cause == cause && earlier.outcome == outcome) {
      library_evidence(earlier, found);
      return;
    }
  }
  Problem& problem = add(cause, outcome, sure(!elsewhere));
  problem.ends = found.without == Without::Words && !elsewhere;
  over_ |= problem.ends || outcome == Outcome::FailsAtLoad;
  problem.reason = found.text;
  if (found.without == Without::Words) {
    problem.text = fmt::format(
        "{}: its CUDA provider does not load, and the session computes on the processor. A line in "
        "the log is all that says so.",
        capital(found.text));
    note(problem, "onnxruntime loader");
    if (found.on_the_way) {
      problem.text += " With torch imported first it is loaded already, and the card is used.";
      problem.reason += ", unless torch is imported first";
    }
  } else if (found.on_the_way) {
    problem.text = fmt::format(
        "{}. Where torch is imported first, it has loaded the library already and all is well; "
        "without that, the first call for a card fails.",
        capital(found.text));
    problem.reason += ", unless torch is imported first";
    note(problem, "ctranslate2 opens cublas");
  } else {
    problem.text = fmt::format(
        "{}: {}.", capital(found.text),
        found.without == Without::Card ? "the first call for a card fails" : "it does not load");
  }
  if (elsewhere) {
    problem.text += " That is so here; the other machine may have it.";
  }
  problem.error = load_error(framework_, found);
  library_evidence(problem, found);
}

void Judge::library_evidence(Problem& problem, const LibraryProblem& found) {
  problem.evidence.push_back({found.text, found.want.by});
  Evidence dead{fmt::format("{} looks for libraries in {}, a folder of the machine that built it",
                            file_name(found.want.by), found.want.dead_path),
                found.want.by};
  if (!found.want.dead_path.empty() &&
      std::ranges::find(problem.evidence, dead) == problem.evidence.end()) {
    problem.evidence.push_back(std::move(dead));
  }
}

void Judge::look_at_build(bool nvidia) {
  if (framework_.cuda == "" && nvidia && !over_) {
    Problem& problem = add(Cause::ProcessorBuild, Outcome::WorksSlowly);
    problem.ends = true;
    over_ = true;
    stays_on_processor_ = true;
    // faster-whisper and others ask for this one, for their small models.
    problem.quiet = framework_.package == "onnxruntime";
    problem.reason = "this build computes on the processor alone";
    problem.text =
        "This build has no code for cards: it computes on the processor, without a word.";
    if (framework_.name == "torch") {
      problem.error = "AssertionError: Torch not compiled with CUDA enabled";
      if (!framework_.version.ends_with("+cpu")) {
        note(problem, "torch on Windows");
      }
    }
    problem.evidence.push_back({"it was built without CUDA",
                                framework_.source.empty() ? framework_.folder : framework_.source});
  }
  if (!framework_.cuda && cuda_major_of(framework_, knowledge_) == 0) {
    known_for_sure_ = false;
  }
}

void Judge::look_at_driver() {
  if (const auto set = machine_.variables.find("CUDA_VISIBLE_DEVICES");
      set != machine_.variables.end()) {
    const gpu::VisibleDevices visible = gpu::read_visible_devices(
        set->second,
        {.count = machine_.cards.empty() ? std::optional<size_t>() : machine_.cards.size(),
         .uuids = {}});
    if (visible.none()) {
      Problem& problem = add(Cause::CardHidden, Outcome::WorksSlowly);
      problem.ends = over_ = stays_on_processor_ = true;
      problem.reason = visible.explanation.empty() ? "CUDA_VISIBLE_DEVICES hides every card"
                                                   : visible.explanation;
      problem.text = fmt::format("{}: it computes on the processor.", capital(problem.reason));
      problem.evidence.push_back(
          {fmt::format("CUDA_VISIBLE_DEVICES={}", set->second), "environment"});
      return;
    }
  }
  if (machine_.driver.empty()) {
    if (!card_->kernel_driver.empty() && card_->kernel_driver != "nvidia") {
      Problem& problem = add(Cause::NoDriver, Outcome::WorksSlowly);
      problem.ends = over_ = stays_on_processor_ = true;
      problem.reason =
          fmt::format("the card is run by {}, not by NVIDIA's driver", card_->kernel_driver);
      problem.text = fmt::format("{}: CUDA does not find it, and the processor computes.",
                                 capital(problem.reason));
      problem.evidence.push_back(
          {fmt::format("its driver is {}", card_->kernel_driver), card_->pci});
    }
    return;
  }
  look_at_branch();
  look_at_floor();
}

Problem& Judge::add_no_cuda(Cause cause, bool certain) {
  const bool falls_back = framework_.name == "onnxruntime";
  Problem& problem =
      add(cause, falls_back ? Outcome::WorksSlowly : Outcome::FailsAtLoad, sure(certain));
  problem.ends = falls_back && certain;
  over_ |= certain;
  if (falls_back) {
    note(problem, "onnxruntime falls back");
  }
  return problem;
}

void Judge::look_at_branch() {
  const Architecture* architecture = knowledge_.architecture(capability_text(target_.capability));
  if (architecture == nullptr || target_.branch == 0) {
    return;
  }
  if (const auto dropped = dropped_card(*card_, machine_, knowledge_)) {
    const int last = dropped->last_branch;
    Problem& problem = add_no_cuda(Cause::CardDropped, dropped->certainty == Certainty::Certain);
    problem.reason = fmt::format("driver {} ignores {} cards: {} was the last for them",
                                 machine_.driver, architecture->name, last);
    problem.text = fmt::format(
        "Drivers after branch {} ignore {} cards, and driver {} is one: CUDA finds no card.", last,
        architecture->name, machine_.driver);
    problem.error =
        fmt::format("NVRM: The {} NVIDIA driver will ignore this GPU.", machine_.driver);
    card_evidence(problem);
    problem.evidence.push_back(
        {fmt::format("the last branch for it is {}", last), architecture->last_driver->source});
    note(problem, "dropped cards");
  }
  const auto branch_of = [](const std::optional<Claim>& claim) {
    return claim ? cuda_number(claim->value + ".0") / 100 : 0;
  };
  if (const int first = branch_of(architecture->first_driver);
      first != 0 && target_.branch < first) {
    Problem& problem =
        add_no_cuda(Cause::DriverTooOld, target_.sure && architecture->first_driver->verified);
    problem.reason =
        fmt::format("driver {} is older than {} cards", machine_.driver, architecture->name);
    problem.text = fmt::format("{} cards want a driver of branch {}, and {} is older.",
                               architecture->name, first, machine_.driver);
    card_evidence(problem);
    problem.evidence.push_back(
        {fmt::format("the first branch for it is {}", first), architecture->first_driver->source});
  } else if (const int likely = first == 0 ? branch_of_toolkit(*architecture, knowledge_) : 0;
             target_.branch < likely && !target_.tegra) {
    Problem& problem = add_no_cuda(Cause::DriverTooOld, false);
    problem.reason = fmt::format("driver {} is older than {} cards, which came with branch {}",
                                 machine_.driver, architecture->name, likely);
    problem.text = fmt::format(
        "{} cards came with CUDA {} and drivers of branch {}, and {} is older: it is not likely to "
        "know them.",
        architecture->name, architecture->first_toolkit.value, likely, machine_.driver);
    card_evidence(problem);
    problem.evidence.push_back({fmt::format("CUDA {} is the first that compiles for it",
                                            architecture->first_toolkit.value),
                                architecture->first_toolkit.source});
  }
}

void Judge::look_at_floor() {
  const int major = cuda_major_of(framework_, knowledge_);
  const auto cuda =
      framework_.cuda ? Version::parse(*framework_.cuda) : Version::parse(std::to_string(major));
  const auto driver = Version::parse(machine_.driver);
  const DriverFloor* floor = cuda && major != 0 ? knowledge_.floor(*cuda) : nullptr;
  if (floor == nullptr || !driver || target_.tegra) {
    return;
  }
  const std::string& wanted =
      machine_.system == System::Windows ? floor->windows_driver : floor->linux_driver;
  const auto least = Version::parse(wanted);
  if (!least || *driver >= *least) {
    return;
  }
  // A newer libcuda of a container may stand in for it on data-centre cards. A card that nobody
  // knows and that is on no bus may be a Jetson's, whose drivers are counted otherwise.
  const bool discrete = target_.capability != 0 || !card_->pci.empty();
  const bool certain =
      discrete && floor->verified && machine_.compat_libraries.empty() && !doubts("libraries");
  Problem& problem = add_no_cuda(Cause::DriverTooOld, certain);
  problem.reason =
      fmt::format("CUDA {} wants driver {} at least, and {} is older",
                  framework_.cuda.value_or(std::to_string(major)), wanted, machine_.driver);
  problem.text = fmt::format("{}: CUDA does not start.", problem.reason);
  if (!machine_.compat_libraries.empty()) {
    problem.text.insert(problem.text.size() - 1,
                        ", unless the container takes the newer libcuda that it holds "
                        "(cuda-compat), as data-centre cards may");
    note(problem, "compat");
  }
  problem.error =
      framework_.name == "torch"
          ? fmt::format("The NVIDIA driver on your system is too old (found version {})",
                        target_.cuda / 100 * 1000 + target_.cuda % 100 * 10)
          : "CUDA driver version is insufficient for CUDA runtime version";
  driver_evidence(problem);
  problem.evidence.push_back(
      {fmt::format("programs of CUDA {} start on driver {} and later", major, wanted),
       floor->source});
  note(problem, "minor compatibility");
}

}  // namespace mynah::doctor
