// Frameworks of a Python environment, by their files.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "doctor/binaries/loader.h"
#include "doctor/facts.h"
#include "doctor/knowledge/knowledge.h"
#include "doctor/python/python_framework_table.h"
#include "doctor/python/python_places.h"
#include "doctor/tree.h"

namespace mynah::doctor {

// The device code of files that were read, by real path: a library may serve many environments.
using DeviceCodeCache = std::map<std::string, DeviceCode>;

// Adds frameworks to an environment whose packages and shared paths are there, and to versions of
// packages the local part that their own files tell.
//
// Wants are those of the libraries that importing a framework loads, and of those that its first
// use of a card opens: such a library is itself an Opened want of the first that was loaded.
// A Windows tree without Windows itself cannot tell what System32 has: such wants are guesses.
// Libraries of NVIDIA that decide about a card (cuDNN, cuBLAS, NCCL) are frameworks of their own,
// by folder: those of wheels, and those outside of wheels that a framework finds.
class FrameworkReader {
 public:
  // `library_path` is LD_LIBRARY_PATH of whoever runs Python. What is passed must outlive this.
  FrameworkReader(Tree& tree, const Knowledge& knowledge, const EnvironmentPlace& place,
                  const std::string& library_path, DeviceCodeCache& codes);

  void read(PythonEnvironment& environment);

 private:
  using Assignments = std::map<std::string, std::optional<std::string>, std::less<>>;

  // One framework while it is read.
  struct Reading {
    const FrameworkFiles& files;
    std::string site;  // that it is in
    Framework framework = {};
    Assignments values = {};
    Package* package = nullptr;
    std::map<std::string_view, std::string> chosen = {};  // of a pattern's files
    std::vector<LoadedLibrary> loaded = {};
  };

  void read_framework(const FrameworkFiles& files, const std::string& site,
                      PythonEnvironment& environment);
  [[nodiscard]] bool has_files(const FrameworkFiles& files, const std::string& site);
  // What metadata speak of, and no file is there of.
  static void add_promised(const FrameworkFiles& files, PythonEnvironment& environment);
  void find_package(Reading& reading, PythonEnvironment& environment) const;
  void set_versions(Reading& reading) const;
  void read_wants(Reading& reading);
  void open_by_python(Reading& reading);
  void load_torch_dependencies(Reading& reading);
  // `by`: the Python file that loads it, where that is told.
  void ask(Reading& reading, const std::string& file, std::string_view by = {});
  void note_torch(Reading& reading) const;
  [[nodiscard]] LoaderQuestion question(const Reading& reading, const std::string& file) const;
  void add_opened_of_ctranslate2(const std::string& library, int cuda_major,
                                 LoaderQuestion& question) const;
  [[nodiscard]] bool may_be_of_windows(std::string_view library) const;
  std::string choose(Reading& reading, std::string_view pattern);
  void read_code(Reading& reading);
  void add_code(Framework& framework, const std::string& path);
  void read_libraries(PythonEnvironment& environment);
  void add_library(const std::string& folder, const std::string& site,
                   PythonEnvironment& environment);

  Tree& tree_;
  const Knowledge& knowledge_;
  const EnvironmentPlace& place_;
  DeviceCodeCache& codes_;
  Loader loader_;
  std::vector<LoadedLibrary> torch_;  // libraries that importing torch loads
  std::string torch_cuda_;            // "126"
  std::set<std::string> libraries_;   // real folders whose libraries were added
};

}  // namespace mynah::doctor
