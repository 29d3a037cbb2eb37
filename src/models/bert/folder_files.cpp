#include "models/bert/folder_files.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/mapped_file.h"
#include "formats/byte_reader.h"
#include "formats/json.h"
#include "models/bert/config.h"

namespace mynah::bert {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

// The last part of a class's name: "Pooling" of "sentence_transformers.models.Pooling".
std::string class_of(const Json& module) {
  const auto type = module.find("type");
  if (type == module.end() || !type->is_string()) {
    return {};
  }
  const auto full = type->get<std::string>();
  return full.substr(full.rfind('.') + 1);
}

// The pooling that a config.json turns on, as GGUF numbers it.
Result<Pooling> pooling_of(const Json& config, const std::string& path) {
  constexpr std::string_view kPrefix = "pooling_mode_";
  std::vector<std::string> on;
  for (const auto& [key, value] : config.items()) {
    if (key.starts_with(kPrefix) && value.is_boolean() && value.get<bool>()) {
      on.push_back(key.substr(kPrefix.size()));
    }
  }
  if (on == std::vector<std::string>{"mean_tokens"}) {
    return Pooling::Mean;
  }
  if (on == std::vector<std::string>{"cls_token"}) {
    return Pooling::First;
  }
  return fail(ErrorCode::Unsupported,
              fmt::format("{}: wanted a pooling by mean_tokens or cls_token, found {}", path,
                          on.empty() ? "none" : in_quotes(fmt::format("{}", fmt::join(on, ", ")))));
}

// modules.json, checked: the weights, a pooling, maybe a Normalize, in this order.
Result<std::optional<std::string>> pooling_folder(const Json& modules, const std::string& folder,
                                                  bool& normalized) {
  const std::string path = folder + "/modules.json";
  constexpr std::array<std::string_view, 3> kOrder = {"Transformer", "Pooling", "Normalize"};
  std::optional<std::string> found;
  size_t at = 0;
  for (const Json& module : modules) {
    const std::string type = module.is_object() ? class_of(module) : std::string();
    if (at >= kOrder.size() || type != kOrder[at]) {
      return fail(ErrorCode::Unsupported,
                  fmt::format("{}: wanted the modules Transformer, Pooling and, if it likes, "
                              "Normalize, found {} at place {}",
                              path, in_quotes(type), at));
    }
    if (type == "Pooling") {
      const auto named = module.find("path");
      found = named != module.end() && named->is_string() ? named->get<std::string>() : "";
      if (fs::path(*found).has_parent_path() || found->starts_with('.')) {
        return fail(ErrorCode::InvalidInput,
                    fmt::format("{}: wanted a folder's name for the module Pooling, found {}", path,
                                in_quotes(*found)));
      }
    }
    normalized = normalized || type == "Normalize";
    ++at;
  }
  return found;
}

}  // namespace

Result<Json> read_json_file(const std::string& folder, const std::string& name) {
  const fs::path path = fs::path(folder) / name;
  std::error_code ignored;
  if (!fs::exists(path, ignored)) {
    return Json();
  }
  MYNAH_TRY(const auto file, MappedFile::open(path.string()));
  const std::string_view text(reinterpret_cast<const char*>(file->bytes().data()),
                              file->bytes().size());
  return parse_json(text, path.string());
}

Status add_sentence_modules(const std::string& folder, int64_t positions, Metadata& metadata) {
  MYNAH_TRY(const Json modules, read_json_file(folder, "modules.json"));
  Pooling pooling = Pooling::Mean;
  bool normalized = false;
  if (!modules.is_null()) {
    if (!modules.is_array()) {
      return fail(ErrorCode::InvalidInput, folder + "/modules.json: wanted a list of modules");
    }
    MYNAH_TRY(const auto of_pooling, pooling_folder(modules, folder, normalized));
    if (of_pooling) {
      const std::string name = *of_pooling + "/config.json";
      MYNAH_TRY(const Json config, read_json_file(folder, name));
      if (!config.is_object()) {
        return fail(ErrorCode::InvalidInput,
                    fmt::format("{}/{}: wanted how the model's states become a vector, found no "
                                "such file",
                                folder, name));
      }
      MYNAH_TRY(pooling, pooling_of(config, folder + "/" + name));
    }
  }
  metadata.insert_or_assign("bert.pooling_type", static_cast<int64_t>(pooling));
  metadata.insert_or_assign(std::string(kNormalKey), normalized);
  MYNAH_TRY(const Json sentence, read_json_file(folder, "sentence_bert_config.json"));
  if (const auto longest = sentence.is_object() ? sentence.find("max_seq_length") : sentence.end();
      longest != sentence.end() && longest->is_number_integer()) {
    metadata.insert_or_assign(std::string(kLongestKey),
                              std::min(positions, longest->get<int64_t>()));
  }
  return {};
}

}  // namespace mynah::bert
