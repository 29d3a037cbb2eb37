// Fills a verb's options from the configuration file, the environment and the command line.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/command/config_file.h"
#include "cli/command/fields.h"
#include "cli/command/verb.h"

namespace mynah::cli {

// Sets each field that the command line names: later flags win, lists add up. An unknown flag is
// refused with the nearest one's name. A value, and an argument without an option, are taken as
// they are written. Accepts --max_line_width for --max-line-width, and True or False behind a
// switch, as openai/whisper's own command has them.
Status parse_flags(Fields& fields, const std::vector<std::string>& arguments);

// Sets each field that the environment names as MYNAH_NAME.
Status parse_environment(Fields& fields, const Environment& environment);

// A line about each variable MYNAH_NAME that no option has: a slip, or a flag that is given anew
// for each run. No error, as it may be meant for a newer mynah.
[[nodiscard]] std::vector<std::string> unknown_variables(const Environment& environment,
                                                         std::span<const Verb> verbs);

// Sets each field that the file names, at its top or in the verb's table.
Status parse_file(Fields& fields, const ConfigFile& config, const std::string& verb);

}  // namespace mynah::cli
