// Voices that have come are measured, so that no text waits for it.
#pragma once

#include <string_view>

#include "cli/command/verb.h"

namespace mynah::cli {

// Whether a model of this family, once it is here, gives voices or lets them be measured.
[[nodiscard]] bool brings_voices(std::string_view family);

// Measures how loud the voices of all models here are that were not measured yet, and keeps it.
// What cannot be measured now is measured where it first speaks, and is no error here.
void measure_voices(Context& context);

}  // namespace mynah::cli
