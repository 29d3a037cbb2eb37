#include "place/plans/profile_folder.h"

#include <algorithm>
#include <filesystem>
#include <sstream>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "base/atomic_file.h"
#include "base/nearest_name.h"
#include "store/files.h"
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

Result<std::vector<std::string>> ProfileFolder::pinned() const {
  auto text = read_text_file(pin_path(), kLargestPins);
  std::vector<std::string> names;
  if (!text && text.error().code == ErrorCode::NotFound) {
    return names;
  }
  if (!text) {
    return std::unexpected(std::move(text).error());
  }
  std::istringstream lines(*text);
  for (std::string name; std::getline(lines, name);) {
    if (!is_profile_name(name)) {
      names.clear();
      break;
    }
    names.push_back(std::move(name));
  }
  if (names.empty()) {
    return fail(ErrorCode::InvalidInput,
                fmt::format("{}: wanted the name of a profile, found something else; `mynah "
                            "profile use NAME` writes it anew, `mynah profile use none` removes it",
                            pin_path()));
  }
  return names;
}

Status ProfileFolder::write_pins(const std::vector<std::string>& names) const {
  return names.empty() ? remove_file(pin_path())
                       : write_whole(pin_path(), fmt::format("{}\n", fmt::join(names, "\n")));
}

Status ProfileFolder::pin(std::string_view name) const {
  MYNAH_TRY(const Profile profile, load(name));
  std::vector<std::string> names = pinned().value_or(std::vector<std::string>());
  // Those that cannot be read go too: they would be refused.
  std::erase_if(names, [&](const std::string& other) {
    const auto known = load(other);
    return !known || known->model_sha256 == profile.model_sha256 || known->model == profile.model;
  });
  names.push_back(profile.name);
  return write_pins(names);
}

Status ProfileFolder::unpin() const {
  return remove_file(pin_path());
}

Status ProfileFolder::unpin(std::string_view name) const {
  MYNAH_TRY(std::vector<std::string> names, pinned());
  return std::erase(names, name) > 0 ? write_pins(names) : Status();
}

}  // namespace mynah::place
