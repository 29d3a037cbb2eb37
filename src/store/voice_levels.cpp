#include "store/voice_levels.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "store/files.h"
#include "store/json_fields.h"
#include "store/sha256.h"

namespace mynah {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kMostBytes = 1U << 20U;
constexpr double kLeast_lufs = -70;  // the gate of ITU-R BS.1770-4: what is below was not heard

// Another one where the file has changed.
std::string stamp_of_file(const std::string& path) {
  std::error_code error;
  const uint64_t bytes = fs::file_size(path, error);
  if (error) {
    return "";
  }
  const auto written = fs::last_write_time(path, error).time_since_epoch().count();
  return fmt::format("{} {}", bytes, written);
}

}  // namespace

VoiceLevels::VoiceLevels(const Store& store, const SpeechModel& model) : model_(model) {
  if (!model.name.empty()) {
    path_ = store.model_folder(model.name) + "/levels.json";
  } else {
    std::error_code error;
    Digest digest;
    digest.update(model.path.empty() ? model.family : fs::absolute(model.path, error).string());
    path_ = fmt::format("{}/levels/{}.json", store.folders().cache, digest.hex());
  }
  read();
}

std::string VoiceLevels::stamp_of(const std::string& voice) const {
  const auto known = std::ranges::find(model_.voices, voice, &InstalledVoice::name);
  if (known != model_.voices.end() && !known->path.empty()) {
    return stamp_of_file(known->path);
  }
  const std::string own = stamp_of_file(voice);  // a voice that is named by its path
  return own.empty() ? stamp_of_file(model_.path) : own;
}

void VoiceLevels::read() {
  const auto text = read_text_file(path_, kMostBytes);
  const nlohmann::json levels =
      text ? nlohmann::json::parse(*text, nullptr, false) : nlohmann::json();
  if (!levels.is_object()) {
    return;
  }
  for (const auto& [voice, level] : levels.items()) {
    const auto lufs = level.is_object() ? level.find("lufs") : level.end();
    if (level.is_object() && lufs != level.end() && lufs->is_number() &&
        lufs->get<double>() >= kLeast_lufs && lufs->get<double>() <= 0) {
      levels_[voice] = {.stamp = text_field(level, "stamp"), .lufs = lufs->get<double>()};
    }
  }
}

std::optional<double> VoiceLevels::find(const std::string& voice) const {
  const auto found = levels_.find(voice);
  if (found == levels_.end() || found->second.stamp != stamp_of(voice)) {
    return std::nullopt;
  }
  return found->second.lufs;
}

void VoiceLevels::keep(const std::string& voice, double lufs) {
  read();  // what another process has measured meanwhile
  levels_[voice] = {.stamp = stamp_of(voice), .lufs = lufs};
  nlohmann::json levels = nlohmann::json::object();
  for (const auto& [name, level] : levels_) {
    levels[name] = {{"lufs", level.lufs}, {"stamp", level.stamp}};
  }
  (void)make_folders(fs::path(path_).parent_path());
  (void)write_text_file(
      path_, levels.dump(1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
}

}  // namespace mynah
