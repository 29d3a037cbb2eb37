#include "cli/command/fields.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>

#include <fmt/format.h>

#include "base/ascii.h"
#include "base/nearest_name.h"

namespace mynah::cli {

namespace {

// "1,5" is meant as 1.5.
std::string decimal_hint(const std::string& text) {
  const size_t comma = text.find(',');
  std::string point = text;
  if (comma == std::string::npos || comma == 0) {
    return {};
  }
  point[comma] = '.';
  return parse_number(point) ? fmt::format(" (decimals have a point here: {})", point) : "";
}

}  // namespace

std::string_view name(Origin origin) {
  switch (origin) {
    case Origin::Default:
      return "default";
    case Origin::File:
      return "file";
    case Origin::Environment:
      return "environment";
    case Origin::Flag:
      return "flag";
  }
  return "default";
}

std::string Field::environment_name() const {
  std::string result = "MYNAH_" + ascii_upper(name);
  std::ranges::replace(result, '-', '_');
  return result;
}

Field& Field::within(double least, double most) {
  set = [take = std::move(set), least, most](const std::string& text) -> Status {
    const auto number = parse_number(text);
    if (number && (*number < least || *number > most)) {
      return fail(ErrorCode::Usage,
                  fmt::format("wanted a number from {} to {}, found {}", least, most, text));
    }
    return take(text);
  };
  return *this;
}

Result<int64_t> parse_integer(const std::string& text, int64_t least, int64_t most) {
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || text.empty()) {
    return fail(ErrorCode::Usage, fmt::format("wanted a whole number, found '{}'", text));
  }
  if (number < least || number > most) {
    return fail(ErrorCode::Usage,
                fmt::format("wanted a number from {} to {}, found {}", least, most, text));
  }
  return number;
}

Result<double> parse_number(const std::string& text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || text.empty() ||
      std::isnan(number)) {
    return fail(ErrorCode::Usage,
                fmt::format("wanted a number, found '{}'{}", text, decimal_hint(text)));
  }
  return number;
}

Result<double> parse_time(const std::string& text) {
  const auto wrong = [&text] {
    return fail(ErrorCode::Usage,
                fmt::format("wanted a time as 75 (seconds), 1:15 or 0:01:15.5, found '{}'", text));
  };
  if (text.find(':') == std::string::npos) {
    const auto seconds = parse_number(text);
    return seconds ? seconds : wrong();
  }
  // Hours, minutes and seconds, of which the first may be any number.
  constexpr size_t kMostParts = 3;
  constexpr size_t kMostDigits = 9;
  double total = 0;
  size_t parts = 0;
  for (size_t begin = 0; begin <= text.size(); ++parts) {
    const size_t colon = text.find(':', begin);
    const bool last = colon == std::string::npos;
    std::string part = text.substr(begin, last ? colon : colon - begin);
    const size_t point = last ? part.find_first_of(".,") : std::string::npos;
    const std::string whole = part.substr(0, point);
    if (parts == kMostParts || !is_ascii_digits(whole) || whole.size() > kMostDigits ||
        (point != std::string::npos && !is_ascii_digits(part.substr(point + 1)))) {
      return wrong();
    }
    if (point != std::string::npos) {
      part[point] = '.';
    }
    const auto number = parse_number(part);
    if (!number || (parts > 0 && *number >= 60)) {
      return wrong();
    }
    total = total * 60 + *number;
    begin = last ? text.size() + 1 : colon + 1;
  }
  return total;
}

Result<bool> parse_switch(const std::string& text) {
  const std::string lower = ascii_lower(text);
  if (lower == "true" || lower == "1" || lower == "yes" || lower == "on") {
    return true;
  }
  if (lower == "false" || lower == "0" || lower == "no" || lower == "off") {
    return false;
  }
  return fail(ErrorCode::Usage, fmt::format("wanted true or false, found '{}'", text));
}

std::string print_number(double value) {
  return fmt::format("{}", value);
}

std::string print_number(float value) {
  return fmt::format("{}", value);
}

std::vector<std::string> split_list(const std::string& text) {
  std::vector<std::string> parts;
  size_t begin = 0;
  while (!text.empty() && begin <= text.size()) {
    const size_t end = std::min(text.find(',', begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

Status parse_value(const std::string& text, std::string& out) {
  out = text;
  return {};
}

Field& Fields::flag(std::string name, bool& target, std::string help) {
  Field& field = add(std::move(name), "", std::move(help));
  field.negatable = target;
  field.initial = target ? "true" : "false";
  field.set = [&target](const std::string& text) -> Status {
    MYNAH_TRY(target, parse_switch(text));
    return {};
  };
  field.print = [&target] { return std::string(target ? "true" : "false"); };
  return field;
}

Field& Fields::positional(const std::string& name, std::vector<std::string>& target,
                          std::string help) {
  Field& field = add(name, name, std::move(help));
  field.positional = true;
  field.repeated = true;
  field.flag_only = true;
  field.set = [&target](const std::string& text) -> Status {
    target.push_back(text);
    return {};
  };
  field.clear = [&target] { target.clear(); };
  field.print = [] { return std::string(); };
  return field;
}

Field& Fields::names(std::string name, std::string value, std::vector<std::string>& target,
                     std::string help) {
  Field& field = list(std::move(name), std::move(value), target, std::move(help));
  field.set = [&target](const std::string& text) -> Status {
    target.push_back(text);
    return {};
  };
  return field;
}

Field* Fields::find(std::string_view name) {
  return const_cast<Field*>(std::as_const(*this).find(name));
}

const Field* Fields::find(std::string_view name) const {
  const auto found = std::ranges::find_if(fields_, [name](const Field& field) {
    return !field.positional &&
           (field.name == name || std::ranges::find(field.aliases, name) != field.aliases.end());
  });
  return found == fields_.end() ? nullptr : &*found;
}

Field& Fields::add(std::string name, std::string value, std::string help) {
  Field& field = fields_.emplace_back();
  field.name = std::move(name);
  field.value = std::move(value);
  field.help = std::move(help);
  field.section = section_;
  field.clear = [] {};
  return field;
}

Status Fields::unknown_choice(const std::string& text, const std::vector<std::string>& choices) {
  return fail(ErrorCode::Usage, fmt::format("wanted {}, found '{}'{}", fmt::join(choices, ", "),
                                            text, suggestion(text, choices)));
}

}  // namespace mynah::cli
