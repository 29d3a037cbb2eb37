// Texts made from the table of verbs and their fields.
#pragma once

#include <span>
#include <string>

#include "cli/command/fields.h"
#include "cli/command/verb.h"

namespace mynah::cli {

// `mynah --help`: every verb in a line.
[[nodiscard]] std::string program_help(std::span<const Verb> verbs);

// `mynah VERB --help`: the options in their sections, with defaults; lines of at most `columns`.
[[nodiscard]] std::string verb_help(const Verb& verb, const Command& command, const Fields& fields,
                                    int columns);

// "--max-line-width N", "-o, --output-dir D", "--[no-]vad".
[[nodiscard]] std::string flag_text(const Field& field);

}  // namespace mynah::cli
