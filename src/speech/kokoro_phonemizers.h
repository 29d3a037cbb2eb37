// Phonemes for models that know Kokoro's alphabet, by language.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "speech/synthesizer.h"

namespace mynah {

// Environment, with what to do, where `folder` is "": the English lexicons are not here.
[[nodiscard]] Status check_english_lexicons(const std::string& folder);

// What English is read by, as the store has it.
struct EnglishPlaces {
  std::string phonemes;    // the folder of english-phonemes; "": not here
  std::string dictionary;  // the file of cmudict; "": not here, and the network reads names
  std::string cache;       // where tables are kept (packed_tables.h); "": nowhere
};

// English, American and British, by the lexicons of `places` (where they are not here, that is
// said); Spanish, French, Hindi, Italian, Portuguese and what else
// espeak-ng reads, by that program, Japanese by open_jtalk, where they are installed; Chinese and
// Korean are refused with the reason. A language's files are read when it is first asked for.
// `lexicon` is the path of the user's own words, which come before all others; "": none. `backend`
// runs the network that reads words no lexicon has, best on one thread, and must outlive what is
// returned.
[[nodiscard]] PhonemizerSource kokoro_phonemizers(const EnglishPlaces& places,
                                                  const std::string& lexicon, Backend& backend);

}  // namespace mynah
