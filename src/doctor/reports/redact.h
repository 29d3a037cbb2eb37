// Facts and reports without what tells who and where somebody is: folders, files, the names of user
// and host, passwords. So that they can be attached to a bug.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "doctor/facts.h"
#include "doctor/finding.h"
#include "doctor/recipes/alignment.h"

namespace mynah::doctor {

// Replaces alike everywhere: the same path has the same stand-in in facts and in reports. Of paths
// stay the folders and files that systems and packages have everywhere (/usr/lib, site-packages and
// what is in it, libcudart.so.12, requirements.txt); every other name becomes "folder1",
// "file1.txt". Of addresses stay the public package indexes'; values of variables whose names speak
// of keys, tokens or passwords are dropped.
class Redactor {
 public:
  // Learns the names of user and host, and all paths, from the facts. `user` and `host` are those
  // of this process, where the facts are of this machine; may be empty.
  explicit Redactor(const Facts& facts, const std::string& user = {}, const std::string& host = {});

  void redact(Facts& facts);
  void redact(Report& report);
  void redact(Alignment& alignment);

  // Any text: paths in it, names of user and host, addresses.
  [[nodiscard]] std::string redacted(std::string_view text);

 private:
  void learn_user(const std::string& name);
  void learn_path(const std::string& path);
  [[nodiscard]] std::string redacted_path(std::string_view path);
  [[nodiscard]] std::string redacted_address(std::string_view address);
  [[nodiscard]] std::string stand_in(std::string_view name, bool last);
  [[nodiscard]] std::string without_names(std::string_view text) const;
  [[nodiscard]] size_t known_path_at(std::string_view text, size_t at) const;

  std::map<std::string, std::string, std::less<>> stand_ins_;
  size_t folders_ = 0;
  size_t files_ = 0;
  size_t hosts_ = 0;
  std::map<std::string, std::string, std::less<>> names_;  // of user and host, and what they become
  // Paths that no text shows the end or the beginning of: with blanks, or relative. The longest
  // first.
  std::vector<std::string> known_paths_;
};

}  // namespace mynah::doctor
