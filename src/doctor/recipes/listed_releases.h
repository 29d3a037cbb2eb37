// Ranges of versions against the releases that are known.
#pragma once

#include <vector>

#include "doctor/knowledge/knowledge.h"
#include "doctor/versions.h"

namespace mynah::doctor {

// What a range lets in.
struct ListedReleases {
  std::vector<Version> versions;  // of those that are listed, the newest first
  bool no_newer = false;          // it lets in none that is newer than the list
  bool no_older = false;          // nor one that is older
};

// Ranges that name a release before the final one, a repetition or a build, and spellings (===),
// are bounded by nothing that is known.
[[nodiscard]] ListedReleases listed_releases(const PackageReleases& known,
                                             const SpecifierSet& range);

}  // namespace mynah::doctor
