#include "doctor/recipes/shell_text.h"

#include <algorithm>
#include <array>
#include <optional>

#include "doctor/characters.h"
#include "doctor/recipes/recipe_parts.h"

namespace mynah::doctor {

namespace {

constexpr size_t kMostGrown = size_t{1} << 14;  // bytes that values may add to one text
constexpr size_t kLongestForm = 4096;           // of "${NAME:-default}"

bool is_name_character(char c) {
  return is_digit(c) || is_small_letter(small_letter(c)) || c == '_';
}

size_t name_size(std::string_view text) {
  if (text.empty() || is_digit(text.front())) {
    return 0;
  }
  return static_cast<size_t>(std::ranges::find_if_not(text, &is_name_character) - text.begin());
}

// What "${...}" stands for; `inner` is what is between the braces.
std::optional<std::string> braced(std::string_view inner,
                                  const std::map<std::string, std::string>& values) {
  const size_t size = name_size(inner);
  const auto found = values.find(std::string(inner.substr(0, size)));
  const bool set = found != values.end();
  const std::string_view form = inner.substr(size);
  if (size == 0) {
    return std::nullopt;
  }
  if (form.empty()) {
    return set ? std::optional(found->second) : std::nullopt;
  }
  const auto is_plain = [](std::string_view text) {
    return text.find('$') == std::string_view::npos;
  };
  if (form.starts_with(":-") && is_plain(form)) {
    return set && !found->second.empty() ? found->second : std::string(form.substr(2));
  }
  if (form.starts_with('-') && is_plain(form)) {
    return set ? found->second : std::string(form.substr(1));
  }
  if (form.starts_with(":+") && is_plain(form)) {
    return set && !found->second.empty() ? std::string(form.substr(2)) : std::string();
  }
  return std::nullopt;
}

// Cuts a script where one command ends, outside of quotes.
std::vector<std::string_view> cut(std::string_view text) {
  std::vector<std::string_view> parts;
  char quote = '\0';
  size_t begin = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '\\' && quote != '\'') {
      ++i;
    } else if (quote != '\0') {
      quote = c == quote ? '\0' : quote;
    } else if (c == '"' || c == '\'') {
      quote = c;
    } else if (c == '#' && (i == 0 || is_blank(text[i - 1]))) {
      parts.push_back(text.substr(begin, i - begin));
      i = std::min(text.find('\n', i), text.size());
      begin = std::min(i + 1, text.size());
    } else if ((c == '&' && i > 0 && text[i - 1] == '>')) {
      continue;  // ">&2"
    } else if (c == '\n' || c == ';' || c == '&' || c == '|') {
      parts.push_back(text.substr(begin, i - begin));
      begin = i + 1;
    }
  }
  parts.push_back(text.substr(std::min(begin, text.size())));
  return parts;
}

constexpr std::array<std::string_view, 13> kShellWords = {
    "if", "then", "else", "elif", "fi", "do", "done", "while", "until", "!", "{", "}", "("};

}  // namespace

std::string substituted(std::string_view text, const std::map<std::string, std::string>& values) {
  std::string result;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 1 < text.size()) {
      result += text.substr(i, 2);
      ++i;
      continue;
    }
    const std::string_view rest = text.substr(i + 1);
    std::optional<std::string> value;
    size_t taken = 0;
    if (text[i] == '$' && rest.starts_with('{')) {
      const size_t end = rest.substr(0, kLongestForm).find('}');
      if (end != std::string_view::npos) {
        value = braced(rest.substr(1, end - 1), values);
        taken = end + 1;
      }
    } else if (text[i] == '$') {
      taken = name_size(rest);
      if (const auto found = values.find(std::string(rest.substr(0, taken)));
          taken > 0 && found != values.end()) {
        value = found->second;
      }
    }
    if (value && result.size() + value->size() < text.size() + kMostGrown) {
      result += *value;
      i += taken;
    } else {
      result += text[i];
    }
  }
  return result;
}

std::vector<ShellCommand> shell_commands(std::string_view text) {
  std::vector<ShellCommand> commands;
  for (const std::string_view part : cut(text)) {
    ShellCommand command;
    for (std::string& word : words_of(part)) {
      if (command.words.empty()) {
        const size_t name = name_size(word);
        if (name > 0 && name < word.size() && word[name] == '=') {
          command.variables.insert_or_assign(word.substr(0, name), word.substr(name + 1));
          continue;
        }
        if (std::ranges::find(kShellWords, word) != kShellWords.end()) {
          continue;
        }
      }
      if (word.starts_with('>') || word.starts_with("2>")) {
        break;  // its output goes elsewhere
      }
      command.words.push_back(std::move(word));
    }
    if (!command.words.empty()) {
      commands.push_back(std::move(command));
    }
  }
  return commands;
}

}  // namespace mynah::doctor
