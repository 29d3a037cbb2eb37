// Files of an image that its commands make or change.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "doctor/recipes/shell_text.h"

namespace mynah::doctor {

struct WrittenFile {
  uint64_t line = 0;              // of the last command that did
  std::vector<std::string> from;  // files that it read, as it names them
  std::string cloned = {};        // the address of the repository that it is of; empty: of none
};

// Of those that an installer may read: what they ask for afterwards is not known.
class WrittenFiles {
 public:
  // Notes what a command writes that runs in `folder`: where its output goes, what it changes in
  // its place, and what it copies to.
  void note(const ShellCommand& command, const std::string& folder, uint64_t line);

  // Notes a file by its path inside the image.
  void add(const std::string& path, uint64_t line, std::vector<std::string> from = {});

  // Null: no command wrote it, and it is in no folder that was cloned.
  [[nodiscard]] const WrittenFile* at(const std::string& path) const;

 private:
  void note_clone(const ShellCommand& command, const std::string& folder, uint64_t line);

  std::map<std::string, WrittenFile> files_;   // by their paths inside the image
  std::map<std::string, WrittenFile> clones_;  // folders, likewise
  std::vector<std::string> piped_;             // that the commands before read, of one pipe
};

// Puts "-r FILE" in the place of what a shell would read from a file: "$(grep -v torch FILE)". Says
// which files those are: what is left of them is not known.
[[nodiscard]] std::vector<std::string> take_substituted(ShellCommand& command);

// "name" of "https://host/owner/name.git".
[[nodiscard]] std::string repository_name(std::string_view address);

}  // namespace mynah::doctor
