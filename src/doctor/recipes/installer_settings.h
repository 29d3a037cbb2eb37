// Files of settings of pip and uv, which may name indexes for all that they install.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "doctor/facts.h"
#include "doctor/recipes/shell_text.h"

namespace mynah::doctor {

// The name of such a file that a text of a command holds: "pip.conf". Empty: none.
[[nodiscard]] std::string_view settings_in(std::string_view text);

// The same of a command's words and of the files that it writes.
[[nodiscard]] std::string_view settings_in(const ShellCommand& command);

// Whether a text of an instruction may let pip change the system's own Python.
[[nodiscard]] bool frees_pip(std::string_view text);

// Whether pip reads a file of an image without being told where it is, or is told by
// PIP_CONFIG_FILE.
[[nodiscard]] bool is_pip_settings(std::string_view path,
                                   const std::map<std::string, std::string>& variables);

// Whether more than tools was installed already: settings do not hold for that.
[[nodiscard]] bool has_installed(const Recipe& part);

// Indexes that the text of a pip.conf names for installing. `line`: where all of it stands in
// `path`; 0: it is that file. None: it is not understood as a whole.
[[nodiscard]] std::optional<std::vector<IndexLine>> pip_settings(std::string_view text,
                                                                 const std::string& path,
                                                                 uint64_t line = 0);

// What "printf" or "echo" writes, where that is said plainly.
[[nodiscard]] std::optional<std::string> printed_text(const ShellCommand& command);

// Says that settings were not read: an index that nobody knows, and a doubt. `file`: where they
// lie, as far as it is known.
void add_unread_settings(Recipe& recipe, uint64_t line, std::string_view name,
                         const std::string& file = {});

// The same of what stands around requirements that nothing known takes in: variables of services of
// the same folder, whose commands may install them, and a devcontainer.json that speaks of indexes.
void doubt_settings_around(Facts& facts);

// The same of uv's settings beside a project, which it reads in the place of the project's tables.
void doubt_settings_beside(Recipe& recipe);

// Whether an index stands for settings that were not read, so that none is named.
[[nodiscard]] bool is_unread_settings(std::string_view url);

// Where the settings lie that such an index stands for; empty: it is none of those, or not known.
[[nodiscard]] std::string unread_settings(const IndexLine& index, const Recipe& recipe);

// Puts what a pip.conf says in the place of the index that stands for it.
void put_settings(Recipe& recipe, const IndexLine& unread, std::vector<IndexLine> indexes);

}  // namespace mynah::doctor
