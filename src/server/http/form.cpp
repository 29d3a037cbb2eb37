#include "server/http/form.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <ranges>

#include <fmt/format.h>

#include "base/ascii.h"

namespace mynah::server {

std::string FormValues::text(std::string_view name) const {
  const auto all = std::views::reverse(fields_);
  const auto found = std::ranges::find(all, name, &std::pair<std::string, std::string>::first);
  return found == all.end() ? std::string() : found->second;
}

std::vector<std::string> FormValues::list(std::string_view name) const {
  const std::string in_brackets = std::string(name) + "[]";
  std::vector<std::string> values;
  for (const auto& [field, value] : fields_) {
    if ((field == name || field == in_brackets) && !value.empty()) {
      values.push_back(value);
    }
  }
  return values;
}

Result<std::optional<double>> FormValues::number(std::string_view name, double least,
                                                 double most) const {
  const std::string given = text(name);
  if (given.empty()) {
    return std::nullopt;
  }
  double value = 0;
  const auto [end, error] = std::from_chars(given.data(), given.data() + given.size(), value);
  if (error != std::errc() || end != given.data() + given.size() || !(value >= least) ||
      !(value <= most)) {
    return fail(
        ErrorCode::InvalidInput,
        fmt::format("{}: wanted a number from {} to {}, found '{}'", name, least, most, given));
  }
  return value;
}

Result<std::optional<bool>> FormValues::flag(std::string_view name) const {
  const std::string given = ascii_lower(text(name));
  if (given.empty()) {
    return std::nullopt;
  }
  for (const std::string_view yes : {"true", "1", "yes", "on"}) {
    if (given == yes) {
      return true;
    }
  }
  for (const std::string_view no : {"false", "0", "no", "off"}) {
    if (given == no) {
      return false;
    }
  }
  return fail(ErrorCode::InvalidInput,
              fmt::format("{}: wanted true or false, found '{}'", name, given));
}

}  // namespace mynah::server
