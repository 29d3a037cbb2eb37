// What becomes of a framework on a card: from its device code, its libraries, the driver and the
// card, by the rules whose sources the knowledge base names.
#pragma once

#include <string_view>
#include <vector>

#include "doctor/facts.h"
#include "doctor/finding.h"
#include "doctor/knowledge/knowledge.h"

namespace mynah::doctor {

// The rule of findings about two packages that write the same folder.
inline constexpr std::string_view kOverwriteRule = "packages overwrite each other";

// What decided a verdict: what a remedy has to change.
enum class Cause : uint8_t {
  None,              // nothing is wrong
  NoCard,            // none, or another maker's
  CardUnknown,       // nothing says what the card can run
  CardHidden,        // by CUDA_VISIBLE_DEVICES
  NoDriver,          // of NVIDIA's
  DriverUnknown,     // nothing says which driver there is
  DriverTooOld,      // for the framework's CUDA version, or for the card
  CardDropped,       // by this branch of drivers
  LibraryMissing,    // the loader does not find one
  LibraryMisfit,     // it finds one that does not fit
  LibraryOnTheWay,   // it finds one only where another package has loaded it before
  Overwritten,       // by the files of another package
  ProcessorBuild,    // computes on the processor alone
  OtherBuild,        // for another maker's cards
  ProcessorTooOld,   // lacks instructions that its code has
  NoCode,            // for the card
  CompiledByDriver,  // has PTX for the card, and no machine code
  CompilerOff,       // the driver's: it is not to compile PTX
  PtxTooNew,         // for the driver
  Packed,            // so that the driver cannot read it
  CudnnCode,         // cuDNN has none for the card
  CublasCode,        // cuBLAS has none for the card
  CudaTooOld,        // for the card, as its libraries are
  CodeUnknown,       // nothing says what is inside
  FilesMissing,      // its metadata are there, its files are not
};

// A framework on a card, judged.
struct Judged {
  FrameworkVerdict verdict;  // without its environment
  Cause cause = Cause::None;
  Certainty certainty = Certainty::Certain;
  // Why, the first being what decided; empty where it works and nothing is to be said. Without
  // remedies (remedies.h).
  std::vector<Finding> findings;
};

// Judges by facts alone: what is not known makes Unknown, never a failure. `card` may be null:
// there is none. `environment`, if any, is the one that the framework is installed in, or would be:
// it says whose cuDNN and cuBLAS it meets. Failures of a framework without a card of NVIDIA's are
// at most warnings.
[[nodiscard]] Judged judge_framework(const Framework& framework, const Card* card,
                                     const Machine& machine, const Knowledge& knowledge,
                                     const PythonEnvironment* environment = nullptr);

// Whether a framework that nobody looked into stands beside an Arm processor: what is known is
// known of wheels for x86-64, and those for Arm are others (torch's of the Python index had no code
// for cards at all before some version). Then its verdict is unknown.
[[nodiscard]] bool is_unread_on_arm(const Framework& framework, const Card& card,
                                    const Machine& machine, const Knowledge& knowledge);

// Whether this is an outcome that a remedy may have: the card computes.
[[nodiscard]] bool computes_on_card(const Judged& judged);

// Whether the card computes by machine code that is there, so that no start waits for the driver's
// compiler.
[[nodiscard]] bool has_machine_code(const Judged& judged);

// "torch 2.7.1+cu126".
[[nodiscard]] std::string framework_title(const Framework& framework);

}  // namespace mynah::doctor
