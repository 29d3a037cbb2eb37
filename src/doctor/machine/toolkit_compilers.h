// The host compilers that a CUDA toolkit could use, as files show them.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "doctor/tree.h"

namespace mynah::doctor {

struct HostCompilersFound {
  std::string used;                 // "gcc 12", "clang 17", "_MSC_VER 1944"; empty: not known
  std::vector<std::string> others;  // that are installed, without that one
};

class HostCompilerSearch {
 public:
  HostCompilerSearch(const Tree& tree, const std::map<std::string, std::string>& variables,
                     bool windows)
      : tree_(tree), variables_(variables), windows_(windows) {}

  // Of the toolkit in that folder. nvcc takes what NVCC_CCBIN names, else gcc of its own folder or
  // of PATH; on Windows the newest Visual Studio's own choice, or VCToolsVersion.
  [[nodiscard]] HostCompilersFound find(const std::string& toolkit) const;

  // Whether a Visual Studio has the rules to build CUDA of that version (BuildCustomizations); none
  // where no Visual Studio is seen.
  [[nodiscard]] std::optional<bool> is_integrated(const std::string& version) const;

 private:
  [[nodiscard]] std::string variable(const std::string& name) const;
  [[nodiscard]] HostCompilersFound find_gcc(const std::string& toolkit) const;
  [[nodiscard]] HostCompilersFound find_msvc() const;
  [[nodiscard]] std::string named(const std::string& program) const;
  [[nodiscard]] std::vector<std::string> installed_gccs() const;
  [[nodiscard]] std::vector<std::string> studios() const;

  const Tree& tree_;
  const std::map<std::string, std::string>& variables_;
  bool windows_;
};

}  // namespace mynah::doctor
