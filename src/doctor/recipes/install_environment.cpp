#include "doctor/recipes/install_environment.h"

#include <algorithm>
#include <array>
#include <filesystem>

#include "doctor/recipes/installer_words.h"

namespace mynah::doctor {

namespace {

// Prefixes of an image's own Python, and of conda's first environment.
constexpr std::array<std::string_view, 9> kOwn = {
    "/",          "/usr",         "/usr/local",      "/opt/conda", "/opt/miniconda3",
    "/opt/mamba", "/root/.local", "/opt/miniforge3", "/opt/python"};

// "/opt/conda/envs/asr" is what conda calls "asr".
std::string normal_environment(const std::string& path) {
  constexpr std::string_view kEnvironments = "/envs/";
  if (const size_t at = path.find(kEnvironments); at != std::string::npos) {
    const std::string name = path.substr(at + kEnvironments.size());
    return "conda " + name.substr(0, name.find('/'));
  }
  return std::ranges::find(kOwn, path) != kOwn.end() ? std::string() : path;
}

std::string conda_environment(const std::string& name) {
  return name == "base" ? std::string() : "conda " + name;
}

bool is_python(std::string_view word) {
  return program_name(word).starts_with("python");
}

}  // namespace

std::string inside(const std::string& folder, std::string_view path) {
  std::string whole =
      (std::filesystem::path(folder.empty() ? "/" : folder) / path).lexically_normal().string();
  while (whole.size() > 1 && whole.ends_with('/')) {
    whole.pop_back();
  }
  return whole;
}

std::string environment_of_program(const std::string& folder, std::string_view path) {
  const std::filesystem::path whole = inside(folder, path);
  const std::string above = whole.parent_path().filename().string();
  const bool program = above == "bin" || above == "Scripts";
  return normal_environment(program ? whole.parent_path().parent_path().string() : whole.string());
}

std::string environment_of_pip(std::span<const std::string> words, size_t program,
                               const InstallPlace& place) {
  const bool uv = program_name(words[program]) == "uv" ||
                  (program > 0 && program_name(words[program - 1]) == "uv");
  std::string environment = uv && !place.uv.empty() ? place.uv : place.environment;
  // "/opt/venv/bin/pip", "/opt/venv/bin/python -m pip", "conda run -n asr pip"
  if (words[program].find('/') != std::string::npos && !uv) {
    environment = environment_of_program(place.folder, words[program]);
  } else if (program >= 2 && words[program - 1] == "-m" && is_python(words[program - 2]) &&
             words[program - 2].find('/') != std::string::npos) {
    environment = environment_of_program(place.folder, words[program - 2]);
  } else if (program >= 2 && words[1] == "run" &&
             (words[0].ends_with("conda") || words[0].ends_with("mamba"))) {
    environment = environment_of_conda(words.subspan(2, program - 2));
  }
  for (size_t i = program + 1; i < words.size(); ++i) {
    const std::string_view word = words[i];
    if (word == "--system") {
      return {};
    }
    const size_t equals = word.starts_with("--") ? word.find('=') : std::string_view::npos;
    const std::string_view name = word.substr(0, equals);
    const bool python = uv && (name == "--python" || name == "-p");
    if (!python && name != "--target" && name != "-t" && name != "--prefix" && name != "--root") {
      continue;
    }
    const std::string value = equals != std::string_view::npos
                                  ? std::string(word.substr(equals + 1))
                              : i + 1 < words.size() ? words[i + 1]
                                                     : std::string();
    // uv takes a version of Python, too.
    if (python && value.find('/') == std::string::npos) {
      continue;
    }
    return python ? environment_of_program(place.folder, value)
                  : normal_environment(inside(place.folder, value));
  }
  return environment;
}

std::string environment_of_conda(std::span<const std::string> words) {
  for (size_t i = 0; i + 1 < words.size(); ++i) {
    if (words[i] == "-n" || words[i] == "--name") {
      return conda_environment(words[i + 1]);
    }
    if (words[i] == "-p" || words[i] == "--prefix") {
      return normal_environment(words[i + 1]);
    }
  }
  return {};
}

std::string named_python(std::span<const std::string> words) {
  // "3.12" of "3.12.4" behind a program's name
  const auto version = [](std::string_view word, std::string_view name) -> std::string {
    if (!word.starts_with(name) || !word.substr(name.size()).starts_with("3.")) {
      return {};
    }
    word.remove_prefix(name.size());
    const size_t end = word.find_first_not_of("0123456789.");
    const size_t digits = std::min(word.find_first_not_of("0123456789", 2), word.size());
    return end == std::string_view::npos && digits > 2 ? std::string(word.substr(0, digits))
                                                       : std::string();
  };
  const bool takes_option = std::ranges::any_of(words, [](std::string_view word) {
    return program_name(word) == "uv" || program_name(word) == "virtualenv";
  });
  for (size_t i = 0; i < words.size(); ++i) {
    const std::string_view word = words[i];
    const std::string_view next = i + 1 < words.size() ? std::string_view(words[i + 1]) : "";
    std::string found = version(program_name(word), "pip");
    if (found.empty() && next == "-m") {
      found = version(program_name(word), "python");
    }
    if (const bool option = word == "-p" || word.starts_with("--python"); option && takes_option) {
      const std::string_view value = word.contains('=') ? word.substr(word.find('=') + 1) : next;
      found = version(program_name(value), "python");
      found = found.empty() ? version(value, "") : found;
    }
    if (!found.empty()) {
      return found;
    }
  }
  return {};
}

std::optional<std::string> activated(std::span<const std::string> words,
                                     const InstallPlace& place) {
  if (words.size() < 2) {
    return std::nullopt;
  }
  if ((words[0] == "." || words[0] == "source") && program_name(words[1]) == "activate") {
    return words.size() > 2 ? conda_environment(words[2])
                            : environment_of_program(place.folder, words[1]);
  }
  if (program_name(words[0]).ends_with("conda") && words[1] == "activate") {
    return words.size() > 2 ? conda_environment(words[2]) : std::string();
  }
  return std::nullopt;
}

std::optional<std::string> made(std::span<const std::string> words, const InstallPlace& place) {
  const auto last_path = [&](size_t from) -> std::optional<std::string> {
    for (size_t i = words.size(); i-- > from;) {
      if (!words[i].starts_with('-')) {
        return normal_environment(inside(place.folder, words[i]));
      }
    }
    return std::nullopt;
  };
  for (size_t i = 0; i + 1 < words.size(); ++i) {
    if (is_python(words[i]) && i + 2 < words.size() && words[i + 1] == "-m" &&
        (words[i + 2] == "venv" || words[i + 2] == "virtualenv")) {
      return last_path(i + 3);
    }
    if (program_name(words[i]) == "virtualenv") {
      return last_path(i + 1);
    }
    if (program_name(words[i]) == "uv" && (words[i + 1] == "sync" || words[i + 1] == "run")) {
      return inside(place.folder, ".venv");
    }
    if (program_name(words[i]) == "uv" && words[i + 1] == "venv") {
      for (size_t j = i + 2; j < words.size(); ++j) {
        if (words[j] == "--python" || words[j] == "-p" || words[j] == "--prompt") {
          ++j;
        } else if (!words[j].starts_with('-')) {
          return normal_environment(inside(place.folder, words[j]));
        }
      }
      return inside(place.folder, ".venv");
    }
  }
  return std::nullopt;
}

}  // namespace mynah::doctor
