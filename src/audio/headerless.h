// Files whose names say that they hold samples without a header.
#pragma once

#include <string>

#include "audio/input_file.h"
#include "base/result.h"

namespace mynah {

// Refuses a file that is, by its extension and its first bytes, nothing but samples (telephony's
// .ul, .al, .vox, and .pcm, .raw ...): their rate and encoding cannot be known, and a guess would
// be heard as noise. The error says which options tell them. Whatever begins as a known container
// does, and what cannot be sought in, is let through.
Status refuse_headerless(const InputFile& input);

// The letters and digits behind the last dot of a name, as they are; empty where it has none.
[[nodiscard]] std::string file_extension(const std::string& name);

}  // namespace mynah
