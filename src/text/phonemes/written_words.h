// Words as they are written, for voices that read text themselves.
#pragma once

#include "text/phonemes/phonemizer.h"

namespace mynah {

// What stands between white space, in ASCII: accents are left out, and characters that ASCII has
// nothing for. Given phonemes are not for them.
class WrittenWords final : public Phonemizer {
 public:
  [[nodiscard]] Result<std::vector<PhonemeWord>> phonemes(
      std::string_view text, std::span<const GivenPhonemes> given) const override;
};

}  // namespace mynah
