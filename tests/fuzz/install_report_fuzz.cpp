// pip's installation reports: whatever is read has names and versions, and can be laid over an
// environment.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "doctor/plans/install_report.h"

namespace mynah::doctor {

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto packages = parse_install_report(text);
  if (!packages) {
    return 0;
  }
  MYNAH_CHECK(packages->size() <= kMostReportPackages, "more packages than the bound");
  for (const Package& package : *packages) {
    MYNAH_CHECK(!package.name.empty() && !package.version.empty(), "a package without a name");
  }
  const auto after = environment_after({}, *packages, builtin_knowledge());
  MYNAH_CHECK(after.packages.size() == packages->size(), "packages are lost");
  return 0;
}

}  // namespace mynah::doctor
