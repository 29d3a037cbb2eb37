// Files of a tree that is looked at and not trusted: this machine, an unpacked image, a folder of
// wheels.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/mapped_file.h"
#include "doctor/binaries/loader_paths.h"

namespace mynah::doctor {

// "/a/b" of "/a" and "b", of "/a/" and "b".
[[nodiscard]] std::string path_in(std::string_view folder, std::string_view name);

// What is read of a file where nothing else is said, in bytes.
inline constexpr size_t kMostTextBytes = size_t{1} << 20;

// Paths are absolute and as seen inside of the tree; links are followed as they would be there
// (real_path) and never lead out of it. Nothing in it blocks or is read without end.
class Tree {
 public:
  // `root` is without '/' at its end, and empty for this machine. What is there but cannot be read
  // is noted in `skipped` with the reason, once; what is not there is not.
  Tree(std::string root, std::vector<std::string>& skipped)
      : root_(std::move(root)), skipped_(&skipped) {}

  // One whose gaps nobody wants to know.
  explicit Tree(std::string root) : root_(std::move(root)) {}

  [[nodiscard]] const std::string& root() const { return root_; }

  // Nothing for what leads nowhere, and for a path that is not absolute.
  [[nodiscard]] std::optional<std::string> real(std::string_view path) const;

  [[nodiscard]] bool has(std::string_view path) const { return real(path).has_value(); }

  // As this process opens it, of a path whose links were followed.
  [[nodiscard]] std::string outside(const std::string& real) const { return root_ + real; }

  // The same of any path; empty: it is not there.
  [[nodiscard]] std::string opened_as(std::string_view path) const;

  [[nodiscard]] bool is_folder(std::string_view path) const;
  [[nodiscard]] bool is_file(std::string_view path) const;

  // The names in a folder, sorted; at most 200,000.
  const std::vector<std::string>& names(std::string_view folder) const;

  // Paths that a pattern leads to, in order: "torch/lib/libtorch_cuda*.so", with '*' and '?' inside
  // of a name alone (fnmatch(3)).
  [[nodiscard]] std::vector<std::string> matches(const std::string& folder,
                                                 std::string_view pattern) const;

  // The first `most` bytes of a regular file (those of /proc and /sys are); nothing where it is not
  // there.
  [[nodiscard]] std::optional<std::string> text(std::string_view path, size_t most) const;

  // The same, and empty where it cannot be read.
  [[nodiscard]] std::string words(std::string_view path, size_t most = kMostTextBytes) const;

  // The last `most` bytes of one, empty where it cannot be read.
  [[nodiscard]] std::string last_words(std::string_view path, size_t most) const;

  // The whole of a regular file of `most` bytes at most.
  [[nodiscard]] std::shared_ptr<const MappedFile> map(const std::string& path, uint64_t most) const;

  // Notes what was not looked at, and why.
  void skip(std::string_view path, std::string_view why) const;

 private:
  [[nodiscard]] std::optional<std::string> read(std::string_view path, size_t most,
                                                bool last) const;

  std::string root_;
  std::vector<std::string>* skipped_ = nullptr;
  mutable std::unordered_map<std::string, std::vector<std::string>> names_;  // that were read
};

}  // namespace mynah::doctor
