#include "doctor/recipes/shell_variables.h"

#include <algorithm>
#include <optional>

#include "doctor/characters.h"

namespace mynah::doctor {

namespace {

constexpr size_t kLongestForm = 4096;  // of "${NAME:-default}"

bool is_name_character(char c) {
  return is_digit(c) || is_small_letter(small_letter(c)) || c == '_';
}

// What "${...}" stands for; `inner` is what is between the braces.
std::optional<std::string> braced(std::string_view inner,
                                  const std::map<std::string, std::string>& values) {
  const size_t size = variable_name_size(inner);
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

}  // namespace

size_t variable_name_size(std::string_view text) {
  if (text.empty() || is_digit(text.front())) {
    return 0;
  }
  return static_cast<size_t>(std::ranges::find_if_not(text, &is_name_character) - text.begin());
}

bool has_values(std::string_view text, const std::map<std::string, std::string>& values) {
  if (text.contains('`')) {
    return false;
  }
  for (size_t at = text.find('$'); at != std::string_view::npos; at = text.find('$', at + 1)) {
    const std::string_view rest = text.substr(at + (text.substr(at + 1).starts_with('{') ? 2 : 1));
    if (!values.contains(std::string(rest.substr(0, variable_name_size(rest))))) {
      return false;
    }
  }
  return true;
}

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
      taken = variable_name_size(rest);
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

}  // namespace mynah::doctor
