// Looks for CUDA toolkits, with which programs are compiled: what they are, what they lack, and
// which compiler they would use. Reads files alone.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "doctor/facts.h"

namespace mynah::doctor {

struct ToolkitSearch {
  // Of the tree that is looked at, without '/' at its end; empty: this machine. A tree with
  // "Program Files" is a Windows one.
  std::string root;
  // The environment: PATH, CUDA_HOME, CUDA_PATH, NVCC_CCBIN, CUDAHOSTCXX, VCToolsVersion.
  std::map<std::string, std::string> variables;
  std::vector<std::string> prefixes;  // of conda environments, and other folders to look into
};

// Every folder that has an nvcc: /usr/local/cuda*, /opt/cuda*, Debian's in /usr, conda's, what the
// environment names; below "Program Files/NVIDIA GPU Computing Toolkit/CUDA" on Windows. Each once,
// by its real path, in that order.
[[nodiscard]] std::vector<Toolkit> gather_toolkits(const ToolkitSearch& search);

}  // namespace mynah::doctor
