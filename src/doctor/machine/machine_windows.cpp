// A Windows tree: what its files tell of NVIDIA's driver.
#include <optional>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "doctor/machine/machine_parts.h"
#include "doctor/machine/machine_text.h"
#include "doctor/versions.h"

namespace mynah::doctor {

namespace {

constexpr std::string_view kSystem = "/Windows/System32";

// The newest of the display drivers that the driver store keeps: older ones stay there after an
// update, and which one is in use stands in the registry alone.
std::string newest_release(const Tree& tree) {
  const std::string store = fmt::format("{}/DriverStore/FileRepository", kSystem);
  std::string newest;
  std::optional<Version> newest_version;
  for (const std::string& folder : tree.names(store)) {
    const size_t end = folder.find(".inf_");
    if (!folder.starts_with("nv") || end == std::string::npos) {
      continue;
    }
    const std::string release = windows_driver_release(
        tree.words(fmt::format("{}/{}/{}.inf", store, folder, folder.substr(0, end))));
    const auto version = Version::parse(release);
    if (version && (!newest_version || *version > *newest_version)) {
      newest = release;
      newest_version = *version;
    }
  }
  return newest;
}

}  // namespace

void gather_windows(const Tree& tree, Machine& machine) {
  machine.system = System::Windows;
  machine.release = "Windows";
  const std::string library = fmt::format("{}/nvcuda.dll", kSystem);
  if (tree.has(library)) {
    machine.driver_libraries = {library};
    machine.driver = newest_release(tree);
  }
}

}  // namespace mynah::doctor
