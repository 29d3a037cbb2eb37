#include "speech/kokoro_phonemizers.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <mutex>
#include <utility>

#include <fmt/format.h>

#include "models/unknown_words/learned_words.h"
#include "speech/languages.h"
#include "speech/packed_tables.h"
#include "text/phonemes/espeak/espeak_phonemizer.h"
#include "text/phonemes/open_jtalk/japanese_phonemizer.h"
#include "text/phonemes/own_words.h"
#include "text/phonemes/user_lexicon.h"

namespace mynah {
namespace {

// The phonemizers that were asked for so far.
class EnglishPhonemizers {
 public:
  EnglishPhonemizers(EnglishPlaces places, std::string lexicon, Backend& backend)
      : places_(std::move(places)), lexicon_(std::move(lexicon)), backend_(backend) {}

  Result<std::shared_ptr<const Phonemizer>> of(bool british) {
    const std::scoped_lock lock(mutex_);
    std::shared_ptr<const Phonemizer>& known = known_[british ? 1 : 0];
    if (!known) {
      const std::string network = places_.phonemes + (british ? "/oov_gb" : "/oov");
      std::shared_ptr<const UnknownWords> unknown;
      // Without it unknown words are spelled.
      std::error_code error;
      if (std::filesystem::is_regular_file(network + ".onnx", error)) {
        MYNAH_TRY(unknown, unknown_words::load_learned_words(network + ".onnx", network + ".json",
                                                             backend_));
      }
      EnglishOptions options;
      options.tables = packed_tables(places_.cache);
      if (!lexicon_.empty()) {
        MYNAH_TRY(UserLexicon words,
                  UserLexicon::read(
                      lexicon_, british ? LexiconPhonemes::British : LexiconPhonemes::American));
        options.own_words = std::make_shared<const UserLexicon>(std::move(words));
      }
      EnglishFiles files = english_files_in(places_.phonemes, british);
      files.dictionary = places_.dictionary;
      MYNAH_TRY(known, english_phonemizer(files, british, unknown, options));
    }
    return known;
  }

 private:
  EnglishPlaces places_;
  std::string lexicon_;
  Backend& backend_;
  std::mutex mutex_;
  std::array<std::shared_ptr<const Phonemizer>, 2> known_;
};

// Phonemizers of other languages: Japanese by open_jtalk, the rest by espeak-ng.
class ForeignPhonemizers {
 public:
  explicit ForeignPhonemizers(std::string lexicon) : lexicon_(std::move(lexicon)) {}

  Result<std::shared_ptr<const Phonemizer>> of(const std::string& language) {
    const std::string primary = primary_language(language);
    if (std::ranges::find(kUnread, primary) != kUnread.end()) {
      return fail(
          ErrorCode::Unsupported,
          fmt::format("text in '{}' needs a dictionary that mynah does not have yet; wanted "
                      "another language, or --phonemes with a text that is phonemes already",
                      language));
    }
    const std::scoped_lock lock(mutex_);
    std::shared_ptr<const Phonemizer>& known = known_[language];
    if (!known && primary == "ja") {
      MYNAH_TRY(known, japanese_phonemizer());
      MYNAH_TRY(known, own_words_first(lexicon_, std::move(known)));
    } else if (!known) {
      MYNAH_TRY(known, espeak_phonemizer({.voice = canonical_language(language),
                                          .alphabet = espeak::Alphabet::Kokoro}));
      MYNAH_TRY(known, own_words_first(lexicon_, std::move(known)));
    }
    return known;
  }

 private:
  // Kokoro was taught them with phonemes that espeak-ng does not write.
  static constexpr std::array<std::string_view, 4> kUnread = {"zh", "cmn", "yue", "ko"};

  std::string lexicon_;
  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<const Phonemizer>> known_;
};

}  // namespace

Status check_english_lexicons(const std::string& folder) {
  return folder.empty() ? fail(ErrorCode::Environment,
                               "the English lexicons are not here: `mynah pull english-phonemes` "
                               "brings them")
                        : Status{};
}

PhonemizerSource kokoro_phonemizers(const EnglishPlaces& places, const std::string& lexicon,
                                    Backend& backend) {
  return [folder = places.phonemes,
          english = std::make_shared<EnglishPhonemizers>(places, lexicon, backend),
          others = std::make_shared<ForeignPhonemizers>(lexicon)](
             const std::string& language) -> Result<std::shared_ptr<const Phonemizer>> {
    if (!is_english(language)) {
      return others->of(language);
    }
    MYNAH_TRY_STATUS(check_english_lexicons(folder));
    return english->of(is_british(language));
  };
}

}  // namespace mynah
