#include "doctor/machine/machine_text.h"

#include <algorithm>
#include <charconv>
#include <deque>
#include <iterator>
#include <system_error>

#include <fmt/format.h>

#include "doctor/characters.h"
#include "doctor/versions.h"
#include "formats/json.h"

namespace mynah::doctor {
namespace {

// The message of a record of /dev/kmsg; any other line whole.
std::string_view message_of(std::string_view line) {
  const size_t semicolon = line.find(';');
  if (semicolon == std::string_view::npos || line.empty() || !is_digit(line.front())) {
    return line;
  }
  const std::string_view head = line.substr(0, semicolon);
  const bool is_record = std::ranges::count(head, ',') >= 3 && head.find(' ') == head.npos;
  return is_record ? line.substr(semicolon + 1) : line;
}

bool is_about_driver(std::string_view line) {
  const bool rejected = line.find("nvidia") != std::string_view::npos &&
                        line.find(" is rejected") != std::string_view::npos;
  return rejected || line.find("NVRM:") != std::string_view::npos;
}

// /dev/kmsg writes the ends of lines inside of a message as "\\x0a".
std::string printable(std::string_view line) {
  std::string text(trimmed(line.substr(0, kMostKernelLineBytes)));
  constexpr std::string_view kLineEnd = "\\x0a";
  for (size_t at = text.find(kLineEnd); at != text.npos; at = text.find(kLineEnd, at)) {
    text.replace(at, kLineEnd.size(), " ");
  }
  std::ranges::replace_if(text, [](char c) { return c < ' ' || c > '~'; }, '?');
  return text;
}

std::optional<uint64_t> number_in(std::string_view text) {
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() ? std::optional(number) : std::nullopt;
}

}  // namespace

std::vector<std::string> kernel_lines(std::string_view records) {
  std::deque<std::string> kept;
  for (std::string_view left = records, line; take_line(left, line);) {
    const std::string_view message = message_of(line);
    if (message.find("Linux version ") != std::string_view::npos) {
      kept.clear();
    } else if (is_about_driver(message)) {
      kept.push_back(printable(message));
      if (kept.size() > kMostKernelLines) {
        kept.pop_front();
      }
    }
  }
  return {std::make_move_iterator(kept.begin()), std::make_move_iterator(kept.end())};
}

std::optional<Xid> read_xid(std::string_view line) {
  constexpr std::string_view kMark = "NVRM: Xid (";
  const size_t begin = line.find(kMark);
  if (begin == std::string_view::npos) {
    return std::nullopt;
  }
  line.remove_prefix(begin + kMark.size());
  const size_t end = line.find("): ");
  if (end == std::string_view::npos) {
    return std::nullopt;
  }
  const auto number = number_in(line.substr(end + 3));
  constexpr uint64_t kMostXid = 100'000;
  if (!number || *number > kMostXid) {
    return std::nullopt;
  }
  std::string_view where = line.substr(0, end);
  if (where.starts_with("PCI:")) {
    where.remove_prefix(4);
  }
  return Xid{.number = static_cast<int>(*number), .pci = std::string(where)};
}

std::string setting_of(std::string_view text, std::string_view name) {
  for (std::string_view left = text, line; take_line(left, line);) {
    if (!line.starts_with(name) || !line.substr(name.size()).starts_with('=')) {
      continue;
    }
    std::string_view value = trimmed(line.substr(name.size() + 1));
    if (value.size() >= 2 && (value.front() == '"' || value.front() == '\'') &&
        value.back() == value.front()) {
      value = value.substr(1, value.size() - 2);
    }
    return std::string(value);
  }
  return {};
}

std::vector<std::string> words_behind(std::string_view text, std::string_view name) {
  std::vector<std::string> words;
  for (std::string_view left = text, line; take_line(left, line);) {
    const size_t colon = line.find(':');
    if (colon == std::string_view::npos || trimmed(line.substr(0, colon)) != name) {
      continue;
    }
    std::string_view rest = line.substr(colon + 1);
    while (true) {
      rest.remove_prefix(
          static_cast<size_t>(std::ranges::find_if_not(rest, is_blank) - rest.begin()));
      if (rest.empty()) {
        return words;
      }
      const auto size = static_cast<size_t>(std::ranges::find_if(rest, is_blank) - rest.begin());
      words.emplace_back(rest.substr(0, size));
      rest.remove_prefix(size);
    }
  }
  return words;
}

std::map<uint64_t, std::string> group_names(std::string_view text) {
  std::map<uint64_t, std::string> names;
  for (std::string_view left = text, line; take_line(left, line);) {
    const size_t first = line.find(':');
    const size_t second = first == line.npos ? first : line.find(':', first + 1);
    if (second == std::string_view::npos) {
      continue;
    }
    if (const auto number = number_in(line.substr(second + 1))) {
      names.try_emplace(*number, line.substr(0, first));
    }
  }
  return names;
}

std::string_view pci_name(std::string_view list, std::string_view vendor, std::string_view device) {
  bool of_vendor = false;
  while (!list.empty()) {
    const size_t end = std::min(list.find('\n'), list.size());
    std::string_view line = list.substr(0, end);
    list.remove_prefix(std::min(end + 1, list.size()));
    if (line.empty() || line.front() == '#' || line.starts_with("\t\t")) {
      continue;
    }
    if (line.front() != '\t') {
      if (of_vendor) {
        break;
      }
      of_vendor = line.starts_with(vendor) && line.substr(vendor.size()).starts_with("  ");
      continue;
    }
    line.remove_prefix(1);
    if (of_vendor && line.starts_with(device) && line.substr(device.size()).starts_with("  ")) {
      return trimmed(line.substr(device.size()));
    }
  }
  return {};
}

std::string_view sold_as(std::string_view pci_name) {
  const size_t begin = pci_name.find('[');
  const size_t end = pci_name.rfind(']');
  return begin == std::string_view::npos || end == std::string_view::npos || end < begin
             ? pci_name
             : pci_name.substr(begin + 1, end - begin - 1);
}

std::vector<std::string> docker_runtimes(std::string_view json) {
  std::vector<std::string> names;
  const auto settings = parse_json(json, "daemon.json");
  if (!settings || !settings->is_object()) {
    return names;
  }
  const auto runtimes = settings->find("runtimes");
  if (runtimes == settings->end() || !runtimes->is_object()) {
    return names;
  }
  for (const auto& [name, runtime] : runtimes->items()) {
    names.push_back(name);
  }
  return names;
}

std::string module_option(std::string_view text, std::string_view parameter) {
  std::string value;
  for (std::string_view left = text, line; take_line(left, line);) {
    line = trimmed(line);
    constexpr std::string_view kOptions = "options";
    if (!line.starts_with(kOptions)) {
      continue;
    }
    const std::string_view rest = trimmed(line.substr(kOptions.size()));
    if (!rest.starts_with("nvidia")) {
      continue;
    }
    for (size_t at = rest.find(parameter); at != std::string_view::npos;
         at = rest.find(parameter, at + 1)) {
      const std::string_view behind = rest.substr(at + parameter.size());
      if (at > 0 && is_blank(rest[at - 1]) && behind.starts_with('=')) {
        const std::string_view tail = behind.substr(1);
        value = tail.substr(0, std::min(tail.find_first_of(" \t"), tail.size()));
      }
    }
  }
  return value;
}

std::string windows_driver_release(std::string_view inf) {
  std::string text;
  text.reserve(inf.size());
  std::ranges::copy_if(inf, std::back_inserter(text), [](char c) { return c != '\0'; });
  std::string_view rest = text;
  std::string_view line;
  while (take_line(rest, line)) {
    const std::string small = small_letters(line);
    const size_t equals = small.find('=');
    const size_t comma = small.find(',', equals == std::string::npos ? small.size() : equals);
    if (!trimmed(small).starts_with("driverver") || comma == std::string::npos) {
      continue;
    }
    const auto version = Version::parse(trimmed(std::string_view(small).substr(comma + 1)));
    // Windows 10's display drivers (WDDM 2) begin with 20 and more.
    constexpr uint64_t kOldestModel = 20;
    if (!version || version->release.size() != 4 || version->release[0] < kOldestModel ||
        version->release[2] < 10 || version->release[2] > 19 || version->release[3] > 9999) {
      return {};
    }
    const uint64_t digits = version->release[2] % 10 * 10000 + version->release[3];
    return fmt::format("{}.{:02}", digits / 100, digits % 100);
  }
  return {};
}

}  // namespace mynah::doctor
