// What a folder has besides recordings, for the user.
#pragma once

#include <span>
#include <string>

#include "audio/inputs.h"
#include "cli/command/verb.h"

namespace mynah::cli {

// "talks: passed over as no recordings by their names: 3 .pdf, 1 .txt, 1 without an extension".
[[nodiscard]] std::string told_passed_over(const PassedOver& passed_over);

// A line on stderr for each, unless quiet; with --json an object on standard output besides:
// {"file": "talks", "passed_over": {"count": 5, "extensions": {".pdf": 3, ...}, "linked_folders":
// 0}}.
void tell_passed_over(Context& context, std::span<const PassedOver> passed_over, bool quiet);

}  // namespace mynah::cli
