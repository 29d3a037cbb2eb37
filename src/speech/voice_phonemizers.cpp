#include "speech/voice_phonemizers.h"

#include <memory>
#include <mutex>
#include <utility>

#include <fmt/format.h>

#include "speech/languages.h"
#include "text/phonemes/espeak/espeak_phonemizer.h"
#include "text/phonemes/own_words.h"
#include "text/phonemes/written_words.h"

namespace mynah {
namespace {

Status refuse_language(std::string_view voice, std::string_view speaks, std::string_view wanted) {
  return fail(ErrorCode::Unsupported,
              fmt::format("{} speaks {} and not '{}'; `mynah voices --lang {}` lists those that do",
                          voice, speaks, wanted, primary_language(wanted)));
}

PhonemizerSource english_only(std::string name, PhonemizerSource source) {
  return [name = std::move(name), source = std::move(source)](
             const std::string& language) -> Result<std::shared_ptr<const Phonemizer>> {
    if (!is_english(language)) {
      MYNAH_TRY_STATUS(refuse_language(name, "English", language));
    }
    return source(language);
  };
}

}  // namespace

bool reads_by_lexicons(const VoiceReading& reading) {
  return reading.by == ReadBy::EnglishLexicons || reading.by == ReadBy::EveryLanguage;
}

// One process of espeak-ng reads all texts: starting one takes as long as a second of speech.
PhonemizerSource own_phonemizers(std::string name, const VoiceReading& reading,
                                 const std::string& lexicon) {
  struct Kept {
    std::mutex mutex;
    std::shared_ptr<const Phonemizer> phonemizer;
  };

  return [name = std::move(name), reading, lexicon, kept = std::make_shared<Kept>()](
             const std::string& language) -> Result<std::shared_ptr<const Phonemizer>> {
    if (primary_language(language) != primary_language(reading.language)) {
      MYNAH_TRY_STATUS(refuse_language(name, reading.language, language));
    }
    const std::scoped_lock lock(kept->mutex);
    if (!kept->phonemizer && reading.by == ReadBy::Letters) {
      kept->phonemizer = std::make_shared<const WrittenWords>(Letters::AsWritten);
    } else if (!kept->phonemizer) {
      MYNAH_TRY(auto espeak, espeak_phonemizer({.voice = reading.espeak_voice,
                                                .alphabet = espeak::Alphabet::Espeak}));
      MYNAH_TRY(kept->phonemizer, own_words_first(lexicon, std::move(espeak)));
    }
    return kept->phonemizer;
  };
}

PhonemizerSource lexicon_phonemizers(std::string name, const VoiceReading& reading,
                                     const EnglishPlaces& places, const std::string& lexicon,
                                     Backend& backend) {
  PhonemizerSource source = kokoro_phonemizers(places, lexicon, backend);
  return reading.by == ReadBy::EnglishLexicons ? english_only(std::move(name), std::move(source))
                                               : source;
}

}  // namespace mynah
