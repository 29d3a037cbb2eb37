// Words as they are written, for voices that read text themselves.
#pragma once

#include "text/phonemes/phonemizer.h"

namespace mynah {

enum class Letters : uint8_t {
  Ascii,     // accents are left out, and characters that ASCII has nothing for
  AsWritten  // any, for a voice that was taught a language's own letters
};

// What stands between white space. Given phonemes are not for them.
class WrittenWords final : public Phonemizer {
 public:
  explicit WrittenWords(Letters letters = Letters::Ascii) : letters_(letters) {}

  [[nodiscard]] Result<std::vector<PhonemeWord>> phonemes(
      std::string_view text, std::span<const GivenPhonemes> given) const override;

 private:
  Letters letters_;
};

}  // namespace mynah
