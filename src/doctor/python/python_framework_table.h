// Where the files lie by which a framework is known, below a folder of Python packages.
#pragma once

#include <span>
#include <string_view>
#include <vector>

namespace mynah::doctor {

// Patterns are those of Tree::matches, for Linux and Windows wheels together: what one system has
// not matches nothing there. Of several files that a pattern of `loaded` or `opened` leads to one
// is used: that for Python's or torch's version, or the one that misses least.
struct FrameworkFiles {
  std::string_view name;
  std::string_view module;                      // a folder that is there where it is installed
  std::vector<std::string_view> packages = {};  // that bring it
  std::vector<std::string_view> version =
      {};  // Python files that name versions, the last one counts
  std::vector<std::string_view> loaded = {};  // libraries that importing it loads, in that order
  std::vector<std::string_view> opened = {};  // and that its first use of a card loads
  std::vector<std::string_view> code = {};    // files that hold its device code
  bool after_torch = false;                   // it imports torch first
  bool knows_cpu = false;  // without files of `code` it is known to compute on the processor alone
  bool guess = false;      // texts inside of its files tell what it opens
};

// A library of NVIDIA's whose device code decides about a card: the others dispatch to kernels that
// they have for some cards only.
struct LibraryFiles {
  std::string_view name;                // "cudnn"
  std::vector<std::string_view> files;  // in its folder
};

// torch is the first.
[[nodiscard]] std::span<const FrameworkFiles> framework_files();

[[nodiscard]] std::span<const LibraryFiles> library_files();

// Folders of NVIDIA's wheels that hold libraries.
[[nodiscard]] std::span<const std::string_view> library_folders();

}  // namespace mynah::doctor
