// The configuration file: TOML, keys named as the options are.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/command/verb.h"

namespace mynah::cli {

// One key of the file. At the top of the file it holds for every verb that has such an option; in
// a table [VERB] for that verb, and wins there.
struct ConfigEntry {
  std::string verb;  // empty: every verb
  std::string key;
  std::vector<std::string> values;  // several for an array
  int line = 0;
};

struct ConfigFile {
  std::string path;
  std::vector<ConfigEntry> entries;
};

// MYNAH_CONFIG, or config.toml in the user's configuration folder.
[[nodiscard]] std::string config_path(const Environment& environment);

// Reads TOML text; `path` is for messages.
Result<ConfigFile> parse_config(std::string_view text, const std::string& path);

// Reads config_path(); a file that is not there is an empty one, unless MYNAH_CONFIG names it.
Result<ConfigFile> read_config(const Environment& environment);

// Refuses verbs and keys that no verb has, naming the nearest.
Status check_config(const ConfigFile& config, std::span<const Verb> verbs);

}  // namespace mynah::cli
