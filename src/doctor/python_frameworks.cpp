#include "doctor/python_frameworks.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include <fnmatch.h>

#include "doctor/device_code.h"
#include "doctor/loader_paths.h"
#include "doctor/opened_names.h"
#include "doctor/python_built_with.h"
#include "doctor/python_text.h"

namespace mynah::doctor {
namespace {

constexpr size_t kMostVersionBytes = 64 << 10;
constexpr size_t kMostPythonBytes = 1 << 20;
constexpr std::string_view kTorchScript = "torch/__init__.py";

std::string join(std::string_view folder, std::string_view name) {
  return std::string(folder).append("/").append(name);
}

LoaderView view_of(Tree& tree, const EnvironmentPlace& place, const std::string& library_path) {
  const bool windows = place.system == System::Windows;
  LoaderView view = windows ? LoaderView() : linux_view(tree.root(), library_path);
  view.system = place.system;
  view.root = tree.root();
  view.program = place.program;
  const auto add = [&](const std::string& folder, std::string_view pattern) {
    for (std::string& match : tree.matches(folder, pattern)) {
      view.other_folders.push_back(std::move(match));
    }
  };
  for (const std::string& site : place.sites) {
    for (const std::string_view folder : library_folders()) {
      add(site, folder);
    }
    for (const char* const folder : {"torch/lib", "tensorrt_libs", "onnxruntime/capi"}) {
      add(site, folder);
    }
    if (windows && tree.is_folder(join(site, "torch/lib"))) {
      view.dll_folders.push_back(join(site, "torch/lib"));
    }
  }
  if (windows) {
    view.default_folders = {"/Windows/System32"};
    add("/Program Files", "NVIDIA GPU Computing Toolkit/CUDA/*/bin");
    return view;
  }
  add(place.path, "lib");
  for (const char* const folder :
       {"usr/local/cuda*/lib64", "opt/cuda/lib64", "usr/lib/wsl/lib", "usr/lib/cuda/lib64"}) {
    add("", folder);
  }
  return view;
}

// "cpython-311" and "cp311" of another Python than that.
bool is_of_other_python(std::string_view file_name, const std::string& python) {
  std::string digits = python;
  std::erase(digits, '.');
  for (const std::string_view mark : {".cpython-3", ".cp3"}) {
    const size_t at = file_name.find(mark);
    if (at != std::string_view::npos && !digits.empty()) {
      return !file_name.substr(at + mark.size() - 1).starts_with(digits);
    }
  }
  return false;
}

size_t missing_of(const std::vector<LibraryWant>& wants) {
  return static_cast<size_t>(std::ranges::count_if(
      wants, [](const LibraryWant& want) { return want.found.empty() && !want.guessed; }));
}

}  // namespace

FrameworkReader::FrameworkReader(Tree& tree, const Knowledge& knowledge,
                                 const EnvironmentPlace& place, const std::string& library_path,
                                 DeviceCodeCache& codes)
    : tree_(tree),
      knowledge_(knowledge),
      place_(place),
      codes_(codes),
      loader_(view_of(tree, place, library_path)) {}

void FrameworkReader::read(PythonEnvironment& environment) {
  for (const FrameworkFiles& files : framework_files()) {
    // As Python does, the first on its path is taken.
    const auto site = std::ranges::find_if(place_.sites, [&](const std::string& folder) {
      return tree_.is_folder(join(folder, files.module));
    });
    if (site != place_.sites.end()) {
      read_framework(files, *site, environment);
    }
  }
  read_libraries(environment);
}

void FrameworkReader::read_framework(const FrameworkFiles& files, const std::string& site,
                                     PythonEnvironment& environment) {
  Reading reading{.files = files, .site = site};
  reading.framework.name = files.name;
  reading.framework.folder = join(site, files.module.substr(0, files.module.find('/')));
  for (const std::string_view file : files.version) {
    if (const auto text = tree_.text(join(site, file), kMostVersionBytes)) {
      for (auto& [name, value] : read_assignments(*text)) {
        reading.values[name] = std::move(value);
      }
    }
  }
  find_package(reading, environment);
  set_versions(reading);
  read_wants(reading);
  read_code(reading);
  Framework& framework = reading.framework;
  if (reading.package == nullptr && framework.code.empty() && framework.wants.empty()) {
    return;  // a folder that an uninstallation left behind
  }
  framework.cuda = cuda_built_with(framework, reading.values, files.knows_cpu, knowledge_);
  framework.cudnn = cudnn_built_with(framework, reading.values, reading.package);
  if (const auto hip = reading.values.find("hip"); hip != reading.values.end()) {
    framework.hip = hip->second.value_or("");
  }
  if (&files == framework_files().data()) {
    torch_ = std::move(reading.loaded);
    torch_cuda_ = framework.cuda.value_or("");
    std::erase(torch_cuda_, '.');
  }
  environment.frameworks.push_back(std::move(framework));
}

void FrameworkReader::find_package(Reading& reading, PythonEnvironment& environment) const {
  const auto told = reading.values.find("package_name");
  const std::string wanted = told == reading.values.end() ? "" : told->second.value_or("");
  const auto version = reading.values.find("__version__");
  const auto files_version =
      Version::parse(version == reading.values.end() ? "" : version->second.value_or(""));
  std::string winner;
  for (const SharedPath& shared : environment.shared_paths) {
    if (shared.path.starts_with(reading.framework.folder + "/")) {
      winner = shared.winner;
    }
  }
  int best = -1;
  for (Package& package : environment.packages) {
    const auto at = std::ranges::find(reading.files.packages, package.name);
    if (at == reading.files.packages.end() || (package.folder != reading.site && !place_.conda)) {
      continue;
    }
    const auto its = Version::parse(package.version);
    const bool same = its && files_version && its->public_part() == files_version->public_part();
    const int points = (package.name == wanted ? 8 : 0) + (same ? 4 : 0) +
                       (package.name == winner ? 2 : 0) + (package.folder == reading.site ? 1 : 0);
    if (points > best) {
      best = points;
      reading.package = &package;
    }
  }
}

void FrameworkReader::set_versions(Reading& reading) const {
  Framework& framework = reading.framework;
  const auto told = reading.values.find("__version__");
  const std::string text = told == reading.values.end() ? "" : told->second.value_or("");
  const auto version = Version::parse(text);
  if (reading.package != nullptr) {
    framework.package = reading.package->name;
    framework.version = reading.package->version;
  }
  if (!version) {
    return;
  }
  framework.version = text;
  const auto metadata =
      reading.package == nullptr ? version : Version::parse(reading.package->version);
  if (!metadata || metadata->public_part() != version->public_part()) {
    return;
  }
  if (version->local.empty()) {
    // What the metadata say more.
    framework.version = reading.package == nullptr ? text : reading.package->version;
  } else if (reading.package != nullptr && metadata->local.empty()) {
    reading.package->version = text;
  }
}

LoaderQuestion FrameworkReader::question(const Reading& reading, const std::string& file) const {
  LoaderQuestion question;
  question.file = file;
  question.loaded = reading.loaded;
  question.guess = reading.files.guess;
  const auto version = Version::parse(reading.framework.version);
  const bool is_ctranslate2 = reading.files.name == "ctranslate2";
  const CTranslate2Release* const release =
      is_ctranslate2 && version ? knowledge_.ctranslate2_release(*version) : nullptr;
  if (release != nullptr && release->verified) {
    // It is known which parts of cuDNN it uses: what else cuDNN could open is not missed.
    for (const std::string& library : release->opens) {
      add_opened_of_ctranslate2(library, release->cuda_major, question);
    }
    return question;
  }
  question.guess |= is_ctranslate2;
  for (const Opener& opener : knowledge_.openers) {
    for (const std::string& library : opener.opens) {
      if (opener.verified) {
        question.opened.push_back({opener.library, library});
      }
    }
  }
  return question;
}

void FrameworkReader::add_opened_of_ctranslate2(const std::string& library, int cuda_major,
                                                LoaderQuestion& question) const {
  if (place_.system == System::Linux) {
    question.opened.push_back({"libctranslate2.so", library});
    return;
  }
  for (const Library* const known : knowledge_.libraries_named(library)) {
    if (known->cuda_major == cuda_major && !known->dll.empty()) {
      question.opened.push_back({"ctranslate2.dll", known->dll});
    }
  }
}

std::string FrameworkReader::choose(Reading& reading, std::string_view pattern) {
  std::vector<std::string> files = tree_.matches(reading.site, pattern);
  const auto keep = [&](const auto& fits) {
    std::vector<std::string> fitting;
    std::ranges::copy_if(files, std::back_inserter(fitting),
                         [&](const std::string& file) { return fits(file_name_of(file)); });
    if (!fitting.empty()) {
      files = std::move(fitting);
    }
  };
  keep([&](std::string_view name) { return !is_of_other_python(name, place_.python); });
  if (files.size() > 1 && !torch_cuda_.empty()) {
    keep([&](std::string_view name) {
      return name.find("cuda" + torch_cuda_) != std::string_view::npos;
    });
  }
  if (files.size() < 2) {
    return files.empty() ? "" : files.front();
  }
  std::string best;
  size_t least = SIZE_MAX;
  for (const std::string& file : files) {
    const auto answer = loader_.ask(question(reading, file));
    if (const size_t missing = answer ? missing_of(answer->wants) : SIZE_MAX;
        best.empty() || missing < least) {
      best = file;
      least = missing;
    }
  }
  return best;
}

void FrameworkReader::ask(Reading& reading, const std::string& file, std::string_view by) {
  auto answer = loader_.ask(question(reading, file));
  if (!answer) {
    tree_.skip(file, answer.error().message);
    return;
  }
  std::vector<LibraryWant>& wants = reading.framework.wants;
  for (LibraryWant& want : answer->wants) {
    want.guessed |= want.found.empty() && may_be_of_windows(want.library);
    const auto known = std::ranges::find(wants, want.library, &LibraryWant::library);
    if (known == wants.end() || (!want.lacks.empty() && known->lacks != want.lacks)) {
      wants.push_back(std::move(want));
    }
  }
  for (LoadedLibrary& library : answer->loaded) {
    library.by = by.empty() ? reading.files.name : by;
    reading.loaded.push_back(std::move(library));
  }
}

// Windows itself is not in a tree that is looked at from elsewhere, nor is what its users install
// for it: Visual C++'s library, the driver.
bool FrameworkReader::may_be_of_windows(std::string_view library) const {
  if (place_.system != System::Windows || tree_.is_folder(loader_.view().default_folders.front())) {
    return false;
  }
  const std::vector<const Library*> known = knowledge_.libraries_named(library);
  return std::ranges::all_of(known, [](const Library* one) { return one->cuda_major == 0; });
}

void FrameworkReader::read_wants(Reading& reading) {
  if (reading.files.after_torch) {
    reading.loaded = torch_;
  }
  open_by_python(reading);
  if (&reading.files == framework_files().data()) {
    load_torch_dependencies(reading);
  }
  std::string first = reading.framework.folder;
  for (const std::string_view pattern : reading.files.loaded) {
    const std::string file = choose(reading, pattern);
    if (file.empty()) {
      continue;
    }
    reading.chosen[pattern] = file;
    ask(reading, file);
    if (first == reading.framework.folder) {
      first = tree_.real(file).value_or(file);
    }
  }
  for (const std::string_view pattern : reading.files.opened) {
    const std::string file = choose(reading, pattern);
    if (file.empty()) {
      continue;
    }
    reading.chosen[pattern] = file;
    LibraryWant& opened = reading.framework.wants.emplace_back();
    opened.library = file_name_of(file);
    opened.want = Want::Opened;
    opened.by = first;
    opened.found = tree_.real(file).value_or(file);
    opened.via = "its folder";
    ask(reading, file);
  }
  note_torch(reading);
}

// onnxruntime up to 1.17 has no CUDA library among its needs: a Python file of its own opens them
// by name, one after the other.
void FrameworkReader::open_by_python(Reading& reading) {
  const std::string script = join(reading.site, "onnxruntime/capi/_ld_preload.py");
  if (reading.files.name != "onnxruntime" || place_.system == System::Windows) {
    return;
  }
  const std::string text = tree_.text(script, kMostPythonBytes).value_or("");
  LoaderQuestion question;
  question.file = place_.program;
  question.guess = false;
  for (std::string& name : first_arguments(text, "CDLL")) {
    // The second half is about TensorRT, which most have not and do not miss.
    const bool of_cuda = !knowledge_.libraries_named(name).empty();
    const bool known = std::ranges::any_of(
        question.opened, [&](const OpenedName& opened) { return opened.library == name; });
    if (of_cuda && !known) {
      question.opened.push_back({"", std::move(name)});
    }
  }
  if (question.opened.empty()) {
    return;
  }
  if (question.file.empty()) {
    // Any library without a search path of its own stands for Python.
    question.file = join(reading.site, "onnxruntime/capi/libonnxruntime_providers_shared.so");
  }
  auto answer = loader_.ask(question);
  if (!answer) {
    return tree_.skip(script, answer.error().message);
  }
  const std::string program = tree_.real(question.file).value_or("");
  for (LibraryWant& want : answer->wants) {
    if (want.by == program && want.want == Want::Needed) {
      continue;  // Python's own
    }
    if (want.by == program) {
      want.want = Want::Provided;
      want.by = script;
    }
    reading.framework.wants.push_back(std::move(want));
  }
  for (LoadedLibrary& library : answer->loaded) {
    if (library.path != program) {
      library.by = file_name_of(script);
      reading.loaded.push_back(std::move(library));
    }
  }
}

// What torch/__init__.py does before it loads its own libraries: libtorch_global_deps.so; where
// that fails, each library of NVIDIA's wheels that it names; where it succeeds with the CUDA
// runtime of a wheel, those that its text names (2.4 and later).
void FrameworkReader::load_torch_dependencies(Reading& reading) {
  const std::string dependencies = join(reading.site, "torch/lib/libtorch_global_deps.so");
  if (!tree_.is_file(dependencies)) {
    return;
  }
  const std::string script = join(reading.site, kTorchScript);
  const std::string text = tree_.text(script, kMostPythonBytes).value_or("");
  ask(reading, dependencies);
  const auto folder_matches = [&](const std::string& folder) {
    std::vector<std::string> found;
    for (const std::string& site : place_.sites) {
      found = tree_.matches(site, "nvidia/" + folder + "/lib/lib*.so.*[0-9]");
      if (!found.empty()) {
        break;
      }
    }
    return found;
  };
  std::vector<LibraryWant>& wants = reading.framework.wants;
  if (missing_of(wants) > 0) {
    for (const std::string& file : folder_matches("*")) {
      const std::string_view name = file_name_of(file);
      const std::string stem(name.substr(0, name.find(".so.")));
      if (text.find("\"" + stem + ".so.*[0-9]\"") != std::string::npos) {
        ask(reading, file, kTorchScript);
      }
    }
    for (LibraryWant& want : wants) {
      const auto loaded = std::ranges::find_if(reading.loaded, [&](const LoadedLibrary& library) {
        return library.name == want.library || file_name_of(library.path) == want.library;
      });
      if (want.found.empty() && loaded != reading.loaded.end()) {
        want.found = loaded->path;
        want.via = std::string("loaded by ").append(kTorchScript);
        want.want = Want::Provided;
        want.elsewhere.clear();
        want.dead_path.clear();
      }
    }
    return;
  }
  const bool from_wheel = std::ranges::any_of(reading.loaded, [](const LoadedLibrary& library) {
    return library.name.starts_with("libcudart.so") &&
           library.path.find("/nvidia/") != std::string::npos;
  });
  for (const std::string& folder : first_arguments(text, "_preload_cuda_deps")) {
    if (!from_wheel || folder.find_first_of("*?[/") != std::string::npos) {
      continue;
    }
    for (const std::string& file : folder_matches(folder)) {
      if (file.find("-builtins") == std::string::npos) {
        ask(reading, file, kTorchScript);
      }
    }
  }
}

// What nothing leads to is there all the same where torch was imported before.
void FrameworkReader::note_torch(Reading& reading) const {
  if (reading.files.after_torch) {
    return;
  }
  for (LibraryWant& want : reading.framework.wants) {
    const auto loaded = std::ranges::find(torch_, want.library, &LoadedLibrary::name);
    if (want.found.empty() && loaded != torch_.end()) {
      want.via = "loaded by torch";
      std::erase(want.elsewhere, loaded->path);
      want.elsewhere.insert(want.elsewhere.begin(), loaded->path);
    }
  }
}

void FrameworkReader::read_code(Reading& reading) {
  for (const std::string_view pattern : reading.files.code) {
    if (const auto chosen = reading.chosen.find(pattern); chosen != reading.chosen.end()) {
      add_code(reading.framework, chosen->second);
      continue;
    }
    for (const std::string& file : tree_.matches(reading.site, pattern)) {
      add_code(reading.framework, file);
    }
  }
}

void FrameworkReader::add_code(Framework& framework, const std::string& path) {
  const auto real = tree_.real(path);
  if (!real || !tree_.is_file(*real) ||
      std::ranges::find(framework.code, *real, &DeviceCode::file) != framework.code.end()) {
    return;
  }
  const auto [code, is_new] = codes_.try_emplace(*real);
  if (is_new) {
    auto read = read_device_code(tree_.outside(*real));
    if (!read) {
      tree_.skip(path, read.error().message);
      codes_.erase(code);
      return;
    }
    code->second = *std::move(read);
    code->second.file = *real;
  }
  framework.code.push_back(code->second);
}

void FrameworkReader::read_libraries(PythonEnvironment& environment) {
  for (const std::string& site : place_.sites) {
    for (const std::string_view pattern : library_folders()) {
      for (const std::string& folder : tree_.matches(site, pattern)) {
        add_library(folder, site, environment);
      }
    }
  }
  std::set<std::string> folders;
  for (const Framework& framework : environment.frameworks) {
    for (const LibraryWant& want : framework.wants) {
      const std::string_view name = file_name_of(want.found);
      if (want.found.starts_with('/') && (name.find("cudnn") != std::string_view::npos ||
                                          name.find("cublas") != std::string_view::npos ||
                                          name.find("nccl") != std::string_view::npos)) {
        folders.insert(folder_of(want.found));
      }
    }
  }
  for (const std::string& folder : folders) {
    add_library(folder, "", environment);
  }
}

void FrameworkReader::add_library(const std::string& folder, const std::string& site,
                                  PythonEnvironment& environment) {
  const auto real = tree_.real(folder);
  if (!real || !libraries_.insert(*real).second) {
    return;
  }
  for (const LibraryFiles& library : library_files()) {
    Framework framework;
    framework.name = library.name;
    framework.folder = folder;
    for (const std::string_view pattern : library.files) {
      for (const std::string& file : tree_.matches(folder, pattern)) {
        add_code(framework, file);
        std::string version = version_of_library(file_name_of(tree_.real(file).value_or(file)));
        if (version.size() > framework.version.size()) {
          framework.version = std::move(version);
        }
      }
    }
    if (framework.code.empty()) {
      continue;
    }
    // One package writes into this folder, or the one whose content was found there.
    for (const SharedPath& shared : environment.shared_paths) {
      if (shared.path.starts_with(folder + "/")) {
        framework.package = shared.winner;
      }
    }
    const std::string wheel = "nvidia-" + framework.name;
    for (const Package& package : environment.packages) {
      const bool its = package.name == framework.package ||
                       (framework.package.empty() && package.folder == site && !site.empty() &&
                        (package.name == wheel || package.name.starts_with(wheel + "-cu")));
      if (its && !site.empty()) {
        framework.package = package.name;
        framework.version = package.version;
        const size_t suffix = package.name.rfind("-cu");
        if (suffix > wheel.size() - 1 && suffix != std::string::npos) {
          framework.cuda = package.name.substr(suffix + 3);
        }
      }
    }
    environment.frameworks.push_back(std::move(framework));
  }
}

}  // namespace mynah::doctor
