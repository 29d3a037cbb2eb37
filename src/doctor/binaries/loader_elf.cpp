#include "doctor/binaries/loader_elf.h"

#include <algorithm>
#include <utility>

#include "doctor/binaries/loader_paths.h"
#include "doctor/binaries/opened_names.h"

namespace mynah::doctor {
namespace {

constexpr size_t kMostTries = 200'000;         // what no honest tree comes near to
constexpr size_t kMostLacks = 8;               // of one library, that are worth saying
constexpr uint16_t kNoVersion = 1;             // VER_NDX_GLOBAL; VER_NDX_LOCAL is below it
constexpr uint64_t kNoDefaultFolders = 0x800;  // DF_1_NODEFLIB

constexpr std::string_view kVariable = "LD_LIBRARY_PATH";
constexpr std::string_view kCache = "cache";
constexpr std::string_view kDefaultFolder = "default folder";

// Their versions are kept so that each has all symbols of its name; looking at the versions is
// enough.
bool is_version_of_toolchain(std::string_view version) {
  return version.starts_with("GLIBC") || version.starts_with("GCC_") ||
         version.starts_with("CXXABI") || version.starts_with("LIBGOMP");
}

std::string_view platform_of(uint16_t machine) {
  switch (machine) {
    case kElfX86:
      return "i686";
    case kElfAarch64:
      return "aarch64";
    default:
      return "x86_64";
  }
}

// Behind the name of a library: ".so.12" and whatever else.
std::string_view without_version(std::string_view name) {
  return name.substr(0, name.find(".so"));
}

// Whether a file of that name is the library: "libcudnn.so.9" is libcudnn-74a4c495.so.9.1.0 too.
bool is_called(std::string_view name, const std::string& library) {
  const std::string plain = name_before_bundling(name).value_or(std::string(name));
  return plain.starts_with(library) &&
         (plain.size() == library.size() || plain[library.size()] == '.');
}

}  // namespace

ElfQuestion::ElfQuestion(Loader& loader, const LoaderQuestion& question)
    : loader_(loader), question_(question) {}

Result<LoaderAnswer> ElfQuestion::answer() {
  const auto real = real_path(loader_.view_.root, question_.file);
  if (!real) {
    return fail(ErrorCode::NotFound, "cannot find " + loader_.outside(question_.file));
  }
  Loader::Library* const library = loader_.library(*real);
  if (library == nullptr) {
    MYNAH_TRY(const auto file, MappedFile::open(loader_.outside(*real)));
    MYNAH_TRY_STATUS(ElfFile::parse(file));
    return fail(ErrorCode::InvalidInput, "cannot read " + loader_.outside(*real));
  }
  for (const LoadedLibrary& loaded : question_.loaded) {
    Found found{loaded.path, loaded.path, "loaded by " + loaded.by, ""};
    known_.try_emplace(std::string(file_name_of(loaded.path)), found);
    known_.try_emplace(loaded.name, std::move(found));
  }
  platform_ = platform_of(library->elf.machine);
  lib_ = std::string("lib/").append(platform_).append("-linux-gnu");
  if (!real_path(loader_.view_.root, "/" + lib_)) {
    lib_ = library->elf.bits == 64 ? "lib64" : "lib";
  }
  if (const auto program = real_path(loader_.view_.root, loader_.view_.program)) {
    program_ = {loader_.library(*program), *program, *program, 0, false};
  }
  add_node(library, question_.file, *real, 0, "");
  want_needed_from(0);
  // Names that are opened come behind: a library may be there by then.
  for (size_t i = 0; i < nodes_.size(); ++i) {
    want_opened(i);
  }
  if (is_endless()) {
    return fail(ErrorCode::Unsupported,
                loader_.outside(question_.file) + ": the libraries that it needs do not end");
  }
  drop_guesses_met_otherwise();
  return std::move(answer_);
}

bool ElfQuestion::is_endless() const {
  return nodes_.size() >= kMostLibraries || answer_.wants.size() >= kMostWants ||
         tries_ >= kMostTries;
}

void ElfQuestion::add_node(Loader::Library* library, std::string path, std::string real,
                           size_t wanted_by, std::string_view via) {
  const bool of_system = via == kCache || via == kDefaultFolder;
  const std::string soname(library->elf.dynamic.soname);
  Found found{real, path, std::string(via), ""};
  if (!soname.empty()) {
    known_.try_emplace(soname, found);
  }
  answer_.loaded.push_back({soname.empty() ? std::string(file_name_of(path)) : soname, real, ""});
  node_of_.emplace(real, nodes_.size());
  nodes_.push_back({library, std::move(path), std::move(real), wanted_by, of_system});
}

// Breadth first, as ld.so does.
void ElfQuestion::want_needed_from(size_t first_node) {
  for (size_t i = first_node; i < nodes_.size(); ++i) {
    // Copied: the nodes move when one is added, their libraries do not.
    const std::vector<std::string_view>& needed = nodes_[i].library->elf.dynamic.needed;
    for (const std::string_view name : needed) {
      want(std::string(name), Want::Needed, i, false);
    }
  }
}

void ElfQuestion::want_opened(size_t node) {
  Loader::Library& library = *nodes_[node].library;
  const std::string file_name(file_name_of(nodes_[node].path));
  for (const OpenedName& opened : question_.opened) {
    const bool by_this = opened.by.empty() ? node == 0
                                           : is_called(library.elf.dynamic.soname, opened.by) ||
                                                 is_called(file_name, opened.by);
    if (by_this) {
      const size_t next = nodes_.size();
      want(opened.library, Want::Opened, node, false);
      want_needed_from(next);
    }
  }
  if (!question_.guess || nodes_[node].of_system) {
    return;
  }
  if (!library.names) {
    library.names = library_names_in(library.elf);
  }
  for (const std::string& name : *library.names) {
    if (name != library.elf.dynamic.soname) {
      want(name, Want::Opened, node, true);
    }
  }
}

void ElfQuestion::want(const std::string& name, Want kind, size_t by, bool guessed) {
  if (is_endless()) {
    return;
  }
  Found found;
  if (const auto known = known_.find(name); known != known_.end()) {
    found = known->second;
  } else {
    found = search(name, by);
    // What may never be opened meets no other want, and what it needs is nobody's.
    if (!found.real.empty() && !guessed) {
      known_.emplace(name, found);
      if (!node_of_.contains(found.real)) {
        add_node(loader_.library(found.real), found.path, found.real, by, found.via);
      }
    }
  }
  LibraryWant result;
  result.library = name;
  result.want = kind;
  result.by = nodes_[by].real;
  result.found = found.real;
  result.via = found.via;
  result.dead_path = found.dead_path;
  result.guessed = guessed;
  if (!found.real.empty()) {
    result.lacks = lacks(by, name, found.real);
  }
  const auto first = want_of_.find(name);
  if (first != want_of_.end() && result.lacks.empty()) {
    LibraryWant& earlier = answer_.wants[first->second];
    const bool found_now = earlier.found.empty() && !found.real.empty();
    const bool needed_now = kind == Want::Needed && earlier.want != Want::Needed;
    const bool known_now = earlier.guessed && !guessed;
    if (earlier.want == Want::Needed || (!found_now && !needed_now && !known_now)) {
      return;
    }
  }
  if (found.real.empty()) {
    result.elsewhere = elsewhere(name);
  }
  if (first != want_of_.end() && result.lacks.empty()) {
    answer_.wants[first->second] = std::move(result);
    return;
  }
  want_of_.try_emplace(name, answer_.wants.size());
  answer_.wants.push_back(std::move(result));
}

bool ElfQuestion::try_path(const std::string& path, std::string_view via, Found& found) {
  if (++tries_ > kMostTries) {
    return false;
  }
  const auto real = real_path(loader_.view_.root, path);
  const Loader::Library* const library = real ? loader_.library(*real) : nullptr;
  const ElfFile& first = nodes_.front().library->elf;
  if (library == nullptr || library->elf.bits != first.bits ||
      library->elf.machine != first.machine) {
    return false;
  }
  found.real = *real;
  found.path = path;
  found.via = via;
  return true;
}

bool ElfQuestion::search_folders(std::string_view list, std::string_view separators,
                                 std::string_view via, const std::string& name, const Node& of,
                                 Found& found) {
  const LoaderView& view = loader_.view_;
  const LoaderTokens tokens = {folder_of(of.path), lib_, std::string(platform_)};
  for (const std::string& folder : split_folders(list, separators)) {
    const auto expanded = expand_tokens(folder, tokens);
    if (!expanded) {
      continue;
    }
    // Empty and relative ones are looked up from wherever the program was started.
    const bool relative = !expanded->starts_with('/');
    if (!relative && try_path(*expanded + "/" + name, via, found)) {
      return true;
    }
    // What a user's variable names and is not there is nobody's build machine.
    const bool of_builder =
        folder == *expanded && via != kVariable &&
        std::ranges::find(view.default_folders, folder) == view.default_folders.end() &&
        !real_path(view.root, folder);
    if (found.dead_path.empty() && (relative || of_builder)) {
      found.dead_path = folder.empty() ? "." : folder;
    }
  }
  return false;
}

// DT_RPATH of the wanting file, of those that loaded it, and of the program.
bool ElfQuestion::search_rpaths(const std::string& name, size_t by, Found& found) {
  const auto search_node = [&](const Node& node) {
    const ElfDynamic& dynamic = node.library->elf.dynamic;
    return dynamic.rpath && !dynamic.runpath &&
           search_folders(*dynamic.rpath, ":", "RPATH", name, node, found);
  };
  for (size_t node = by;; node = nodes_[node].loader) {
    if (search_node(nodes_[node])) {
      return true;
    }
    if (nodes_[node].loader == node) {
      break;
    }
  }
  return program_.library != nullptr && search_node(program_);
}

ElfQuestion::Found ElfQuestion::search(const std::string& name, size_t by) {
  const LoaderView& view = loader_.view_;
  const Node& node = nodes_[by];
  const ElfDynamic& wanting = node.library->elf.dynamic;
  Found found;
  if (name.find('/') != std::string::npos) {
    const auto path = expand_tokens(name, {folder_of(node.path), lib_, std::string(platform_)});
    if (path && path->starts_with('/')) {
      try_path(*path, "its path", found);
    }
    return found;
  }
  if ((!wanting.runpath && search_rpaths(name, by, found)) ||
      search_folders(view.library_path, ":;", kVariable, name, node, found) ||
      (wanting.runpath && search_folders(*wanting.runpath, ":", "RUNPATH", name, node, found)) ||
      (wanting.flags_1 & kNoDefaultFolders) != 0) {
    return found;
  }
  if (const auto cached = view.cache.find(name); cached != view.cache.end()) {
    for (const std::string& path : cached->second) {
      if (try_path(path, kCache, found)) {
        return found;
      }
    }
  }
  const std::string in_folder = "/" + name;
  for (const std::string& folder : view.default_folders) {
    if (try_path(folder + in_folder, kDefaultFolder, found)) {
      return found;
    }
  }
  return found;
}

std::vector<std::string> ElfQuestion::elsewhere(const std::string& name) {
  std::vector<std::string> places;
  const std::string in_folder = "/" + name;
  for (const std::string& folder : loader_.view_.other_folders) {
    Found found;
    if (try_path(folder + in_folder, "", found) &&
        std::ranges::find(places, found.real) == places.end()) {
      places.push_back(found.real);
    }
  }
  return places;
}

// A file that defines no versions at all is taken with a warning (glibc, elf/dl-version.c).
std::vector<std::string> ElfQuestion::lacks(size_t by, const std::string& name,
                                            const std::string& real) {
  Loader::Library* const library = loader_.library(real);
  const ElfFile& wanting = nodes_[by].library->elf;
  const auto need = std::ranges::find(wanting.dynamic.version_needs, std::string_view(name),
                                      &ElfVersionNeed::file);
  if (library == nullptr || need == wanting.dynamic.version_needs.end() ||
      library->elf.dynamic.version_definitions.empty()) {
    return {};
  }
  std::vector<std::string> missing;
  std::vector<const ElfVersion*> with_symbols;
  for (const ElfVersion& version : need->versions) {
    const bool defined =
        std::ranges::find(library->elf.dynamic.version_definitions, version.name,
                          &ElfVersion::name) != library->elf.dynamic.version_definitions.end();
    if (!defined && !version.weak && missing.size() < kMostLacks) {
      missing.emplace_back(version.name);
    } else if (defined && !is_version_of_toolchain(version.name)) {
      with_symbols.push_back(&version);
    }
  }
  if (!missing.empty() || with_symbols.empty()) {
    return missing;
  }
  if (!library->defined) {
    library->defined.emplace();
    for (const ElfSymbol& symbol : library->elf.symbols().value_or(std::vector<ElfSymbol>())) {
      if (symbol.defined) {
        library->defined->insert(symbol.name);
      }
    }
  }
  Loader::Library& user = *nodes_[by].library;
  if (!user.undefined) {
    user.undefined.emplace();
    for (const ElfSymbol& symbol : wanting.symbols().value_or(std::vector<ElfSymbol>())) {
      if (!symbol.defined && !symbol.weak && symbol.version > kNoVersion) {
        user.undefined->push_back(symbol);
      }
    }
  }
  for (const ElfSymbol& symbol : *user.undefined) {
    const auto version = std::ranges::find(with_symbols, symbol.version, &ElfVersion::index);
    if (version != with_symbols.end() && !library->defined->contains(symbol.name) &&
        missing.size() < kMostLacks) {
      missing.push_back(std::string(symbol.name) + ", version " + std::string((*version)->name));
    }
  }
  return missing;
}

// A file that tries "libcuda.so.1", then "libcuda.so", needs one of them.
void ElfQuestion::drop_guesses_met_otherwise() {
  std::unordered_set<std::string_view> met;
  for (const LibraryWant& want : answer_.wants) {
    if (!want.found.empty()) {
      met.insert(without_version(want.library));
    }
  }
  std::vector<LibraryWant> kept;
  for (LibraryWant& want : answer_.wants) {
    if (!want.guessed || !want.found.empty() || !met.contains(without_version(want.library))) {
      kept.push_back(want);
    }
  }
  answer_.wants = std::move(kept);
}

}  // namespace mynah::doctor
