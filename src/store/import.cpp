#include <algorithm>
#include <array>
#include <filesystem>
#include <initializer_list>
#include <string_view>
#include <system_error>
#include <utility>

#include <fmt/core.h>

#include "base/ascii.h"
#include "base/mapped_file.h"
#include "formats/zip.h"
#include "models/kokoro/voice_pack.h"
#include "store/files.h"
#include "store/install.h"
#include "store/pull.h"
#include "store/sha256.h"
#include "store/wheel.h"

namespace mynah {
namespace {

namespace fs = std::filesystem;

// A name made of a path: "ggml-tiny.en.bin" is tiny.en, "folder/model.safetensors" is the folder's
// name, anything else its own without the suffix.
std::string name_from(const std::string& path) {
  std::error_code ignored;
  fs::path full = fs::absolute(path, ignored).lexically_normal();
  if (!full.has_filename()) {
    full = full.parent_path();
  }
  if (const CatalogueEntry* entry = find_in_catalogue(full.filename().string())) {
    return entry->name;
  }
  std::string name = full.stem().string();
  if (fs::is_directory(full, ignored)) {
    name = full.filename().string();
  } else if (name == "model" || name == "pytorch_model") {
    name = full.parent_path().filename().string();
  }
  std::ranges::replace_if(name, [](char c) { return !is_model_name(std::string{'a', c}); }, '-');
  return is_model_name(name) ? name : "model" + name;
}

// Unpacks a wheel into `folder`; returns what to convert.
Result<std::string> unpack(const std::string& path, const std::string& folder,
                           const std::stop_token& stop) {
  MYNAH_TRY_STATUS(make_folders(folder));
  MYNAH_TRY(const auto file, MappedFile::open(path));
  MYNAH_TRY(const ZipArchive archive, ZipArchive::open(file));
  return extract_model(archive, folder, stop);
}

// Kokoro-onnx's voices are 28 MB, 54 of them; models are read once less where they are larger.
constexpr uint64_t kMostVoiceBytes = 64U << 20U;

// "af_bella": language, sex, name, as hexgrad/Kokoro-82M calls its voices; "voices-v1.0.bin".
bool is_named_as_voices(const fs::path& path) {
  const std::string name = path.filename().string();
  return name.starts_with("voices") || (name.size() > 3 && is_ascii_lower(name[0]) &&
                                        (name[1] == 'f' || name[1] == 'm') && name[2] == '_');
}

bool has_extension(const fs::path& path, std::initializer_list<std::string_view> wanted) {
  return std::ranges::find(wanted, path.extension().string()) != wanted.end();
}

bool holds_voices(const fs::path& path) {
  if (!has_extension(path, {".pt", ".npz", ".npy", ".bin", ".safetensors", ".gguf"}) ||
      bytes_on_disk(path.string()) > kMostVoiceBytes) {
    return false;
  }
  return is_named_as_voices(path) || kokoro::read_voice_packs(path.string()).has_value();
}

std::vector<fs::path> files_of(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code error;
  for (auto item = fs::directory_iterator(folder, error);
       !error && item != fs::directory_iterator(); item.increment(error)) {
    std::error_code ignored;
    if (item->is_regular_file(ignored)) {
      files.push_back(item->path());
    }
  }
  std::ranges::sort(files);
  return files;
}

// The files by which formats/open.h knows a folder.
bool is_model_folder(const fs::path& folder) {
  constexpr std::array<std::string_view, 4> kFiles = {
      "model.bin", "model.safetensors", "model.safetensors.index.json", "pytorch_model.bin"};
  std::error_code ignored;
  return std::ranges::any_of(
      kFiles, [&](std::string_view name) { return fs::exists(folder / name, ignored); });
}

}  // namespace

Importable find_importable(const std::string& path) {
  std::error_code ignored;
  Importable found;
  if (!fs::is_directory(path, ignored)) {
    if (FileSet set = file_set_of(path); !set.family.empty()) {
      found.sets.push_back(std::move(set));
    } else {
      (holds_voices(path) ? found.voices : found.models).push_back(path);
    }
    return found;
  }
  if (!is_model_folder(path)) {
    std::vector<std::string> others;  // of a set that is the folder's
    if (FileSet set = phonemes_in(path); !set.family.empty()) {
      others = set.paths;
      found.sets.push_back(std::move(set));
    }
    for (const fs::path& file : files_of(path)) {
      if (std::ranges::find(others, file.string()) != others.end()) {
        continue;
      }
      if (FileSet set = file_set_of(file); !set.family.empty()) {
        found.sets.push_back(std::move(set));
      } else if (holds_voices(file)) {
        found.voices.push_back(file.string());
      } else if (has_extension(file, {".pth", ".onnx"})) {
        found.models.push_back(file.string());
      }
    }
    for (const fs::path& file : files_of(fs::path(path) / "voices")) {
      if (holds_voices(file)) {
        found.voices.push_back(file.string());
      }
    }
  }
  if (found.models.empty() && found.voices.empty() && found.sets.empty()) {
    found.models.push_back(path);
  }
  return found;
}

Result<StoredModel> import_voices(const Store& store, const std::vector<std::string>& paths,
                                  StoreObserver& observer, const std::stop_token& stop) {
  MYNAH_TRY_STATUS(make_folders(store.folders().home + "/models"));
  MYNAH_TRY(const FileLock held, store.lock(kKokoroVoices));
  StoredModel model;
  model.name = kKokoroVoices;
  model.source = "import: " + (paths.size() == 1 ? paths.front()
                                                 : fs::path(paths.front()).parent_path().string());
  for (const std::string& path : paths) {
    MYNAH_TRY(std::string digest, sha256_of_file(path, stop));
    model.files.push_back(own_file(path, std::move(digest)));
  }
  return install_voices(store, paths, std::move(model), observer, stop);
}

Result<StoredModel> import_model(const Store& store, const std::string& path,
                                 const ImportOptions& options, StoreObserver& observer,
                                 const std::stop_token& stop) {
  std::error_code ignored;
  if (!fs::exists(path, ignored)) {
    return fail(ErrorCode::NotFound,
                fmt::format("wanted a model's file or folder, found nothing at {}", path));
  }
  MYNAH_TRY_STATUS(check_not_half_a_voice(path));
  const std::string name = options.name.empty() ? name_from(path) : options.name;
  MYNAH_TRY(const FileLock held, lock_for_import(store, name, options.force));
  observer.on_progress("reading", 0, bytes_on_disk(path));
  MYNAH_TRY(std::string digest, model_digest(path, ""));
  StoredModel model;
  model.name = name;
  model.source = "import: " + path;
  model.files = {own_file(path, std::move(digest))};
  if (!path.ends_with(".whl")) {
    return install_model(store, path, std::move(model), options.storage, observer, stop,
                         options.check);
  }
  const std::string folder = temporary_name(store.folders().cache + "/unpacked");
  const auto source = unpack(path, folder, stop);
  auto result = source ? install_model(store, *source, std::move(model), options.storage, observer,
                                       stop, options.check)
                       : std::unexpected(source.error());
  fs::remove_all(folder, ignored);
  return result;
}

}  // namespace mynah
