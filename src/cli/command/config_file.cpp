#include "cli/command/config_file.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>

#include <fmt/format.h>

#include "base/nearest_name.h"
#include "formats/toml_plus_plus.h"

namespace mynah::cli {

namespace {

// A configuration is a page of text; a file larger than this is something else.
constexpr size_t kMostBytes = 1 << 20;

std::optional<std::string> scalar_text(const toml::node& node) {
  if (const auto* text = node.as_string()) {
    return text->get();
  }
  if (const auto* number = node.as_integer()) {
    return std::to_string(number->get());
  }
  if (const auto* number = node.as_floating_point()) {
    return print_number(number->get());
  }
  if (const auto* truth = node.as_boolean()) {
    return truth->get() ? "true" : "false";
  }
  return std::nullopt;
}

Result<ConfigEntry> read_entry(const std::string& verb, std::string_view key,
                               const toml::node& node, const std::string& path) {
  ConfigEntry entry{.verb = verb,
                    .key = std::string(key),
                    .values = {},
                    .line = static_cast<int>(node.source().begin.line)};
  const auto wrong = [&] {
    return fail(ErrorCode::Usage,
                fmt::format("{}:{}: {}: wanted text, a number, true, false or a list of them", path,
                            entry.line, entry.key));
  };
  if (const auto* array = node.as_array()) {
    for (const toml::node& item : *array) {
      const auto text = scalar_text(item);
      if (!text) {
        return wrong();
      }
      entry.values.push_back(*text);
    }
    return entry;
  }
  const auto text = scalar_text(node);
  if (!text) {
    return wrong();
  }
  entry.values.push_back(*text);
  return entry;
}

// Names of a verb's options: those that a file may set, and those that mean something for one run.
struct Keys {
  std::vector<std::string> lasting;
  std::vector<std::string> flag_only;
};

void add_keys_of(const Verb& verb, Keys& keys) {
  const auto command = verb.make();
  Fields fields;
  command->fields(fields);
  for (const Field& field : fields.all()) {
    if (!field.positional) {
      (field.flag_only ? keys.flag_only : keys.lasting).push_back(field.name);
    }
  }
}

std::string unknown_key(const std::string& key, const Keys& keys) {
  if (std::ranges::find(keys.flag_only, key) != keys.flag_only.end()) {
    return fmt::format(
        "'{0}' is said anew for each run, as scripts rely on what they get: give --{0} on the "
        "command line and take this line out",
        key);
  }
  return fmt::format("unknown option '{}'{}", key, suggestion(key, keys.lasting));
}

// The line of the first byte that is not ASCII and stands in no quotes and no comment, where TOML
// allows none: toml++'s own message would say less.
std::optional<int> line_of_unquoted_letter(std::string_view text) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  constexpr std::string_view kBeforeQuote =
      " \t\r\n=,[{\xBF";  // elsewhere a quote is one more letter
  int line = 1;
  std::string_view quote;  // what ends the text in quotes
  for (size_t i = text.starts_with(kByteOrderMark) ? kByteOrderMark.size() : 0; i < text.size();
       ++i) {
    const char c = text[i];
    if (c == '\n') {
      ++line;
      quote = quote.size() == 1 ? "" : quote;
    } else if (!quote.empty()) {
      if (c == '\\' && quote.front() == '"' && text.substr(i + 1, 1) != "\n") {
        ++i;
      } else if (text.substr(i).starts_with(quote)) {
        i += quote.size() - 1;
        quote = "";
      }
    } else if (c == '#') {
      i = std::min(text.find('\n', i), text.size()) - 1;
    } else if ((c == '"' || c == '\'') &&
               kBeforeQuote.find(i == 0 ? '\n' : text[i - 1]) != std::string_view::npos) {
      const std::string_view three = text.substr(i, 3);
      quote = three == "\"\"\"" || three == "'''" ? three : text.substr(i, 1);
      i += quote.size() - 1;
    } else if (static_cast<unsigned char>(c) >= 0x80) {
      return line;
    }
  }
  return std::nullopt;
}

}  // namespace

std::string config_path(const Environment& environment) {
  return environment.get("MYNAH_CONFIG").value_or(environment.config_folder() + "/config.toml");
}

Result<ConfigFile> parse_config(std::string_view text, const std::string& path) {
  if (const auto line = line_of_unquoted_letter(text)) {
    return fail(ErrorCode::Usage,
                fmt::format("{}:{}: wanted ASCII where there are no quotes, found something else: "
                            "put it in quotes",
                            path, *line));
  }
  const toml::parse_result parsed = toml::parse(text, std::string_view(path));
  if (!parsed) {
    const toml::parse_error& error = parsed.error();
    return fail(ErrorCode::Usage, fmt::format("{}:{}: {}", path, error.source().begin.line,
                                              std::string(error.description())));
  }
  ConfigFile config{.path = path, .entries = {}};
  for (const auto& [key, node] : parsed.table()) {
    if (const auto* table = node.as_table()) {
      for (const auto& [inner_key, inner] : *table) {
        MYNAH_TRY(ConfigEntry entry,
                  read_entry(std::string(key.str()), inner_key.str(), inner, path));
        config.entries.push_back(std::move(entry));
      }
      continue;
    }
    MYNAH_TRY(ConfigEntry entry, read_entry("", key.str(), node, path));
    config.entries.push_back(std::move(entry));
  }
  // What holds for every verb first: a verb's own table is read after it and wins.
  std::ranges::stable_partition(config.entries,
                                [](const ConfigEntry& entry) { return entry.verb.empty(); });
  return config;
}

Result<ConfigFile> read_config(const Environment& environment) {
  const std::string path = config_path(environment);
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    const int error = errno;
    if (error == ENOENT && !environment.get("MYNAH_CONFIG")) {
      return ConfigFile{.path = path, .entries = {}};
    }
    return fail(ErrorCode::Usage,
                fmt::format("configuration file {}: {}", path, std::strerror(error)));
  }
  std::string text(kMostBytes + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<size_t>(file.gcount()));
  if (text.size() > kMostBytes) {
    return fail(ErrorCode::Usage,
                fmt::format("configuration file {}: wanted at most {} bytes, found more", path,
                            kMostBytes));
  }
  return parse_config(text, path);
}

Status check_config(const ConfigFile& config, std::span<const Verb> verbs) {
  std::vector<std::string> every_verb;
  Keys every_key;
  for (const Verb& verb : verbs) {
    every_verb.push_back(verb.name);
    add_keys_of(verb, every_key);
  }
  for (const ConfigEntry& entry : config.entries) {
    Keys keys = every_key;
    if (!entry.verb.empty()) {
      const auto verb = std::ranges::find(verbs, entry.verb, &Verb::name);
      if (verb == verbs.end()) {
        return fail(ErrorCode::Usage,
                    fmt::format("{}:{}: there is no verb [{}]{}", config.path, entry.line,
                                entry.verb, suggestion(entry.verb, every_verb)));
      }
      keys = {};
      add_keys_of(*verb, keys);
    }
    if (std::ranges::find(keys.lasting, entry.key) == keys.lasting.end()) {
      return fail(ErrorCode::Usage,
                  fmt::format("{}:{}: {}", config.path, entry.line, unknown_key(entry.key, keys)));
    }
  }
  return {};
}

}  // namespace mynah::cli
