// The releases that a plan may choose from (stack_plan.h), each with what it demands of the others.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "doctor/facts.h"
#include "doctor/knowledge/knowledge.h"
#include "doctor/versions.h"

namespace mynah::doctor {

// One release of one package.
struct StackCandidate {
  std::string name;
  Version version;
  std::string index;  // URL; empty: the Python index
  SpecifierSet python;
  // Of those that plans are for ("3.15"): something that it asks for, and that no plan chooses, has
  // no release for them.
  std::vector<std::string> no_pythons = {};
  bool asks_for_python = false;  // its metadata do; else no other Python has a wheel of it
  std::vector<Requirement> needs;
  bool certain = true;  // what it demands was read
  // Of frameworks: the CUDA version whose libraries it wants, 0 where it wants none of the wheels'.
  int cuda_major = 0;
  int cudnn_major = 0;  // 0: uses none
  std::string cudnn;    // that it pins: "9.10.2.21"; empty: any of the major
  bool framework = false;
};

// All releases of a package that the knowledge base knows enough of, the newest first: of torch for
// each CUDA version. `python` of torchaudio, torchvision and torchcodec is torch's.
[[nodiscard]] std::vector<StackCandidate> stack_candidates(std::string_view name,
                                                           const Knowledge& knowledge);

}  // namespace mynah::doctor
