// TextReader: a sentence as it is written to the phonemes that a voice says.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "text/phonemes/phonemizer.h"
#include "text/spoken/spoken_text.h"

namespace mynah {

class TextReader {
 public:
  // `language` is a BCP 47 tag. Without `normalize` numbers, signs and short forms are left to the
  // phonemizer.
  TextReader(std::shared_ptr<const Phonemizer> phonemizer, const std::string& language,
             bool normalize);

  // The words of a sentence; their places are bytes of it as it is written, and several may have
  // the same ("$5" is two). `marks` say how parts of it are to be read.
  [[nodiscard]] Result<std::vector<PhonemeWord>> read(std::string_view sentence,
                                                      std::span<const TextMark> marks = {}) const;

 private:
  std::shared_ptr<const Phonemizer> phonemizer_;
  bool english_ = false;
  SpokenOptions spoken_;
};

}  // namespace mynah
