#include "doctor/python/python_text.h"

#include <algorithm>
#include <charconv>

#include "doctor/characters.h"

namespace mynah::doctor {
namespace {

constexpr size_t kMostFields = 65'536;
constexpr size_t kMostArguments = 256;

bool is_name_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c) || c == '_';
}

// A field of CSV, and where the next one begins. A field in quotes is copied, since quotes inside
// of it are doubled.
class CsvFields {
 public:
  explicit CsvFields(std::string_view text) : text_(text) {}

  [[nodiscard]] bool at_end() const { return at_ >= text_.size(); }

  // The next field; `last` is set where its line ends with it.
  std::string_view next(std::string& copy, bool& last) {
    std::string_view field;
    if (!at_end() && text_[at_] == '"') {
      field = quoted(copy);
    } else {
      const size_t end = std::min(text_.find_first_of(",\r\n", at_), text_.size());
      field = text_.substr(at_, end - at_);
      at_ = end;
    }
    last = at_end() || text_[at_] != ',';
    if (!at_end()) {
      const bool two = text_.substr(at_).starts_with("\r\n");
      at_ += two ? 2 : 1;
    }
    return field;
  }

 private:
  std::string_view quoted(std::string& copy) {
    copy.clear();
    ++at_;
    while (!at_end()) {
      const size_t end = std::min(text_.find('"', at_), text_.size());
      copy += text_.substr(at_, end - at_);
      at_ = std::min(end + 1, text_.size());
      if (at_end() || text_[at_] != '"') {
        break;
      }
      copy += '"';
      ++at_;
    }
    // What stands behind the closing quote is none of the field.
    at_ = std::min(text_.find_first_of(",\r\n", at_), text_.size());
    return copy;
  }

  std::string_view text_;
  size_t at_ = 0;
};

// The text in quotes that a value begins with, or the word; nothing where it is neither.
std::optional<std::string_view> literal(std::string_view value) {
  if (value.starts_with('\'') || value.starts_with('"')) {
    const size_t end = value.find(value.front(), 1);
    if (end == std::string_view::npos ||
        value.substr(0, end).find('\\') != std::string_view::npos) {
      return std::nullopt;
    }
    return value.substr(1, end - 1);
  }
  const auto end = std::ranges::find_if_not(
      value, [](char c) { return is_name_character(c) || c == '.' || c == '-'; });
  const std::string_view word = value.substr(0, static_cast<size_t>(end - value.begin()));
  const std::string_view behind = trimmed(value.substr(word.size()));
  if (word.empty() || !(behind.empty() || behind.front() == '#')) {
    return std::nullopt;
  }
  return word;
}

}  // namespace

std::vector<HeaderField> read_headers(std::string_view text) {
  std::vector<HeaderField> fields;
  for (std::string_view line; fields.size() < kMostFields && take_line(text, line);) {
    if (line.empty()) {
      break;
    }
    if (line.front() == ' ' || line.front() == '\t') {
      if (!fields.empty()) {
        fields.back().value += '\n';
        fields.back().value += trimmed(line);
      }
      continue;
    }
    const size_t colon = line.find(':');
    if (colon == std::string_view::npos || colon == 0) {
      break;
    }
    fields.push_back({small_letters(trimmed(line.substr(0, colon))),
                      std::string(trimmed(line.substr(colon + 1)))});
  }
  return fields;
}

void for_each_record(std::string_view text, FunctionRef<void(const RecordEntry&)> show) {
  CsvFields fields(text);
  std::string path_copy;
  std::string hash_copy;
  std::string other_copy;
  while (!fields.at_end()) {
    RecordEntry entry;
    bool last = false;
    entry.path = fields.next(path_copy, last);
    if (!last) {
      entry.hash = fields.next(hash_copy, last);
    }
    if (!last) {
      const std::string_view size = fields.next(other_copy, last);
      uint64_t bytes = 0;
      const auto [end, error] = std::from_chars(size.data(), size.data() + size.size(), bytes);
      if (error == std::errc() && end == size.data() + size.size()) {
        entry.bytes = bytes;
      }
    }
    while (!last) {
      fields.next(other_copy, last);
    }
    if (!entry.path.empty()) {
      show(entry);
    }
  }
}

std::map<std::string, std::optional<std::string>, std::less<>> read_assignments(
    std::string_view text) {
  std::map<std::string, std::optional<std::string>, std::less<>> values;
  for (std::string_view line; values.size() < kMostFields && take_line(text, line);) {
    const auto name_end = std::ranges::find_if_not(line, is_name_character);
    const std::string_view name = line.substr(0, static_cast<size_t>(name_end - line.begin()));
    std::string_view rest = trimmed(line.substr(name.size()));
    if (name.empty() || is_digit(name.front())) {
      continue;
    }
    if (rest.starts_with(':')) {
      rest = rest.substr(std::min(rest.find('='), rest.size()));
    }
    if (!rest.starts_with('=') || rest.starts_with("==")) {
      continue;
    }
    rest = trimmed(rest.substr(1));
    if (const auto value = literal(rest)) {
      values[std::string(name)] =
          *value == "None" && !rest.starts_with('\'') && !rest.starts_with('"')
              ? std::nullopt
              : std::optional(std::string(*value));
    }
  }
  return values;
}

std::vector<std::string> first_arguments(std::string_view text, std::string_view call) {
  std::vector<std::string> arguments;
  for (std::string_view line; arguments.size() < kMostArguments && take_line(text, line);) {
    if (trimmed(line).starts_with('#')) {
      continue;
    }
    for (size_t at = line.find(call); at != std::string_view::npos; at = line.find(call)) {
      const bool whole = at == 0 || !is_name_character(line[at - 1]);
      line.remove_prefix(at + call.size());
      if (whole && line.starts_with('(') && arguments.size() < kMostArguments) {
        const std::string_view argument = trimmed(line.substr(1));
        if (const auto value = literal(argument);
            value && (argument.front() == '"' || argument.front() == '\'')) {
          arguments.emplace_back(*value);
        }
      }
    }
  }
  return arguments;
}

VenvConfig read_venv_config(std::string_view text) {
  VenvConfig config;
  for (std::string_view line; take_line(text, line);) {
    const size_t equals = line.find('=');
    if (equals == std::string_view::npos) {
      continue;
    }
    const std::string key = small_letters(trimmed(line.substr(0, equals)));
    const std::string_view value = trimmed(line.substr(equals + 1));
    if (key == "home") {
      config.home = value;
    } else if (key == "version" || key == "version_info") {
      config.python = short_python_version(value);
    } else if (key == "include-system-site-packages") {
      config.with_system_packages = small_letters(value) == "true";
    }
  }
  return config;
}

std::vector<std::string> read_egg_requirements(std::string_view text) {
  std::vector<std::string> requirements;
  std::string marker;
  for (std::string_view raw; requirements.size() < kMostFields && take_line(text, raw);) {
    const std::string_view line = trimmed(raw);
    if (line.empty() || line.front() == '#') {
      continue;
    }
    if (line.front() == '[') {
      const std::string_view section = line.substr(1, line.find(']') - 1);
      const size_t colon = std::min(section.find(':'), section.size());
      const std::string_view extra = trimmed(section.substr(0, colon));
      const std::string_view condition =
          trimmed(section.substr(std::min(colon + 1, section.size())));
      marker = condition;
      if (!extra.empty()) {
        if (!condition.empty()) {
          marker.insert(0, "(").append(") and ");
        }
        marker.append("extra == \"").append(extra).append("\"");
      }
      continue;
    }
    std::string& requirement = requirements.emplace_back(line);
    if (!marker.empty()) {
      requirement.append(" ; ").append(marker);
    }
  }
  return requirements;
}

std::vector<std::string> read_path_file(std::string_view text) {
  std::vector<std::string> folders;
  for (std::string_view raw; folders.size() < kMostArguments && take_line(text, raw);) {
    const std::string_view line = trimmed(raw);
    if (!line.empty() && line.front() != '#' && !line.starts_with("import ") &&
        !line.starts_with("import\t")) {
      folders.emplace_back(line);
    }
  }
  return folders;
}

std::vector<std::string> read_egg_link(std::string_view text) {
  std::string_view first;
  static_cast<void>(take_line(text, first));
  first = trimmed(first);
  return first.empty() ? std::vector<std::string>() : std::vector{std::string(first)};
}

std::vector<std::string> read_editable_finder(std::string_view text) {
  constexpr std::string_view kMapping = "\nMAPPING";
  std::vector<std::string> folders;
  const size_t at = text.find(kMapping);
  if (at == std::string_view::npos) {
    return folders;
  }
  text.remove_prefix(at + 1);
  std::string_view line;
  static_cast<void>(take_line(text, line));
  // {'name': '/folder/name', ...}: strings that come as pairs.
  line.remove_prefix(std::min(line.find('{'), line.size()));
  std::vector<std::string_view> strings;
  while (folders.size() < kMostArguments) {
    const size_t begin = line.find_first_of("'\"");
    if (begin == std::string_view::npos) {
      break;
    }
    const size_t end = line.find(line[begin], begin + 1);
    if (end == std::string_view::npos) {
      break;
    }
    strings.push_back(line.substr(begin + 1, end - begin - 1));
    line.remove_prefix(end + 1);
    if (strings.size() < 2) {
      continue;
    }
    // A package lies in the folder that Python would look in; others are found by the finder alone.
    const std::string_view name = strings[0];
    const std::string_view path = strings[1];
    if (path.size() > name.size() + 1 && path.ends_with(name) &&
        path[path.size() - name.size() - 1] == '/') {
      folders.emplace_back(path.substr(0, path.size() - name.size() - 1));
    }
    strings.clear();
  }
  return folders;
}

std::string short_python_version(std::string_view version) {
  const size_t dot = version.find('.');
  if (dot == 0 || dot == std::string_view::npos) {
    return "";
  }
  size_t end = dot + 1;
  while (end < version.size() && is_digit(version[end])) {
    ++end;
  }
  const std::string_view text = version.substr(0, end);
  const bool sound = end > dot + 1 && text.size() <= 8 &&
                     std::ranges::all_of(text, [](char c) { return is_digit(c) || c == '.'; });
  return sound ? std::string(text) : "";
}

}  // namespace mynah::doctor
