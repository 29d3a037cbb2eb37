#include "store/file_sets.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "base/mapped_file.h"
#include "formats/onnx.h"
#include "store/catalogue.h"
#include "store/families.h"
#include "store/install.h"
#include "store/sha256.h"

namespace mynah {
namespace {

namespace fs = std::filesystem;

// The files of a set as its wheel has them.
std::vector<std::string> files_of_catalogue(std::string_view name) {
  std::vector<std::string> names;
  for (const ModelSource& source : find_in_catalogue(name)->sources) {
    if (const auto* wheel = std::get_if<WheelSource>(&source)) {
      for (const WheelMember& member : wheel->files) {
        names.push_back(fs::path(member.path).filename().string());
      }
    }
  }
  return names;
}

std::string model_name(const fs::path& path) {
  for (const std::string& called : {path.filename().string(), path.stem().string()}) {
    if (const CatalogueEntry* entry = find_in_catalogue(called)) {
      return entry->name;
    }
  }
  std::string name = path.stem().string();
  std::ranges::replace_if(name, [](char c) { return !is_model_name(std::string{'a', c}); }, '-');
  return is_model_name(name) ? name : "model" + name;
}

}  // namespace

FileSet file_set_of(const std::string& path) {
  const fs::path file(path);
  std::error_code error;
  for (const ModelFamily& family : families()) {
    if (!family.main_file.empty() && file.filename() == family.main_file) {
      FileSet set{
          .name = std::string(family.name), .family = std::string(family.name), .paths = {path}};
      for (const std::string& name : files_of_catalogue(family.name)) {
        const fs::path beside = file.parent_path() / name;
        if (beside != file && fs::is_regular_file(beside, error)) {
          set.paths.push_back(beside.string());
        }
      }
      return set;
    }
  }
  for (const ModelFamily& family : families()) {
    const std::string config = path + std::string(family.config_suffix);
    if (!family.config_suffix.empty() && file.extension() == ".onnx" &&
        fs::is_regular_file(config, error)) {
      return {
          .name = model_name(file), .family = std::string(family.name), .paths = {path, config}};
    }
  }
  for (const ModelFamily& family : families()) {
    if (!family.network_extension.empty() && file.extension() == family.network_extension) {
      FileSet set{.name = model_name(file), .family = std::string(family.name), .paths = {path}};
      // Without it the model's own loader says what is missing.
      if (const fs::path beside = fs::path(file).replace_extension(".json");
          fs::is_regular_file(beside, error)) {
        set.paths.push_back(beside.string());
      }
      return set;
    }
    if (family.recognises != nullptr && family.recognises(path)) {
      return {.name = model_name(file), .family = std::string(family.name), .paths = {path}};
    }
  }
  return {};
}

Status check_not_half_a_voice(const std::string& path) {
  if (fs::path(path).extension() != ".onnx" || !file_set_of(path).family.empty()) {
    return {};
  }
  const auto file = MappedFile::open(path);
  const auto tensors = file ? read_onnx(*file) : std::unexpected(file.error());
  const bool piper = tensors && std::ranges::any_of(tensors->tensors, [](const auto& tensor) {
                       return tensor.name.starts_with("enc_p.");
                     });
  if (!piper) {
    return {};
  }
  return fail(ErrorCode::InvalidInput,
              fmt::format("{}: a Piper voice is two files: wanted {}.json beside it, which comes "
                          "with the voice",
                          path, fs::path(path).filename().string()));
}

FileSet phonemes_in(const std::string& folder) {
  FileSet set{
      .name = std::string(kEnglishPhonemes), .family = std::string(kEnglishPhonemes), .paths = {}};
  for (const std::string& name : files_of_catalogue(kEnglishPhonemes)) {
    const fs::path path = fs::path(folder) / name;
    std::error_code error;
    if (!fs::is_regular_file(path, error)) {
      return {};
    }
    set.paths.push_back(path.string());
  }
  return set;
}

Result<StoredModel> import_file_set(const Store& store, const FileSet& set, bool force,
                                    const std::stop_token& stop, const ModelCheck& check) {
  MYNAH_TRY(const FileLock held, lock_for_import(store, set.name, force));
  StoredModel model;
  model.name = set.name;
  model.family = set.family;
  model.source = "import: " + set.paths.front();
  model.licence = "unknown";
  for (const std::string& path : set.paths) {
    MYNAH_TRY(std::string digest, sha256_of_file(path, stop));
    model.files.push_back(own_file(path, std::move(digest)));
  }
  const CatalogueEntry* const known = find_in_catalogue(set.family);
  if (known != nullptr && known->form == Form::PronouncingDictionary) {
    return install_dictionary(store, set.paths.front(), std::move(model), stop, check);
  }
  return install_files(store, set.paths, std::move(model), stop, check);
}

}  // namespace mynah
