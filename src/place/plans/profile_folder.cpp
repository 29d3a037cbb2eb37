#include "place/plans/profile_folder.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include <fmt/format.h>
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
constexpr uint64_t kLargestPin = 200;

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

Status ProfileFolder::save(const Profile& profile) const {
  if (!is_profile_name(profile.name)) {
    return fail(ErrorCode::InvalidInput,
                fmt::format("wanted a profile's name in letters, digits, '.', '_' and '-', and "
                            "not '{}', found '{}'",
                            kNone, profile.name));
  }
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
  // First the pin, so that it never names what is gone. One that cannot be read names nothing.
  const auto in_use = pinned();
  if (in_use && *in_use == name) {
    MYNAH_TRY_STATUS(unpin());
  }
  return remove_file(path(name));
}

Result<std::optional<std::string>> ProfileFolder::pinned() const {
  auto text = read_text_file(pin_path(), kLargestPin);
  if (!text && text.error().code == ErrorCode::NotFound) {
    return std::optional<std::string>();
  }
  if (!text) {
    return std::unexpected(std::move(text).error());
  }
  while (text->ends_with('\n')) {
    text->pop_back();
  }
  if (!is_profile_name(*text)) {
    return fail(ErrorCode::InvalidInput,
                fmt::format("{}: wanted the name of a profile, found something else; `mynah "
                            "profile use NAME` writes it anew, `mynah profile use none` removes it",
                            pin_path()));
  }
  return std::optional(*std::move(text));
}

Status ProfileFolder::pin(std::string_view name) const {
  MYNAH_TRY(const Profile profile, load(name));
  return write_whole(pin_path(), profile.name + "\n");
}

Status ProfileFolder::unpin() const {
  return remove_file(pin_path());
}

}  // namespace mynah::place
