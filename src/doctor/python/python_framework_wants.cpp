// Which libraries the frameworks of a Python environment load, and where they would come from.
#include <algorithm>
#include <cstdint>
#include <iterator>
#include <string>
#include <utility>

#include "doctor/binaries/loader_paths.h"
#include "doctor/python/python_frameworks.h"
#include "doctor/python/python_text.h"
#include "doctor/versions.h"

namespace mynah::doctor {
namespace {

constexpr size_t kMostPythonBytes = 1 << 20;
constexpr std::string_view kTorchScript = "torch/__init__.py";

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
  const std::string script = path_in(reading.site, "onnxruntime/capi/_ld_preload.py");
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
    question.file = path_in(reading.site, "onnxruntime/capi/libonnxruntime_providers_shared.so");
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
  const std::string dependencies = path_in(reading.site, "torch/lib/libtorch_global_deps.so");
  if (!tree_.is_file(dependencies)) {
    return;
  }
  const std::string script = path_in(reading.site, kTorchScript);
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
  const auto load_all_named = [&] {
    for (const std::string& file : folder_matches("*")) {
      const std::string_view name = file_name_of(file);
      const std::string stem(name.substr(0, name.find(".so.")));
      if (text.find("\"" + stem + ".so.*[0-9]\"") != std::string::npos) {
        ask(reading, file, kTorchScript);
      }
    }
  };
  std::vector<LibraryWant>& wants = reading.framework.wants;
  if (missing_of(wants) > 0) {
    load_all_named();
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
  if (!from_wheel) {
    return;
  }
  // Up to 2.8 each folder is named in a call, later ones load the whole list.
  if (text.find(" _preload_cuda_deps()") != std::string::npos) {
    return load_all_named();
  }
  for (const std::string& folder : first_arguments(text, "_preload_cuda_deps")) {
    if (folder.find_first_of("*?[/") != std::string::npos) {
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

}  // namespace mynah::doctor
