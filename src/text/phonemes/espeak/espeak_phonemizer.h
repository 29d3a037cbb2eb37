// A Phonemizer by Debian's espeak-ng (1.51), for the languages that mynah cannot read itself and
// for Piper's voices, which were trained on its phonemes.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "text/phonemes/espeak/alphabets.h"
#include "text/phonemes/phonemizer.h"

namespace mynah {

struct EspeakOptions {
  std::string voice;  // what espeak-ng calls the language: "en-us", "es", "pt-br"
  espeak::Alphabet alphabet = espeak::Alphabet::Espeak;
  std::string program = "espeak-ng";
  std::chrono::milliseconds patience{5000};  // for one clause
};

// Its phonemes have Piper's or Kokoro's alphabet, as the options say. Any number of threads may use
// it; one process answers them one after the other. Errors as espeak::EspeakProcess has them, when
// it is made and when it is used.
[[nodiscard]] Result<std::unique_ptr<Phonemizer>> espeak_phonemizer(const EspeakOptions& options);

}  // namespace mynah
