// A tree of files that is looked at as if it were a machine's own: this one's, a test's, or a disk
// that was mounted. Nothing in it can lead out of it, block, or be read without end.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mynah::doctor {

// What is read of a file where nothing else is said, in bytes.
inline constexpr size_t kMostTextBytes = size_t{1} << 20;

// Names of a folder, at most.
inline constexpr size_t kMostNames = 1U << 16;

class MachineTree {
 public:
  // `root` is empty for this machine, else without '/' at its end.
  explicit MachineTree(std::string root) : root_(std::move(root)) {}

  [[nodiscard]] const std::string& root() const { return root_; }

  // Paths are absolute, as seen inside of the tree; links are followed as they would be there.

  // The beginning of a regular file (those of /proc and /sys are); empty where it cannot be read.
  [[nodiscard]] std::string text(std::string_view path, size_t most = kMostTextBytes) const;

  // The end of a regular file.
  [[nodiscard]] std::string last_text(std::string_view path, size_t most) const;

  // The names in a folder, sorted; none where it cannot be read.
  [[nodiscard]] std::vector<std::string> names(std::string_view folder) const;

  [[nodiscard]] bool has(std::string_view path) const { return real(path).has_value(); }

  // The path without links, or nothing where it leads nowhere.
  [[nodiscard]] std::optional<std::string> real(std::string_view path) const;

  // The path as this process opens it, links followed inside of the tree; empty: it is not there.
  [[nodiscard]] std::string outside(std::string_view path) const;

 private:
  std::string root_;
};

// Takes the first line off a text, without its end ("\n" or "\r\n"); false: there is none left.
[[nodiscard]] bool take_line(std::string_view& text, std::string_view& line);

}  // namespace mynah::doctor
