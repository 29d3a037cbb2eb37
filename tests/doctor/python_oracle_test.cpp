// Packages as Python's own importlib.metadata tells them, in the real environments of this machine.
#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "doctor/python/python_environments.h"
#include "temporary_folder.h"

namespace mynah::doctor {
namespace {

// Prints for each folder that it is given what its distributions say, sorted.
constexpr const char* kOracle = R"(
import importlib.metadata, json, re, sys
def plain(name):
    return re.sub(r'[-_.]+', '-', name).lower()
told = {}
for folder in sys.argv[1:]:
    rows = set()
    for each in importlib.metadata.distributions(path=[folder]):
        if each.metadata is None or not each.metadata['Name']:
            continue
        needs = each.requires or []
        extras = sorted(plain(x) for x in each.metadata.get_all('Provides-Extra') or [])
        rows.add('|'.join([plain(each.metadata['Name']), each.version,
                           each.metadata['Requires-Python'] or '',
                           (each.read_text('INSTALLER') or '').strip(), ','.join(extras),
                           ';;'.join(n.replace(' ', '') for n in needs)]))
    told[folder] = sorted(rows)
json.dump(told, sys.stdout)
)";

std::string joined(const std::vector<std::string>& parts, const std::string& between) {
  std::string text;
  for (const std::string& part : parts) {
    text += text.empty() ? part : between + part;
  }
  return text;
}

// Blanks inside of requirements do not count: those of eggs are put together.
std::string row_of(const Package& package) {
  std::vector<std::string> extras = package.extras;
  std::ranges::sort(extras);
  std::string needs = joined(package.requires_, ";;");
  std::erase(needs, ' ');
  return package.name + "|" + package.version + "|" + package.python + "|" + package.installer +
         "|" + joined(extras, ",") + "|" + needs;
}

TEST(PythonOracle, PackagesAreAsImportlibMetadataTellsThem) {
  if (std::system("python3 -c 'import importlib.metadata' 2>/dev/null") != 0) {
    GTEST_SKIP() << "no Python with importlib.metadata here";
  }
  Look look;
  look.variables["HOME"] = std::getenv("HOME") == nullptr ? "" : std::getenv("HOME");
  look.here = MYNAH_SOURCE_DIR;
  std::vector<std::string> skipped;
  const auto found = gather_environments(look, builtin_knowledge(), skipped);
  ASSERT_TRUE(found) << found.error().message;
  std::map<std::string, std::set<std::string>> ours;
  std::string command;
  for (const PythonEnvironment& environment : *found) {
    for (const Package& package : environment.packages) {
      if (ours[package.folder].empty() && package.folder.find('\'') == std::string::npos) {
        command += " '" + package.folder + "'";
      }
      ours[package.folder].insert(row_of(package));
    }
  }
  const test::TemporaryFolder scratch;
  test::write_file(scratch / "oracle.py", kOracle);
  ASSERT_EQ(std::system(("python3 '" + (scratch / "oracle.py") + "'" + command + " > '" +
                         (scratch / "told.json") + "'")
                            .c_str()),
            0);
  const auto told = nlohmann::json::parse(scratch.read("told.json"));
  size_t packages = 0;
  for (const auto& [folder, rows] : told.items()) {
    std::set<std::string> theirs;
    for (const auto& row : rows) {
      theirs.insert(row.get<std::string>());
    }
    EXPECT_EQ(ours[folder], theirs) << folder;
    packages += theirs.size();
  }
  RecordProperty("packages", std::to_string(packages));
  if (packages == 0) {
    GTEST_SKIP() << "no package of Python's here";
  }
}

}  // namespace
}  // namespace mynah::doctor
