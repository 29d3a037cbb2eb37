// What the words of an installer's command say of how it installs.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "doctor/recipes/install_commands.h"
#include "doctor/recipes/shell_text.h"

namespace mynah::doctor {

// "pip" of "/opt/venv/bin/pip".
[[nodiscard]] std::string_view program_name(std::string_view word);

// Whether pip's words at `program` are those of "uv pip".
[[nodiscard]] bool is_by_uv(std::span<const std::string> words, size_t program);

// The folder of a project that a word of pip's names: "." of ".[gpu]", "/app". Empty: it names
// something else, such as a wheel.
[[nodiscard]] std::string_view project_folder(std::string_view word);

// Where the pyproject.toml of such a folder lies beside the recipe.
[[nodiscard]] std::string project_file(std::string_view folder, const CommandSetting& setting);

// Whether a program of conda's is in a command: "conda env create -f environment.yml".
[[nodiscard]] bool is_by_conda(const ShellCommand& command);

// Whether a command tells pip to resolve as it did before 20.3: --use-deprecated=legacy-resolver.
[[nodiscard]] bool is_legacy(const ShellCommand& command, const CommandSetting& setting);

// Whether uv is told to take the lock of a project as it is, and not to make one.
[[nodiscard]] bool takes_lock_as_it_is(const ShellCommand& command, const CommandSetting& setting);

// Whether a command, or what is set around it, tells uv which Python to take or to bring one.
[[nodiscard]] bool names_python(const ShellCommand& command, const CommandSetting& setting);

// Whether what is compiled sees what is installed, and not an environment of its own.
[[nodiscard]] bool is_joined(const ShellCommand& command, const CommandSetting& setting);

// Whether a command of pip or uv, which stands at `program`, may be kept out of the Python that it
// finds, as the system's own programs run with it: it goes into no environment and no folder of its
// own, and is not told to go ahead.
[[nodiscard]] bool may_be_kept_out(const ShellCommand& command, size_t program,
                                   const CommandSetting& setting);

}  // namespace mynah::doctor
