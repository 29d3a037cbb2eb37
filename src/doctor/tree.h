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

// Paths are absolute and as seen inside of the tree; links are followed as they would be there
// (real_path) and never lead out of it. What is there but cannot be read is noted in `skipped` with
// the reason, once; what is not there is not.
class Tree {
 public:
  // `root` is without '/' at its end, and empty for this machine.
  Tree(std::string root, std::vector<std::string>& skipped)
      : root_(std::move(root)), skipped_(skipped) {}

  [[nodiscard]] const std::string& root() const { return root_; }

  [[nodiscard]] std::optional<std::string> real(std::string_view path) const {
    return real_path(root_, path);
  }

  // Of a path whose links were followed.
  [[nodiscard]] std::string outside(const std::string& real) const { return root_ + real; }

  [[nodiscard]] bool is_folder(std::string_view path) const;
  [[nodiscard]] bool is_file(std::string_view path) const;

  // The names in a folder, sorted; at most 200,000.
  const std::vector<std::string>& names(const std::string& folder);

  // Paths that a pattern leads to, in order: "torch/lib/libtorch_cuda*.so", with '*' and '?' inside
  // of a name alone (fnmatch(3)).
  std::vector<std::string> matches(const std::string& folder, std::string_view pattern);

  // The first `most` bytes of a regular file; nothing where it is not there.
  std::optional<std::string> text(const std::string& path, size_t most);

  // The whole of a regular file of `most` bytes at most.
  std::shared_ptr<const MappedFile> map(const std::string& path, uint64_t most);

  // Notes what was not looked at, and why.
  void skip(const std::string& path, std::string_view why);

 private:
  std::string root_;
  std::vector<std::string>& skipped_;
  std::unordered_map<std::string, std::vector<std::string>> names_;
};

}  // namespace mynah::doctor
