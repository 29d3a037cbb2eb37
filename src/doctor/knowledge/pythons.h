// Which Pythons a release of a package is for: by the tags of its wheels, or by what its metadata
// ask for.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "doctor/knowledge/knowledge.h"
#include "doctor/versions.h"

namespace mynah::doctor {

struct Pythons : Source {
  SpecifierSet range;
  bool wheels = true;  // false: its metadata ask for it, so that its source is no way out
};

// None: nothing is known. Of the packages whose wheels are known there are no source archives.
[[nodiscard]] std::optional<Pythons> pythons_of(std::string_view package, const Version& version,
                                                const Knowledge& knowledge);

// Pythons as "3.12", the newest first, of which some release meets all of the ranges. Those that
// are not known yet are among them.
[[nodiscard]] std::vector<std::string> pythons_in(const std::vector<SpecifierSet>& ranges);

}  // namespace mynah::doctor
