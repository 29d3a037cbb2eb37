#include "doctor/machine/toolkit_text.h"

#include <algorithm>
#include <charconv>
#include <system_error>
#include <vector>

#include <fmt/format.h>

#include "doctor/characters.h"
#include "formats/json.h"

namespace mynah::doctor {
namespace {

// Numbers and points, as a version is; empty where the text begins with something else.
std::string number_at(std::string_view text) {
  constexpr size_t kMost = 40;
  const auto end =
      std::ranges::find_if(text, [](char c) { return !is_digit(c) && c != '.'; }) - text.begin();
  std::string number(text.substr(0, std::min(static_cast<size_t>(end), kMost)));
  while (number.ends_with('.')) {
    number.pop_back();
  }
  return number.empty() || number.front() == '.' ? std::string() : number;
}

std::optional<int> int_at(std::string_view text) {
  constexpr int kMostDigits = 9;
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && number >= 0 && end - text.data() <= kMostDigits
             ? std::optional(number)
             : std::nullopt;
}

// The number behind "NAME RELATION" in a condition: 12 of "__GNUC__ > 12".
std::optional<int> bound(std::string_view condition, std::string_view name,
                         std::string_view relation) {
  for (size_t at = condition.find(name); at != std::string_view::npos;
       at = condition.find(name, at + 1)) {
    const std::string_view rest = trimmed(condition.substr(at + name.size()));
    // ">" is not ">=".
    if (rest.starts_with(relation) && !rest.substr(relation.size()).starts_with('=')) {
      return int_at(trimmed(rest.substr(relation.size())));
    }
  }
  return std::nullopt;
}

// The greatest value that "NAME > N" or "NAME >= N" lets through.
int most_of(std::string_view condition, std::string_view name) {
  if (const auto above = bound(condition, name, ">")) {
    return *above;
  }
  const auto from = bound(condition, name, ">=");
  return from ? std::max(*from - 1, 0) : 0;
}

bool is_directive(std::string_view line, std::string_view name) {
  line = trimmed(line);
  if (!line.starts_with('#')) {
    return false;
  }
  return trimmed(line.substr(1)).starts_with(name);
}

}  // namespace

std::string version_of_json(std::string_view json) {
  const auto parsed = parse_json(json, "version.json");
  if (!parsed || !parsed->is_object()) {
    return {};
  }
  const auto cuda = parsed->find("cuda");
  if (cuda == parsed->end() || !cuda->is_object()) {
    return {};
  }
  const auto version = cuda->find("version");
  return version == cuda->end() || !version->is_string()
             ? std::string()
             : number_at(version->get_ref<const std::string&>());
}

std::string version_of_text(std::string_view text) {
  constexpr std::string_view kMark = "CUDA Version ";
  const size_t at = text.find(kMark);
  return at == std::string_view::npos ? std::string() : number_at(text.substr(at + kMark.size()));
}

std::optional<int> defined_number(std::string_view header, std::string_view name) {
  for (std::string_view left = header, line; take_line(left, line);) {
    if (!is_directive(line, "define")) {
      continue;
    }
    const std::string_view rest = trimmed(line.substr(line.find("define") + 6));
    if (rest.starts_with(name) && rest.size() > name.size() &&
        (rest[name.size()] == ' ' || rest[name.size()] == '\t')) {
      return int_at(trimmed(rest.substr(name.size())));
    }
  }
  return std::nullopt;
}

std::string version_of_cuda_number(int number) {
  return fmt::format("{}.{}", number / 1000, number % 1000 / 10);
}

std::string version_of_cub_number(int number) {
  return fmt::format("{}.{}.{}", number / 100'000, number / 100 % 1000, number % 100);
}

CompilerLimits compiler_limits(std::string_view host_config) {
  CompilerLimits limits;
  std::string_view condition;
  for (std::string_view left = host_config, line; take_line(left, line);) {
    if (is_directive(line, "if") || is_directive(line, "elif")) {
      condition = line;
      continue;
    }
    if (!is_directive(line, "error")) {
      continue;
    }
    if (line.find("unsupported GNU version") != std::string_view::npos) {
      limits.gcc_most = most_of(condition, "__GNUC__");
    } else if (line.find("unsupported clang version") != std::string_view::npos) {
      limits.clang_most = most_of(condition, "__clang_major__");
    } else if (line.find("unsupported Microsoft Visual Studio version") != std::string_view::npos) {
      limits.msvc_least = bound(condition, "_MSC_VER", "<").value_or(0);
      limits.msvc_most = most_of(condition, "_MSC_VER");
    }
  }
  return limits;
}

int msc_version(std::string_view tools_version) {
  constexpr std::string_view kMajor = "14.";
  constexpr int kOf14 = 1900;
  constexpr int kMostMinor = 99;
  if (!tools_version.starts_with(kMajor)) {
    return 0;
  }
  const auto minor = int_at(tools_version.substr(kMajor.size()));
  return minor && *minor <= kMostMinor ? kOf14 + *minor : 0;
}

}  // namespace mynah::doctor
