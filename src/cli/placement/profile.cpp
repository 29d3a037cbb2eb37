#include "cli/placement/profile.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "base/nearest_name.h"
#include "cli/models/store_access.h"
#include "cli/models/surroundings.h"
#include "cli/placement/profile_texts.h"
#include "engine/model_files.h"
#include "engine/open_placer.h"
#include "engine/store_folders.h"
#include "store/sha256.h"

namespace mynah::cli {
namespace {

using Json = nlohmann::ordered_json;
using place::Profile;
using place::ProfileFolder;

constexpr std::string_view kNone = "none";

// Those in use; none too where their file cannot be read, which is said.
std::vector<std::string> pinned_names(const Context& context, const ProfileFolder& folder) {
  auto names = folder.pinned();
  if (!names) {
    context.say(names.error().message);
    return {};
  }
  return *std::move(names);
}

bool contains(const std::vector<std::string>& names, const std::string& name) {
  return std::ranges::find(names, name) != names.end();
}

Json described(const Profile& profile, const ProfileFolder& folder, bool pinned) {
  Json json = {{"name", profile.name}, {"pinned", pinned}, {"file", folder.path(profile.name)}};
  json.update(place::to_json(profile));
  return json;
}

// Whoever wants it in use hears now what every run would be refused with. Its model need not be
// here.
Status check_holds_now(const Context& context, const Profile& profile) {
  engine::PlacementWish wish;
  wish.pinned = false;
  wish.quiet = true;
  MYNAH_TRY(const auto placer, engine::open_placer(wish, surroundings_of(context)));
  const StoreFolders folders = engine::store_folders(context.environment);
  std::string digest;
  if (const auto models = engine::named_models(Store(folders), {profile.model}); models) {
    MYNAH_TRY(digest, model_digest(place::path_of(models->front().file), folders.cache));
  }
  return place::check_holds(profile,
                            placer->state().wishes().profile_facts(profile, std::move(digest)));
}

}  // namespace

void ProfileCommand::fields(Fields& fields) {
  fields
      .positional("ACTION", words_,
                  "list (the default), use, show, diff or remove, then names of profiles.")
      .as_optional()
      .offering({"list", "use", "show", "diff", "remove"});
}

std::string ProfileCommand::details() const {
  return "Actions:\n"
         "  list             the profiles on this machine\n"
         "  use NAME         place its model as this profile says, in place of another of that "
         "model;\n"
         "                   'use none' goes back to auto, 'use none NAME ...' for these alone\n"
         "  show [NAME ...]  what was chosen and measured; without a name, of those in use\n"
         "  diff NAME NAME   which stages move from the first to the second, and what that gains\n"
         "  remove NAME ...  remove profiles\n";
}

Result<int> ProfileCommand::run(Context& context) {
  const ProfileFolder folder(engine::store_folders(context.environment).home);
  const std::string action = words_.empty() ? "list" : words_.front();
  if (action == "list") {
    return list(context, folder);
  }
  if (action == "use") {
    return use(context, folder);
  }
  if (action == "show") {
    return show(context, folder);
  }
  if (action == "diff") {
    return diff(context, folder);
  }
  if (action == "remove") {
    return remove(context, folder);
  }
  const std::vector<std::string> actions = {"list", "use", "show", "diff", "remove"};
  return fail(ErrorCode::Usage, fmt::format("wanted list, use, show, diff or remove, found '{}'{}",
                                            action, suggestion(action, actions)));
}

Result<int> ProfileCommand::list(Context& context, const ProfileFolder& folder) const {
  if (words_.size() > 1) {
    return fail(ErrorCode::Usage,
                fmt::format("list takes no names, found '{0}'; 'mynah profile show {0}' tells "
                            "about one profile",
                            words_[1]));
  }
  std::vector<std::string> damaged;
  const std::vector<Profile> profiles = folder.list(&damaged);
  const std::vector<std::string> pinned = pinned_names(context, folder);
  for (const Profile& profile : profiles) {
    const bool in_use = contains(pinned, profile.name);
    if (context.json) {
      context.out.line(described(profile, folder, in_use).dump());
    } else {
      context.out.line(fmt::format("{:<20} {:<7} {}: {}", profile.name, in_use ? "in use" : "",
                                   profile.model, placement_text(profile)));
    }
  }
  for (const std::string& error : damaged) {
    context.say(error);
  }
  for (const std::string& name : pinned) {
    if (std::ranges::find(profiles, name, &Profile::name) == profiles.end()) {
      context.say(
          fmt::format("the profile in use, {}, cannot be read: `mynah profile use none` goes "
                      "back to auto",
                      name));
    }
  }
  if (profiles.empty() && damaged.empty() && !context.json) {
    context.say("no profiles yet: `mynah tune` measures this machine and makes one");
  }
  return 0;
}

Result<int> ProfileCommand::use(Context& context, const ProfileFolder& folder) const {
  const bool stops = words_.size() > 1 && words_[1] == kNone;
  if (words_.size() != 2 && !stops) {
    return fail(ErrorCode::Usage,
                fmt::format("use: wanted the name of one profile, or none, found {} names",
                            words_.size() - 1));
  }
  const std::vector<std::string> before = folder.pinned().value_or(std::vector<std::string>());
  if (!stops) {
    MYNAH_TRY(const Profile profile, engine::load_named_profile(folder, words_[1]));
    MYNAH_TRY_STATUS(check_holds_now(context, profile));
    MYNAH_TRY_STATUS(folder.pin(profile.name));
  } else if (words_.size() == 2) {
    MYNAH_TRY_STATUS(folder.unpin());
  }
  for (size_t i = 2; i < words_.size(); ++i) {
    if (!contains(before, words_[i])) {
      return fail(ErrorCode::Usage,
                  fmt::format("use none: wanted profiles that are in use ({}), found '{}'",
                              fmt::join(before, ", "), words_[i]));
    }
    MYNAH_TRY_STATUS(folder.unpin(words_[i]));
  }
  MYNAH_TRY(const std::vector<std::string> now, folder.pinned());
  if (context.json) {
    context.out.line(Json{{"pinned", stops ? Json() : Json(words_[1])}, {"in_use", now}}.dump());
    return 0;
  }
  std::vector<std::string> stopped;
  std::ranges::copy_if(before, std::back_inserter(stopped),
                       [&](const std::string& name) { return !contains(now, name); });
  if (!stops) {
    context.out.line(fmt::format(
        "{} is in use{}", words_[1],
        stopped.empty() ? std::string()
                        : fmt::format(", in place of {}", fmt::join(stopped, " and "))));
  } else if (now.empty()) {
    context.out.line("no profile is in use: stages are placed by auto");
  } else {
    context.out.line(fmt::format("still in use: {}", fmt::join(now, ", ")));
  }
  return 0;
}

Result<int> ProfileCommand::show(Context& context, const ProfileFolder& folder) const {
  std::vector<std::string> names(words_.begin() + 1, words_.end());
  const std::vector<std::string> pinned = pinned_names(context, folder);
  if (names.empty() && pinned.empty()) {
    return fail(ErrorCode::Usage, "show: wanted the name of a profile, as none is in use");
  }
  if (names.empty()) {
    names = pinned;
  }
  std::vector<Profile> profiles;
  for (const std::string& name : names) {
    MYNAH_TRY(Profile profile, engine::load_named_profile(folder, name));
    profiles.push_back(std::move(profile));
  }
  for (const Profile& profile : profiles) {
    const bool in_use = contains(pinned, profile.name);
    if (context.json) {
      context.out.line(described(profile, folder, in_use).dump());
      continue;
    }
    for (const std::string& line : profile_lines(profile, in_use)) {
      context.out.line(line);
    }
  }
  return 0;
}

Result<int> ProfileCommand::diff(Context& context, const ProfileFolder& folder) const {
  if (words_.size() != 3) {
    return fail(ErrorCode::Usage,
                fmt::format("diff: wanted the names of two profiles, found {}", words_.size() - 1));
  }
  MYNAH_TRY(const Profile from, engine::load_named_profile(folder, words_[1]));
  MYNAH_TRY(const Profile to, engine::load_named_profile(folder, words_[2]));
  if (context.json) {
    context.out.line(difference_json(from, to).dump());
    return 0;
  }
  for (const std::string& line : difference_lines(from, to)) {
    context.out.line(line);
  }
  return 0;
}

Result<int> ProfileCommand::remove(Context& context, const ProfileFolder& folder) const {
  if (words_.size() <= 1) {
    return fail(ErrorCode::Usage, "remove: wanted the name of a profile");
  }
  std::vector<std::string> names;
  for (size_t i = 1; i < words_.size(); ++i) {
    if (std::ranges::find(names, words_[i]) == names.end()) {
      names.push_back(words_[i]);
    }
  }
  for (const std::string& name : names) {
    // Damaged ones can be removed too.
    if (auto found = engine::load_named_profile(folder, name);
        !found && found.error().code == ErrorCode::Usage) {
      found.error().message += names.size() > 1 ? "; nothing was removed" : "";
      return std::unexpected(std::move(found).error());
    }
  }
  // Asked first: what is removed is no longer in use.
  const std::vector<std::string> pinned = pinned_names(context, folder);
  for (const std::string& name : names) {
    MYNAH_TRY_STATUS(folder.remove(name));
    const bool was_in_use = contains(pinned, name);
    if (context.json) {
      context.out.line(Json{{"name", name}, {"was_pinned", was_in_use}}.dump());
    } else {
      context.out.line(
          fmt::format("removed {}{}", name,
                      was_in_use ? ", which was in use: its model is placed by auto" : ""));
    }
  }
  return 0;
}

}  // namespace mynah::cli
