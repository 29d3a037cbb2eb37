// Trees with Python environments for tests.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "doctor/python/python_environments.h"
#include "temporary_folder.h"
#include "tiny_elf.h"
#include "tiny_fatbin.h"
#include "tiny_pe.h"

namespace mynah::test {

// A tree that is looked at as if it were the machine.
class PythonTree {
 public:
  void write(const std::string& path, std::string_view text) {
    write_file(root_.path() + path, text);
  }

  void write(const std::string& path, const TinyElf& elf) { write(path, elf_bytes(elf)); }

  void write(const std::string& path, const TinyPe& pe) { write(path, pe_bytes(pe)); }

  void link(const std::string& path, const std::string& target) {
    std::filesystem::create_directories(std::filesystem::path(root_.path() + path).parent_path());
    std::filesystem::create_symlink(target, root_.path() + path);
  }

  // A distribution, with what its METADATA say besides and with its RECORD.
  void package(const std::string& site, const std::string& name, const std::string& version,
               const std::string& fields = "", const std::string& record = "") {
    const std::string folder = site + "/" + name + "-" + version + ".dist-info/";
    write(folder + "METADATA",
          "Metadata-Version: 2.1\nName: " + name + "\nVersion: " + version + "\n" + fields);
    if (!record.empty()) {
      write(folder + "RECORD", record);
    }
  }

  [[nodiscard]] std::string root() const { return root_.path(); }

  // What is found at the places, or everywhere where none is named.
  std::vector<doctor::PythonEnvironment> look(doctor::Look look) {
    look.root = root_.path();
    skipped.clear();
    auto found = doctor::gather_environments(look, doctor::builtin_knowledge(), skipped);
    error = found ? "" : found.error().message;
    return found.value_or(std::vector<doctor::PythonEnvironment>());
  }

  // The one environment at a place.
  doctor::PythonEnvironment at(const std::string& place) {
    auto found = look({.places = {place}});
    return found.size() == 1 ? found.front() : doctor::PythonEnvironment();
  }

  std::vector<std::string> skipped;
  std::string error;

 private:
  TemporaryFolder root_;
};

inline const doctor::Framework& framework_of(const doctor::PythonEnvironment& environment,
                                             std::string_view name) {
  static const doctor::Framework kNone;
  for (const doctor::Framework& framework : environment.frameworks) {
    if (framework.name == name) {
      return framework;
    }
  }
  return kNone;
}

inline const doctor::LibraryWant& want_of(const doctor::Framework& framework,
                                          std::string_view library) {
  static const doctor::LibraryWant kNone;
  for (const doctor::LibraryWant& want : framework.wants) {
    if (want.library == library) {
      return want;
    }
  }
  return kNone;
}

// A library with device code for one architecture.
inline TinyElf with_code(uint32_t architecture, TinyElf elf = {}) {
  elf.sections.emplace_back(".nv_fatbin", fatbin_bytes({{.architecture = architecture}}));
  return elf;
}

}  // namespace mynah::test
