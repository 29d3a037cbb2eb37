#include "doctor/verdicts/newer_drivers.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "doctor/versions.h"

namespace mynah::doctor {

std::vector<NewerDriver> newer_drivers(const Machine& machine, const Knowledge& knowledge) {
  const auto present = Version::parse(machine.driver);
  std::vector<std::pair<Version, NewerDriver>> found;
  const auto add = [&](const std::string& version, std::string words) {
    const auto parsed = Version::parse(version);
    if (parsed && (!present || *present < *parsed)) {
      found.emplace_back(*parsed, NewerDriver{.version = version, .words = std::move(words)});
    }
  };
  for (const DriverBranch& branch : knowledge.branches) {
    if (branch.verified) {
      add(fmt::format("{}.0", branch.branch), fmt::format("of branch {} or later", branch.branch));
    }
  }
  for (const DriverFloor& floor : knowledge.floors) {
    const std::string& driver =
        machine.system == System::Windows ? floor.windows_driver : floor.linux_driver;
    if (floor.verified) {
      add(driver, fmt::format("of release {} or later", driver));
    }
  }
  std::ranges::stable_sort(found, {}, [](const auto& each) { return each.first; });
  std::vector<NewerDriver> drivers;
  drivers.reserve(found.size());
  for (auto& [version, driver] : found) {
    drivers.push_back(std::move(driver));
  }
  return drivers;
}

}  // namespace mynah::doctor
