#include "cli/command/peer_flags.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/ascii.h"

namespace mynah::cli {

namespace {

using enum PeerValue;

// "Name=value" apart; the name with hyphens.
struct Written {
  std::string name;
  std::string value;
  bool has_value = false;
};

Written take_apart(const std::string& argument) {
  Written written;
  const size_t equals = argument.find('=');
  written.name = argument.substr(0, equals);
  if (written.name.starts_with("--")) {
    std::ranges::replace(written.name, '_', '-');
  }
  if (equals != std::string::npos) {
    written.has_value = true;
    written.value = argument.substr(equals + 1);
  }
  return written;
}

const PeerFlag* find_flag(std::span<const PeerFlag> flags, const std::string& name) {
  const auto found = std::ranges::find_if(flags, [&](const PeerFlag& flag) {
    return name == flag.longer || (!flag.shorter.empty() && name == flag.shorter);
  });
  return found == flags.end() ? nullptr : &*found;
}

// Whether the next argument is the value of this one, an option of mynah's own.
bool takes_next(const Fields* own, const Written& written) {
  if (own == nullptr || written.has_value || written.name.size() < 2) {
    return false;
  }
  const Field* field = nullptr;
  if (written.name.starts_with("--")) {
    field = own->find(std::string_view(written.name).substr(2));
  } else if (written.name.front() == '-' && written.name.size() == 2) {
    const auto found = std::ranges::find(own->all(), written.name[1], &Field::short_name);
    field = found == own->all().end() ? nullptr : &*found;
  }
  return field != nullptr && !field->value.empty();
}

bool is_ignored(const PeerFlag& flag, const std::string& value) {
  std::string_view rest = flag.ignored_values;
  while (!rest.empty()) {
    const size_t end = std::min(rest.find(' '), rest.size());
    if (rest.substr(0, end) == value) {
      return true;
    }
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return false;
}

Status append(const PeerFlag& flag, const std::string& value, std::vector<std::string>& result) {
  std::string_view rest = flag.becomes;
  while (!rest.empty()) {
    const size_t end = std::min(rest.find(' '), rest.size());
    std::string argument(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (const size_t ms = argument.find("{s}"); ms != std::string::npos) {
      const auto number = parse_number(value);
      if (!number) {
        return fail(ErrorCode::Usage,
                    fmt::format("{}: wanted milliseconds, found '{}'", flag.longer, value));
      }
      argument.replace(ms, 3, print_number(*number / 1000));
    } else if (const size_t inverse = argument.find("{/}"); inverse != std::string::npos) {
      const auto number = parse_number(value);
      if (!number || *number <= 0) {
        return fail(ErrorCode::Usage,
                    fmt::format("{}: wanted a number above 0, found '{}'", flag.longer, value));
      }
      argument.replace(inverse, 3, print_number(1 / *number));
    } else if (const size_t text = argument.find("{}"); text != std::string::npos) {
      const bool file = argument == "{}" && value.size() > 1 && value.starts_with('-');
      argument.replace(text, 2, file ? "./" + value : value);  // else it would be a flag
    }
    result.push_back(std::move(argument));
  }
  return {};
}

}  // namespace

Result<std::vector<std::string>> translate_peer_flags(std::span<const PeerFlag> flags,
                                                      const std::vector<std::string>& arguments,
                                                      const Fields* own) {
  std::vector<std::string> result;
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i] == "--") {
      result.insert(result.end(), arguments.begin() + static_cast<std::ptrdiff_t>(i),
                    arguments.end());
      break;
    }
    const Written written = take_apart(arguments[i]);
    const PeerFlag* flag = find_flag(flags, written.name);
    if (flag == nullptr) {
      result.push_back(arguments[i]);
      if (takes_next(own, written) && i + 1 < arguments.size()) {
        result.push_back(arguments[++i]);
      }
      continue;
    }
    const bool apart = flag->value != None && !written.has_value;
    const bool lacks = apart && i + 1 == arguments.size();
    const std::string value = apart && !lacks ? arguments[++i] : written.value;
    if (!flag->instead.empty() && !is_ignored(*flag, value)) {
      return fail(ErrorCode::Usage, fmt::format("{} is not done: {}", written.name, flag->instead));
    }
    if (lacks) {
      return fail(ErrorCode::Usage, fmt::format("{} wants a value", written.name));
    }
    if (flag->value == Number && !is_ascii_digits(value)) {
      result.push_back(fmt::format("{}={}", flag->longer, value));
      continue;
    }
    if (flag->value == None && written.has_value) {
      result.push_back(arguments[i]);  // "--vad=false": mynah's own spelling
      continue;
    }
    if (!is_ignored(*flag, value)) {
      MYNAH_TRY_STATUS(append(*flag, value, result));
    }
  }
  return result;
}

}  // namespace mynah::cli
