#include "doctor/binaries/loader_pe.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <utility>

#include "base/mapped_file.h"
#include "doctor/binaries/loader_paths.h"

namespace mynah::doctor {
namespace {

constexpr size_t kMostFiles = 100'000;  // of a folder, that are looked at

// DLLs that every Windows has, without ".dll". That of the C++ library (msvcp140) is none of them,
// nor that of the driver (nvcuda): they are looked for.
constexpr auto kOfWindows =
    std::to_array<std::string_view>({"advapi32",   "avrt",      "bcrypt",    "bcryptprimitives",
                                     "cfgmgr32",   "combase",   "comctl32",  "comdlg32",
                                     "crypt32",    "cryptbase", "d2d1",      "d3d11",
                                     "d3d12",      "d3d9",      "dbgcore",   "dbghelp",
                                     "dnsapi",     "dwmapi",    "dwrite",    "dxcore",
                                     "dxgi",       "gdi32",     "gdi32full", "hid",
                                     "imagehlp",   "imm32",     "iphlpapi",  "kernel32",
                                     "kernelbase", "mf",        "mfplat",    "mfreadwrite",
                                     "mpr",        "msacm32",   "msvcrt",    "ncrypt",
                                     "netapi32",   "normaliz",  "ntdll",     "ole32",
                                     "oleaut32",   "opengl32",  "pdh",       "powrprof",
                                     "propsys",    "psapi",     "rpcrt4",    "sechost",
                                     "secur32",    "setupapi",  "shcore",    "shell32",
                                     "shlwapi",    "ucrtbase",  "urlmon",    "user32",
                                     "userenv",    "uxtheme",   "version",   "win32u",
                                     "winhttp",    "wininet",   "winmm",     "wintrust",
                                     "wldap32",    "ws2_32",    "wsock32",   "wtsapi32"});
constexpr std::array<std::string_view, 2> kOfWindowsBeginnings = {"api-ms-win-", "ext-ms-"};

// What Python brings and has loaded before it loads anything else.
constexpr auto kOfPython = std::to_array<std::string_view>({"vcruntime140", "vcruntime140_1"});
constexpr std::string_view kOfPythonBeginning = "python3";

std::string in_small_letters(std::string_view text) {
  std::string small(text);
  std::ranges::transform(small, small.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  });
  return small;
}

bool is_of_python(std::string_view small_name) {
  const std::string_view stem = small_name.substr(0, small_name.rfind(".dll"));
  return std::ranges::find(kOfPython, stem) != kOfPython.end() ||
         small_name.starts_with(kOfPythonBeginning);
}

bool is_of_windows(std::string_view small_name) {
  const std::string_view stem = small_name.substr(0, small_name.rfind(".dll"));
  return std::ranges::find(kOfWindows, stem) != kOfWindows.end() ||
         std::ranges::any_of(kOfWindowsBeginnings, [&](std::string_view beginning) {
           return small_name.starts_with(beginning);
         });
}

}  // namespace

std::shared_ptr<const PeFile> Loader::pe_file(const std::string& path) {
  const auto [slot, is_new] = pe_files_.try_emplace(path);
  if (is_new) {
    if (const auto file = MappedFile::open(outside(path))) {
      if (auto pe = PeFile::parse(*file)) {
        slot->second = std::make_shared<const PeFile>(std::move(*pe));
      }
    }
  }
  return slot->second;
}

std::optional<std::string> Loader::find_ignoring_case(const std::string& folder,
                                                      std::string_view name) {
  const auto real = real_path(view_.root, folder);
  if (!real) {
    return std::nullopt;
  }
  const auto [files, is_new] = folders_.try_emplace(*real);
  if (is_new) {
    std::error_code error;
    std::filesystem::directory_iterator entry(outside(*real), error);
    for (; !error && entry != std::filesystem::directory_iterator() &&
           files->second.size() < kMostFiles;
         entry.increment(error)) {
      const std::string file_name = entry->path().filename().string();
      files->second.emplace(in_small_letters(file_name), file_name);
    }
  }
  const auto file = files->second.find(in_small_letters(name));
  return file == files->second.end() ? std::nullopt
                                     : real_path(view_.root, *real + "/" + file->second);
}

PeQuestion::PeQuestion(Loader& loader, const LoaderQuestion& question)
    : loader_(loader), question_(question) {}

Result<LoaderAnswer> PeQuestion::answer() {
  const auto path = real_path(loader_.view_.root, question_.file);
  if (!path) {
    return fail(ErrorCode::NotFound, "cannot find " + loader_.outside(question_.file));
  }
  MYNAH_TRY(const auto mapped, MappedFile::open(loader_.outside(*path)));
  MYNAH_TRY(PeFile file, PeFile::parse(mapped));
  for (const LoadedLibrary& loaded : question_.loaded) {
    loaded_.try_emplace(in_small_letters(loaded.name),
                        Found{loaded.path, "loaded by " + loaded.by});
  }
  const std::string name(file_name_of(*path));
  wanted_.insert(in_small_letters(name));
  answer_.loaded.push_back({name, *path, ""});
  nodes_.push_back({std::make_shared<const PeFile>(std::move(file)), *path});
  for (size_t i = 0; i < nodes_.size(); ++i) {
    const auto node = nodes_[i].file;  // the nodes move when one is added
    for (const std::string_view dll : node->imports) {
      want(dll, Want::Needed, i);
    }
    for (const std::string_view dll : node->delay_imports) {
      want(dll, Want::Opened, i);
    }
    const std::string node_name = in_small_letters(file_name_of(nodes_[i].path));
    for (const OpenedName& opened : question_.opened) {
      if (opened.by.empty() ? i == 0 : in_small_letters(opened.by) == node_name) {
        want(opened.library, Want::Opened, i);
      }
    }
  }
  if (is_endless()) {
    return fail(ErrorCode::Unsupported,
                loader_.outside(question_.file) + ": the libraries that it needs do not end");
  }
  return std::move(answer_);
}

bool PeQuestion::is_endless() const {
  return nodes_.size() >= kMostLibraries || answer_.wants.size() >= kMostWants;
}

void PeQuestion::want(std::string_view name, Want kind, size_t by) {
  const std::string small = in_small_letters(name);
  if (is_endless() || !wanted_.insert(small).second) {
    return;
  }
  LibraryWant result;
  result.library = name;
  result.want = kind;
  result.by = nodes_[by].path;
  const auto loaded = loaded_.find(small);
  const Found found = loaded != loaded_.end() ? loaded->second : search(name, by);
  result.found = found.path;
  result.via = found.via;
  if (found.path.empty()) {
    for (const std::string& folder : loader_.view_.other_folders) {
      const Found other = try_folder(folder, name, "", nodes_[by].file->machine);
      if (!other.path.empty()) {
        result.elsewhere.push_back(other.path);
      }
    }
  } else if (auto file = loader_.pe_file(found.path); file != nullptr && loaded == loaded_.end()) {
    answer_.loaded.push_back({std::string(name), found.path, ""});
    nodes_.push_back({std::move(file), found.path});
  }
  answer_.wants.push_back(std::move(result));
}

PeQuestion::Found PeQuestion::try_folder(const std::string& folder, std::string_view name,
                                         std::string_view via, uint16_t machine) {
  const auto path = loader_.find_ignoring_case(folder, name);
  const auto file = path ? loader_.pe_file(*path) : nullptr;
  if (file == nullptr || file->machine != machine) {
    return {};
  }
  return {*path, std::string(via)};
}

PeQuestion::Found PeQuestion::search(std::string_view name, size_t by) {
  const LoaderView& view = loader_.view_;
  const uint16_t machine = nodes_[by].file->machine;
  std::vector<std::pair<std::string, std::string_view>> folders = {
      {folder_of(nodes_[by].path), "its folder"}, {folder_of(nodes_[0].path), "its folder"}};
  if (!view.program.empty()) {
    folders.emplace_back(folder_of(view.program), "folder of the program");
  }
  for (const std::string& folder : view.dll_folders) {
    folders.emplace_back(folder, "add_dll_directory");
  }
  for (const std::string& folder : view.default_folders) {
    folders.emplace_back(folder, "System32");
  }
  for (const std::string& folder : split_folders(view.library_path, ";")) {
    folders.emplace_back(folder, "PATH");
  }
  for (const auto& [folder, via] : folders) {
    if (Found found = try_folder(folder, name, via, machine); !found.path.empty()) {
      return found;
    }
  }
  if (is_of_python(in_small_letters(name))) {
    return {std::string(name), "Python, taken to have it"};
  }
  if (is_of_windows(in_small_letters(name))) {
    return {"System32/" + std::string(name), "System32, taken to be there"};
  }
  return {};
}

}  // namespace mynah::doctor
