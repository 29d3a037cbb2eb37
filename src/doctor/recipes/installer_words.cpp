#include "doctor/recipes/installer_words.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <vector>

#include "doctor/recipes/install_environment.h"

namespace mynah::doctor {

std::string_view program_name(std::string_view word) {
  return word.substr(word.find_last_of('/') + 1);
}

bool is_by_uv(std::span<const std::string> words, size_t program) {
  return program_name(words[program]) == "uv" ||
         (program > 0 && program_name(words[program - 1]) == "uv");
}

std::string_view project_folder(std::string_view word) {
  const std::string_view folder = word.substr(0, word.find('['));
  const bool path = folder.starts_with('.') || folder.starts_with('/');
  const bool file = folder.ends_with(".whl") || folder.ends_with(".gz") ||
                    folder.ends_with(".zip") ||
                    folder.find_first_of("*$@;= ") != std::string_view::npos;
  return path && !file ? folder : std::string_view();
}

std::string project_file(std::string_view folder, const CommandSetting& setting) {
  constexpr std::string_view kName = "pyproject.toml";
  const bool here = folder == "." || folder == "./" ||
                    (folder.starts_with('/') && inside("", folder) == setting.place.folder);
  return here ? setting.place_of(kName)
              : (std::filesystem::path(setting.place_of(folder)) / kName).string();
}

namespace {

// Whether a variable is set, around a command or for it, and not to nothing or "0".
bool is_on(const ShellCommand& command, const CommandSetting& setting, const char* name) {
  return std::ranges::any_of(std::array{&setting.variables, &command.variables},
                             [&](const std::map<std::string, std::string>* variables) {
                               const auto found = variables->find(name);
                               return found != variables->end() && !found->second.empty() &&
                                      found->second != "0" && found->second != "false";
                             });
}

}  // namespace

bool is_by_conda(const ShellCommand& command) {
  return std::ranges::any_of(command.words, [](std::string_view word) {
    const std::string_view name = program_name(word);
    return name == "conda" || name == "mamba" || name == "micromamba";
  });
}

bool is_legacy(const ShellCommand& command, const CommandSetting& setting) {
  return is_on(command, setting, "PIP_USE_DEPRECATED") ||
         std::ranges::any_of(command.words, [](std::string_view word) {
           return word.starts_with("--use-deprecated") || word == "legacy-resolver";
         });
}

bool takes_lock_as_it_is(const ShellCommand& command, const CommandSetting& setting) {
  constexpr auto kOptions = std::to_array<std::string_view>(
      {"--frozen", "--locked", "--frozen-lockfile", "--no-lock", "--deploy"});
  return is_on(command, setting, "UV_FROZEN") || is_on(command, setting, "UV_LOCKED") ||
         std::ranges::any_of(command.words, [&](std::string_view word) {
           return std::ranges::find(kOptions, word) != kOptions.end();
         });
}

bool names_python(const ShellCommand& command, const CommandSetting& setting) {
  constexpr auto kVariables = std::to_array<const char*>(
      {"UV_PYTHON", "UV_PYTHON_PREFERENCE", "UV_MANAGED_PYTHON", "UV_PYTHON_INSTALL_DIR"});
  const std::vector<std::string>& words = command.words;
  const auto uv = std::ranges::find(words, "uv", program_name);
  const bool told =
      uv != words.end() && std::any_of(uv + 1, words.end(), [](std::string_view word) {
        return word == "python" || word == "-p" || word == "--managed-python" ||
               word.starts_with("--python");
      });
  return told || std::ranges::any_of(
                     kVariables, [&](const char* name) { return is_on(command, setting, name); });
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
