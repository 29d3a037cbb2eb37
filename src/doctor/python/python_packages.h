// The packages that lie in a folder of Python packages, by their metadata.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "doctor/facts.h"
#include "doctor/tree.h"

namespace mynah::doctor {

// A package, and where it says so.
struct InstalledPackage {
  Package package;
  std::string record;  // RECORD that lists its files; empty: none
};

// What *.dist-info (METADATA, WHEEL, INSTALLER, direct_url.json) and *.egg-info of `site` tell,
// sorted by name. Of two folders for one name both are there. What an interrupted installation left
// behind ("~orch-2.7.1.dist-info") and folders that name no package are noted in the tree's list.
std::vector<InstalledPackage> read_packages(Tree& tree, const std::string& site);

// A package as one file of conda-meta tells it. Fails where the text is no JSON object.
Result<Package> parse_conda_package(std::string_view text, const std::string& file);

// What conda-meta/*.json below a conda prefix tell. Their requirements are conda's and not PEP
// 508's: "cuda-version >=12.6,<13".
std::vector<Package> read_conda_packages(Tree& tree, const std::string& prefix);

// Paths below `site` that several of its packages list in RECORD with different contents. Those of
// the same packages are counted together and shown by the largest file. A package that is there
// twice owns as "NAME VERSION". The winner is the one whose size and, where sizes do not tell or
// the file has 64 MiB at most, SHA-256 are those of the file.
std::vector<SharedPath> find_shared_paths(Tree& tree, const std::string& site,
                                          const std::vector<InstalledPackage>& packages);

}  // namespace mynah::doctor
