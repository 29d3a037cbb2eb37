// The dynamic loader, simulated: where each library that a file wants would come from. Nothing is
// loaded or run.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/result.h"
#include "doctor/facts.h"
#include "formats/elf.h"
#include "formats/pe.h"

namespace mynah::doctor {

// What no honest process comes near to: the search for its libraries ends there.
inline constexpr size_t kMostLibraries = 4096;
inline constexpr size_t kMostWants = 65'536;

// What the loader goes by. All paths are absolute and as seen inside of `root`, with '/' on Windows
// trees as well.
struct LoaderView {
  System system = System::Linux;
  std::string root;     // of the tree, without '/' at its end; empty: this machine
  std::string program;  // that loads the file first: Python's; its own RPATH counts. Empty: unknown
  // LD_LIBRARY_PATH, on Windows PATH, as the variable has it.
  std::string library_path;
  // The loader's cache: paths for each name, in its order. Linux.
  std::map<std::string, std::vector<std::string>> cache;
  std::vector<std::string> default_folders;  // behind all others; on Windows System32
  std::vector<std::string> dll_folders;      // of os.add_dll_directory(). Windows
  // Where libraries may lie that the loader does not look at: those of wheels, of toolkits.
  std::vector<std::string> other_folders;
};

// What ld.so would go by in that tree: its cache, where there is one that can be read, and the
// folders that glibc of Debian's and of Red Hat's kind has built in.
[[nodiscard]] LoaderView linux_view(std::string root, std::string library_path);

// A library that is in the process.
struct LoadedLibrary {
  std::string name;  // SONAME, or the name that it was asked for by
  std::string path;  // real, inside of the root
  std::string by;    // who loaded it: "torch"

  bool operator==(const LoadedLibrary&) const = default;
};

// A name that somebody is known to open at run time.
struct OpenedName {
  // SONAME or file name of the library that does, without what auditwheel put into it; longer
  // versions are meant too. Empty: the file asked about.
  std::string by;
  std::string library;  // "libcublas.so.12"
};

struct LoaderQuestion {
  std::string file;                        // whose wants are asked for
  std::vector<LoadedLibrary> loaded = {};  // before it; what has such a name is not looked for
  std::vector<OpenedName> opened = {};
  bool guess = true;  // take texts in files for names that they open (library_names_in)
};

struct LoaderAnswer {
  // One for each library; several where one that is found lacks what others want of it. Wants of
  // libraries that were found are among them, but not those of libraries that are guessed to be
  // opened. Guesses are left out where the same library is found under another version's name.
  std::vector<LibraryWant> wants;
  // The file and all that was found, for the question about what is loaded next; `by` is empty.
  std::vector<LoadedLibrary> loaded;
};

// Follows ld.so(8): DT_RPATH of the wanting file and of those that loaded it, unless it has a
// DT_RUNPATH; LD_LIBRARY_PATH; DT_RUNPATH; the cache; the default folders. A file of another class
// or machine is passed by. The folders glibc-hwcaps/* are looked at in the cache alone. Of Windows'
// rules: what is loaded already, the folder of the wanting file and of the file asked about,
// dll_folders, System32, PATH. DLLs of Windows itself and those that come with Python are taken to
// be there: `found` is then no path of the tree.
//
// Keeps what it has read, so that many files of a tree are asked about quickly. A question ends
// with an error where it leads to more than 4096 libraries, 65536 wants or 200,000 places to look.
class Loader {
 public:
  explicit Loader(LoaderView view);

  // Fails where the file cannot be read or is neither ELF nor PE.
  Result<LoaderAnswer> ask(const LoaderQuestion& question);

  [[nodiscard]] const LoaderView& view() const { return view_; }

 private:
  friend class ElfQuestion;
  friend class PeQuestion;

  // An ELF file as it was read, and what is derived from it when first asked for.
  struct Library {
    ElfFile elf;
    std::optional<std::vector<std::string>> names;  // library_names_in
    std::optional<std::unordered_set<std::string_view>> defined;
    std::optional<std::vector<ElfSymbol>> undefined;  // that have a version and are not weak
  };

  // By real path; null: it is not there or not readable.
  Library* library(const std::string& path);
  std::shared_ptr<const PeFile> pe_file(const std::string& path);
  // The real path of a file in a folder, whatever its case (Windows).
  std::optional<std::string> find_ignoring_case(const std::string& folder, std::string_view name);

  [[nodiscard]] std::string outside(const std::string& path) const { return view_.root + path; }

  LoaderView view_;
  std::unordered_map<std::string, std::unique_ptr<Library>> libraries_;
  std::unordered_map<std::string, std::shared_ptr<const PeFile>> pe_files_;
  std::unordered_map<std::string, std::unordered_map<std::string, std::string>> folders_;
};

}  // namespace mynah::doctor
