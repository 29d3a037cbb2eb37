// How verdict.h judges: every thing that stands between a framework and a card is a problem, and
// the one that comes first decides.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "doctor/verdicts/coverage.h"
#include "doctor/verdicts/framework_files.h"
#include "doctor/verdicts/verdict.h"

namespace mynah::doctor {

// One thing that stands between a framework and a card.
struct Problem {
  Cause cause = Cause::None;
  Outcome outcome = Outcome::Unknown;
  Certainty certainty = Certainty::Certain;
  std::string reason;  // a clause
  std::string text;    // of its finding
  std::string error;
  std::vector<Evidence> evidence;
  std::vector<Evidence> rules;  // whose words stand behind it
  bool quiet = false;           // slow, as it was meant to be: a note, no warning
  bool ends = false;            // the card is never asked: what would come behind does not come
};

// Whether an outcome is one of those that fail.
[[nodiscard]] bool is_failure(Outcome outcome);

// One judgement of one framework on one card.
class Judge {
 public:
  Judge(const Framework& framework, const Card* card, const Machine& machine,
        const PythonEnvironment* environment, const Knowledge& knowledge);

  Judged judge();

 private:
  Problem& add(Cause cause, Outcome outcome, Certainty certainty = Certainty::Certain);
  void note(Problem& problem, std::string_view id) const;
  [[nodiscard]] bool doubts(std::string_view what) const;
  [[nodiscard]] Certainty sure(bool certain) const;
  [[nodiscard]] std::string where_of(const DeviceCode& code) const;
  void card_evidence(Problem& problem) const;
  void driver_evidence(Problem& problem) const;
  void add_no_files();
  void add_unread_on_arm();
  // Whether there is a card of NVIDIA's to compute on.
  bool look_at_card();
  void look_at_processor();
  // The problem that decides: what ends it first, then what fails first, then what is not known.
  [[nodiscard]] size_t deciding() const;
  Finding finding_of(const Problem& problem, bool nvidia) const;
  Judged answer(bool nvidia);
  static std::string capital(std::string text);
  // Whose files lie where two packages write the same folder.
  void look_at_overwritten(bool nvidia);
  void look_at_libraries();
  // Whether a library of the driver that the loader does not find is missed for certain: an image
  // that is not running has none, and gets it when it starts.
  [[nodiscard]] bool driver_library_should_be_there() const;
  void add_library(const LibraryProblem& found);
  static void library_evidence(Problem& problem, const LibraryProblem& found);
  // What the build is for.
  void look_at_build(bool nvidia);
  void look_at_driver();
  // CUDA does not start: what asks for a card fails, or computes on the processor.
  Problem& add_no_cuda(Cause cause, bool certain);
  void look_at_branch();
  void look_at_floor();
  void look_at_code();
  void judge_coverage(const Coverage& coverage, const std::vector<const DeviceCode*>& files);
  // There is no machine code for the card, and PTX that its driver knows.
  void add_compiled(const std::vector<const DeviceCode*>& files, bool certain);
  Problem& add_code_problem(Cause cause, Outcome outcome, Certainty certainty,
                            const std::vector<const DeviceCode*>& files, std::string reason,
                            std::string text);
  // cuDNN's and cuBLAS's own kernels: the files that hold all of them for each card decide, not
  // those that choose among many.
  void look_at_cuda_library(std::string_view library);
  // Whether the libraries of the framework's CUDA version can know the card at all.
  void look_at_cuda_age();

  const Framework& framework_;
  const Card* card_;
  const Machine& machine_;
  const PythonEnvironment* environment_;
  const Knowledge& knowledge_;
  Target target_;
  std::vector<Problem> problems_;
  bool over_ = false;                // what was found ends it
  bool stays_on_processor_ = false;  // for reasons that have nothing to do with CUDA's age
  bool known_for_sure_ = true;
};

}  // namespace mynah::doctor
