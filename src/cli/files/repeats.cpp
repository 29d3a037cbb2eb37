#include "cli/files/repeats.h"

#include <filesystem>
#include <set>

#include <fmt/format.h>

#include "cli/files/output_records.h"

namespace mynah::cli {

namespace fs = std::filesystem;

std::vector<std::string> take_repeats(std::vector<std::string>& recordings) {
  std::set<fs::path> seen;
  std::vector<std::string> repeats;
  std::erase_if(recordings, [&](const std::string& recording) {
    std::error_code error;
    if (!fs::is_regular_file(recording, error)) {
      return false;
    }
    // The folder alone with its links followed: a link's outputs have its own name.
    const fs::path path = fs::absolute(recording, error);
    const bool before =
        !seen.insert(fs::path(OutputRecords::identity(path.parent_path())) / path.filename())
             .second;
    if (before) {
      repeats.push_back(recording);
    }
    return before;
  });
  return repeats;
}

std::string told_repeats(const std::vector<std::string>& repeats) {
  return repeats.size() == 1
             ? fmt::format("{} is named before: it is heard once", repeats.front())
             : fmt::format(
                   "{} names, the first of them {}, are of recordings named before: each "
                   "recording is heard once",
                   repeats.size(), repeats.front());
}

}  // namespace mynah::cli
