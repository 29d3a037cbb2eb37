#include "place/plans/profile_folder.h"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <optional>
#include <sstream>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/atomic_file.h"
#include "base/nearest_name.h"
#include "store/files.h"
#include "store/sha256.h"
#include "store/store.h"

namespace mynah::place {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kExtension = ".json";
constexpr std::string_view kNone = "none";  // `profile use none`
constexpr uint64_t kLargestFile = 1U << 20U;
constexpr uint64_t kLargestPins = 1U << 16U;

bool is_profile_name(std::string_view name) {
  return is_model_name(name) && name != kNone;
}

// A line of the file of those in use; none: it is none.
std::optional<ProfilePin> parse_pin(std::string_view line) {
  const size_t name_end = std::min(line.find(' '), line.size());
  ProfilePin pin{.name = std::string(line.substr(0, name_end)), .model = {}, .model_sha256 = {}};
  line.remove_prefix(name_end);
  if (!line.empty()) {
    line.remove_prefix(1);
    const size_t digest_end = std::min(line.find(' '), line.size());
    pin.model_sha256 = line.substr(0, digest_end);
    pin.model = line.substr(std::min(digest_end + 1, line.size()));
    if (!is_sha256(pin.model_sha256) || pin.model.empty()) {
      return std::nullopt;
    }
  }
  return is_profile_name(pin.name) ? std::optional(std::move(pin)) : std::nullopt;
}

Status write_whole(const std::string& path, std::string_view text) {
  MYNAH_TRY(AtomicFile file, AtomicFile::create(path));
  MYNAH_TRY_STATUS(file.write(text));
  return file.commit();
}

Status remove_file(const std::string& path) {
  std::error_code error;
  fs::remove(path, error);
  return error ? fail(ErrorCode::Io, fmt::format("cannot remove {}: {}", path, error.message()))
               : Status();
}

}  // namespace

std::string ProfileFolder::path(std::string_view name) const {
  return fmt::format("{}/{}{}", folder_, name, kExtension);
}

std::vector<std::string> ProfileFolder::names() const {
  std::vector<std::string> found;
  std::error_code error;
  for (auto item = fs::directory_iterator(folder_, error);
       !error && item != fs::directory_iterator(); item.increment(error)) {
    const fs::path& path = item->path();
    if (path.extension() == kExtension && is_profile_name(path.stem().string())) {
      found.push_back(path.stem().string());
    }
  }
  std::ranges::sort(found);
  return found;
}

Status ProfileFolder::check_there(std::string_view name) const {
  const std::vector<std::string> known = names();
  if (std::ranges::find(known, name) != known.end()) {
    return {};
  }
  return fail(
      ErrorCode::NotFound,
      fmt::format("there is no profile '{}'{}; {}", name, suggestion(name, known),
                  known.empty() ? "`mynah tune` makes one" : "`mynah profile list` shows all"));
}

std::vector<Profile> ProfileFolder::list(std::vector<std::string>* damaged) const {
  std::vector<Profile> profiles;
  for (const std::string& name : names()) {
    auto profile = load(name);
    if (profile) {
      profiles.push_back(*std::move(profile));
    } else if (damaged != nullptr) {
      damaged->push_back(std::move(profile).error().message);
    }
  }
  return profiles;
}

Result<Profile> ProfileFolder::load(std::string_view name) const {
  MYNAH_TRY_STATUS(check_there(name));
  const std::string file = path(name);
  MYNAH_TRY(const std::string text, read_text_file(file, kLargestFile));
  auto profile = parse_profile(text, name, file);
  if (!profile) {
    profile.error().message +=
        fmt::format("; `mynah profile remove {}` removes it, `mynah tune` makes another", name);
  }
  return profile;
}

Status ProfileFolder::check_name(std::string_view name) {
  if (is_profile_name(name)) {
    return {};
  }
  return fail(ErrorCode::InvalidInput,
              fmt::format("wanted a profile's name in letters, digits, '.', '_' and '-', and "
                          "not '{}', found '{}'",
                          kNone, name));
}

Status ProfileFolder::save(const Profile& profile) const {
  MYNAH_TRY_STATUS(check_name(profile.name));
  const std::string file = path(profile.name);
  const std::string text =
      to_json(profile).dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
  const auto again = parse_profile(text, profile.name, file);
  if (!again) {
    return std::unexpected(again.error());
  }
  MYNAH_TRY_STATUS(make_folders(folder_));
  return write_whole(file, text);
}

Status ProfileFolder::remove(std::string_view name) const {
  MYNAH_TRY_STATUS(check_there(name));
  // First the pin, so that it never names what is gone. Pins that cannot be read name nothing.
  if (pinned()) {
    MYNAH_TRY_STATUS(unpin(name));
  }
  return remove_file(path(name));
}

Result<std::vector<ProfilePin>> ProfileFolder::pins() const {
  auto text = read_text_file(pin_path(), kLargestPins);
  std::vector<ProfilePin> pins;
  if (!text && text.error().code == ErrorCode::NotFound) {
    return pins;
  }
  if (!text) {
    return std::unexpected(std::move(text).error());
  }
  std::istringstream lines(*text);
  for (std::string line; std::getline(lines, line);) {
    auto pin = parse_pin(line);
    if (!pin) {
      pins.clear();
      break;
    }
    pins.push_back(*std::move(pin));
  }
  if (pins.empty()) {
    return fail(ErrorCode::InvalidInput,
                fmt::format("{}: wanted the name of a profile, found something else; `mynah "
                            "profile use NAME` writes it anew, `mynah profile use none` removes it",
                            pin_path()));
  }
  return pins;
}

Result<std::vector<std::string>> ProfileFolder::pinned() const {
  MYNAH_TRY(const std::vector<ProfilePin> all, pins());
  std::vector<std::string> names;
  names.reserve(all.size());
  std::ranges::transform(all, std::back_inserter(names), &ProfilePin::name);
  return names;
}

Status ProfileFolder::write_pins(const std::vector<ProfilePin>& pins) const {
  if (pins.empty()) {
    return remove_file(pin_path());
  }
  std::string text;
  for (const ProfilePin& pin : pins) {
    text += pin.model.empty() ? pin.name + "\n"
                              : fmt::format("{} {} {}\n", pin.name, pin.model_sha256, pin.model);
  }
  return write_whole(pin_path(), text);
}

Status ProfileFolder::pin(std::string_view name) const {
  MYNAH_TRY(const Profile profile, load(name));
  std::vector<ProfilePin> all = pins().value_or(std::vector<ProfilePin>());
  std::erase_if(all, [&](const ProfilePin& other) {
    const auto known = load(other.name);
    const std::string& model = known ? known->model : other.model;
    const std::string& digest = known ? known->model_sha256 : other.model_sha256;
    return other.name == name || digest == profile.model_sha256 || model == profile.model;
  });
  all.push_back(
      {.name = profile.name, .model = profile.model, .model_sha256 = profile.model_sha256});
  return write_pins(all);
}

Status ProfileFolder::unpin() const {
  return remove_file(pin_path());
}

Status ProfileFolder::unpin(std::string_view name) const {
  MYNAH_TRY(std::vector<ProfilePin> all, pins());
  const auto erased =
      std::erase_if(all, [name](const ProfilePin& pin) { return pin.name == name; });
  return erased > 0 ? write_pins(all) : Status();
}

}  // namespace mynah::place
