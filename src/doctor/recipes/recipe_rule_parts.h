// The groups that recipe_rules.h is made of.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "doctor/recipes/alignment.h"
#include "doctor/recipes/recipe_columns.h"
#include "doctor/rules.h"
#include "doctor/versions.h"

namespace mynah::doctor {

class RecipeTrials;
struct Judged;

[[nodiscard]] constexpr Certainty sure(bool certain) {
  return certain ? Certainty::Certain : Certainty::Likely;
}

// A failure that is not certain is not known.
[[nodiscard]] constexpr Level failing(bool certain) {
  return certain ? Level::Fail : Level::Unknown;
}

// A finding about a column; it is added to the report.
Finding& add_finding(Diagnosis& diagnosis, std::string rule, Level level, Certainty certainty,
                     std::string subject, std::string text);

// What stands where: "torch==2.5.1" at "requirements.txt:3".
[[nodiscard]] Evidence evidence_of(const Asked& asked);

// Files and lines of recipes that could not be read.
void judge_reading(Diagnosis& diagnosis);

// What would mend a finding, before anybody has tried: edits of files of its column.
struct Proposal {
  size_t finding = 0;  // of the report
  std::vector<AlignmentEdit> edits;
  std::string text;  // what several of them come to
  // Where it stands among the finding's remedies, if it is in place of an installation: then it is
  // said with what it brings, too. None: it comes behind them, and only if it brings nothing.
  std::optional<size_t> instead_of = {};
  std::string cost = {};
  std::vector<RemedyStep> more = {};  // that no edit does
  bool or_next = false;               // the next one stands in where it brings a failure
};

using Proposals = std::vector<Proposal>;

// Proposes edits for the finding that was added last; none: nothing. `text`: what several come to.
void propose(const Diagnosis& diagnosis, Proposals& proposals, std::vector<AlignmentEdit> edits,
             std::string text = {});

// Where proposals are tried.
struct ProposalPlace {
  const RecipeColumn& column;
  const std::vector<RecipeColumn>& columns;  // all there are
  const std::vector<AlignmentEdit>& apart;   // that are advised to make them agree
};

// Remedies that the rules bear out: the finding is no more, and nothing else comes. Those of one
// recipe go together: of two that do not, the one is said that mends both findings, or leaves fewer
// failures, or was first.
void add_remedies(Diagnosis& diagnosis, const ProposalPlace& place, const Proposals& proposals,
                  RecipeTrials& trials);

// Edits that findings about columns that are pinned apart advise.
[[nodiscard]] std::vector<AlignmentEdit> apart_edits(const Alignment& alignment);

// Edits as a remedy: one line each, in steps where there are several, which `text` sums up. At
// least one. `more`: steps that come behind them.
[[nodiscard]] Remedy remedy_of(const std::vector<AlignmentEdit>& edits, std::string text,
                               const std::vector<RemedyStep>& more = {});

// Requirements that contradict each other, packages and releases that do not go together.
void judge_requirements(Diagnosis& diagnosis, const RecipeColumn& column, Proposals& proposals);

// Commands of an image of which a later one undoes what an earlier one did.
void judge_steps(Diagnosis& diagnosis, const RecipeColumn& column, Proposals& proposals);

// Where a later command of an image may put another in the place of a framework, its failure is not
// known. `asked`: what brings it; null: the image.
void doubt_failures(const RecipeColumn& column, const Asked* asked, Judged& judged);

// Whether all that a column says is one run of an installer, which must meet all of it.
[[nodiscard]] bool is_one_run(const RecipeColumn& column);

// Whether two words of a column come from one run of an installer that is known to refuse what does
// not go together: a file that no command names, or one command of an image by uv or a pip of 20.3
// or later.
[[nodiscard]] bool refused_together(const RecipeColumn& column, const Asked& a, const Asked& b,
                                    const Knowledge& knowledge);

// Parts of judge_requirements: releases that are known not to go together; what a pinned package
// asks for, where another pin refuses it; a build of torch that is not among those that are known.
void judge_clashes(Diagnosis& diagnosis, const RecipeColumn& column, Proposals& proposals);
void judge_needs(Diagnosis& diagnosis, const RecipeColumn& column, Proposals& proposals);
void judge_torch_build(Diagnosis& diagnosis, const RecipeColumn& column, Proposals& proposals);

// What a release of a package asks for of another, whatever the conditions: torchaudio 2.9.1 of
// torch "==2.9.1". Null: nothing, or it is not known.
struct AskedOf {
  SpecifierSet range;
  const PackageNeeds* needs = nullptr;
};

[[nodiscard]] std::optional<AskedOf> asked_of(std::string_view package, const Version& release,
                                              std::string_view other, const Knowledge& knowledge);

// Builds of a torch that are known, in place of one that is not, for the finding that was added
// last.
void propose_torch_builds(const Diagnosis& diagnosis, const RecipeColumn& column,
                          const Version& torch, Proposals& proposals);

// Packages that want another cuDNN than the one that comes, and extras that bring nothing.
void judge_cudnn(Diagnosis& diagnosis, const RecipeColumn& column, Proposals& proposals);

// Where packages come from: builds that the Python index does not have, and an index in its place
// that lacks what is asked for.
void judge_indexes(Diagnosis& diagnosis, const RecipeColumn& column, Proposals& proposals);

// Packages that are for other Pythons than the recipe's.
void judge_pythons(Diagnosis& diagnosis, const RecipeColumn& column, Proposals& proposals);

// What the system of an image does not let in: wheels for another C library, libraries that want an
// executable stack, pip beside the system's own installer.
void judge_image_system(Diagnosis& diagnosis, const RecipeColumn& column, Proposals& proposals);

// torchaudio and torchvision beside a torch that they are not built for.
void judge_torch_companions(Diagnosis& diagnosis, const RecipeColumn& column, Proposals& proposals);

// Versions that no index has.
void judge_versions(Diagnosis& diagnosis, const RecipeColumn& column);

// NumPy 2 beside a torch that was built for NumPy 1.
void judge_numpy(Diagnosis& diagnosis, const RecipeColumn& column);

// Whether an image holds the libraries of CUDA that its packages open.
void judge_image_libraries(Diagnosis& diagnosis, const RecipeColumn& column, Proposals& proposals);

// What becomes of a package that works by itself, where it does not find the libraries that it
// opens: that is at best not known.
void lower_by_libraries(const Diagnosis& diagnosis, const RecipeColumn& column,
                        std::string_view package, FrameworkVerdict& verdict);

// The same of a recipe that is no image, and what it leaves to the machine's loader.
void judge_machine_libraries(Diagnosis& diagnosis, const RecipeColumn& column,
                             Proposals& proposals);
void lower_by_machine_libraries(const Diagnosis& diagnosis, const RecipeColumn& column,
                                std::string_view package, FrameworkVerdict& verdict);

// Versions that come as they come.
void judge_drift(Diagnosis& diagnosis, const RecipeColumn& column, const Alignment& alignment,
                 Proposals& proposals);

// What columns pin apart, with all that aligns it, and the drivers that it wants. `columns` are all
// there are.
void judge_alignment(Diagnosis& diagnosis, const Alignment& alignment,
                     const std::vector<RecipeColumn>& columns, RecipeTrials& trials);

// What is compiled for architectures that its compiler does not know, or before torch is there, and
// environments that are copied into an image without their Python.
void judge_recipe_builds(Diagnosis& diagnosis, const RecipeColumn& column, Proposals& proposals);

// What is compiled for architectures that none of a machine's cards runs.
void judge_compiled_code(Diagnosis& diagnosis, const RecipeColumn& column);

// Cards that variables hide from what runs in a column (CUDA_VISIBLE_DEVICES,
// NVIDIA_VISIBLE_DEVICES).
void judge_hidden_cards(Diagnosis& diagnosis, const RecipeColumn& column);

// What works on a card by itself computes on the processor where variables hide all cards.
void lower_by_hidden_cards(const Diagnosis& diagnosis, const RecipeColumn& column,
                           FrameworkVerdict& verdict);

// Images: their CUDA against the wheels' and the driver, what is compiled in them.
void judge_image(Diagnosis& diagnosis, const RecipeColumn& column, const Alignment& alignment);

// An image that is meant for a card, and that somebody else filled: what it holds is not known, and
// silence would pass for health. Behind the frameworks: those that are judged say more.
void judge_unread_image(Diagnosis& diagnosis, const RecipeColumn& column);

// Services of compose files: whether they get a card. `columns` are all there are.
void judge_service(Diagnosis& diagnosis, const RecipeColumn& column,
                   const std::vector<RecipeColumn>& columns);

// Frameworks on each card, by the rules for installed ones: pinned ones, and ranges of which all
// that they let in fares alike. `proposals`: for what mends them; null: nothing is to be mended.
void judge_pinned_frameworks(Diagnosis& diagnosis, const RecipeColumn& column,
                             Proposals* proposals);

}  // namespace mynah::doctor
