// Which Python environment of an image a command installs into.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace mynah::doctor {

// What was set and made before a command runs.
struct InstallPlace {
  std::string folder;       // that it runs in: "/app"; empty: not known
  std::string environment;  // that a plain "pip" installs into; empty: the image's own
  std::string uv;           // that uv found or made in its folder; empty: none
};

// A path inside an image as it is from its root, without "." and "..".
[[nodiscard]] std::string inside(const std::string& folder, std::string_view path);

// The environment that a path is in or names: "/opt/venv" of "/opt/venv/bin/pip". Empty: the
// image's own, as of "/usr/bin/python3".
[[nodiscard]] std::string environment_of_program(const std::string& folder, std::string_view path);

// The environment that words of pip or uv install into; `program` is where the installer stands in
// them.
[[nodiscard]] std::string environment_of_pip(std::span<const std::string> words, size_t program,
                                             const InstallPlace& place);

// The same of conda's words behind its verb: "conda asr" of "-n asr"; empty: the image's own.
[[nodiscard]] std::string environment_of_conda(std::span<const std::string> words);

// The Python that a command names to install for or to make an environment with: "3.12" of
// "python3.12 -m pip", "pip3.12" and "uv venv --python 3.12". Empty: it names none.
[[nodiscard]] std::string named_python(std::span<const std::string> words);

// An environment that a command goes into for what follows it: ". venv/bin/activate".
[[nodiscard]] std::optional<std::string> activated(std::span<const std::string> words,
                                                   const InstallPlace& place);

// An environment that a command makes: "python -m venv /opt/venv", "uv venv".
[[nodiscard]] std::optional<std::string> made(std::span<const std::string> words,
                                              const InstallPlace& place);

}  // namespace mynah::doctor
