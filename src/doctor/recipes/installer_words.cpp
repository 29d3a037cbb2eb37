#include "doctor/recipes/installer_words.h"

#include <algorithm>
#include <array>
#include <map>

namespace mynah::doctor {

std::string_view program_name(std::string_view word) {
  return word.substr(word.find_last_of('/') + 1);
}

bool is_by_uv(std::span<const std::string> words, size_t program) {
  return program_name(words[program]) == "uv" ||
         (program > 0 && program_name(words[program - 1]) == "uv");
}

bool is_joined(const ShellCommand& command, const CommandSetting& setting) {
  constexpr auto kNames =
      std::to_array<const char*>({"PIP_NO_BUILD_ISOLATION", "UV_NO_BUILD_ISOLATION"});
  return std::ranges::any_of(
             command.words,
             [](const std::string& word) { return word.starts_with("--no-build-isolation"); }) ||
         std::ranges::any_of(kNames, [&](const char* name) {
           return setting.variables.contains(name) || command.variables.contains(name);
         });
}

bool may_be_kept_out(const ShellCommand& command, size_t program, const CommandSetting& setting) {
  const std::span<const std::string> words = command.words;
  static constexpr std::array<std::string_view, 5> kApart = {"--target", "-t", "--prefix", "--root",
                                                             "--break-system-packages"};
  const bool uv = is_by_uv(words, program);
  const auto is_set = [](const std::map<std::string, std::string>& variables, const char* name) {
    const auto found = variables.find(name);
    return found != variables.end() && found->second != "0" && !found->second.empty();
  };
  const auto allowed = [&](const std::map<std::string, std::string>& variables) {
    return is_set(variables, uv ? "UV_BREAK_SYSTEM_PACKAGES" : "PIP_BREAK_SYSTEM_PACKAGES");
  };
  // uv takes a system's Python where it is told to.
  const bool system = std::ranges::find(words, "--system") != words.end() ||
                      is_set(setting.variables, "UV_SYSTEM_PYTHON") ||
                      is_set(command.variables, "UV_SYSTEM_PYTHON");
  const bool apart = std::ranges::any_of(words.subspan(program), [](std::string_view word) {
    return std::ranges::find(kApart, word.substr(0, word.find('='))) != kApart.end();
  });
  const bool named = std::ranges::any_of(words.subspan(program), [](std::string_view word) {
    return word == "--python" || word == "-p" || word.starts_with("--python=");
  });
  if (uv) {
    return system && !named && !apart && !allowed(setting.variables) && !allowed(command.variables);
  }
  const bool plain =
      (words[program] == "pip" || words[program] == "pip3") &&
      (program == 0 || words[program - 1] == "-m" || words[program - 1] == "sudo") &&
      (program < 2 || words[program - 2] == "python3" || words[program - 2] == "python");
  return plain && !apart && !allowed(setting.variables) && !allowed(command.variables);
}

}  // namespace mynah::doctor
