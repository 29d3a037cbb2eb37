#include "base/environment.h"

#include <array>

#include <pwd.h>
#include <unistd.h>

extern char** environ;  // NOLINT(readability-redundant-declaration): POSIX leaves it to the program

namespace mynah {

namespace {

// As the password database has it. Never a folder that others may write into too: what they put
// there would be read.
std::string home_of_user() {
  passwd entry{};
  passwd* found = nullptr;
  std::array<char, 16384> text{};
  const bool known = ::getpwuid_r(::getuid(), &entry, text.data(), text.size(), &found) == 0 &&
                     found != nullptr && entry.pw_dir != nullptr && entry.pw_dir[0] == '/';
  return known ? entry.pw_dir : "/nonexistent";  // where Debian's users without a home have it
}

}  // namespace

Environment Environment::of_process() {
  std::map<std::string, std::string> variables;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const size_t equals = text.find('=');
    if (equals != std::string_view::npos) {
      variables.emplace(text.substr(0, equals), text.substr(equals + 1));
    }
  }
  return Environment(std::move(variables));
}

std::optional<std::string> Environment::get(const std::string& name) const {
  const auto found = variables_.find(name);
  if (found == variables_.end() || found->second.empty()) {
    return std::nullopt;
  }
  return found->second;
}

std::vector<std::string> Environment::names_with(std::string_view prefix) const {
  std::vector<std::string> names;
  for (auto entry = variables_.lower_bound(std::string(prefix));
       entry != variables_.end() && entry->first.starts_with(prefix); ++entry) {
    names.push_back(entry->first);
  }
  return names;
}

std::string Environment::config_folder() const {
  return folder("XDG_CONFIG_HOME", ".config");
}

std::string Environment::data_folder() const {
  return folder("XDG_DATA_HOME", ".local/share");
}

std::string Environment::state_folder() const {
  return folder("XDG_STATE_HOME", ".local/state");
}

std::string Environment::cache_folder() const {
  return folder("XDG_CACHE_HOME", ".cache");
}

std::string Environment::folder(const char* variable, const char* below_home) const {
  // The specification: a relative path is to be ignored.
  const std::optional<std::string> set = get(variable);
  if (set && set->front() == '/') {
    return *set + "/mynah";
  }
  const auto home = get("HOME");
  return (home ? *home : home_of_user()) + "/" + below_home + "/mynah";
}

}  // namespace mynah
