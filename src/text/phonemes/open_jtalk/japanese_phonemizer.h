// A Phonemizer for Japanese by Debian's open_jtalk, in Kokoro's alphabet.
#pragma once

#include <memory>

#include "text/phonemes/open_jtalk/open_jtalk_process.h"
#include "text/phonemes/phonemizer.h"

namespace mynah {

// Words are morphemes; endings stand with what they end, particles alone, as in the text that
// Kokoro learned from. Numbers, dates and Latin words are read by open_jtalk. Any number of threads
// may use it. Errors as OpenJtalkProcess has them.
[[nodiscard]] Result<std::unique_ptr<Phonemizer>> japanese_phonemizer(
    const open_jtalk::ProgramOptions& options = {});

}  // namespace mynah
