// TextReader: a sentence as it is written to the phonemes that a voice says.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "speech/foreign_words.h"
#include "text/phonemes/phonemizer.h"
#include "text/spoken/spoken_text.h"

namespace mynah {

struct ReadingOptions {
  bool normalize = true;  // false: numbers, signs and short forms are left to the phonemizer
  EmojiReading emoji = EmojiReading::Names;
};

class TextReader {
 public:
  // `language` is a BCP 47 tag.
  TextReader(std::shared_ptr<const Phonemizer> phonemizer, const std::string& language,
             const ReadingOptions& options);

  // The words of a sentence; their places are bytes of it as it is written, and several may have
  // the same ("$5" is two). `marks` say how parts of it are to be read. Words of other scripts in
  // English go to `foreign`, which counts what is left out where the text is read for the first
  // time.
  [[nodiscard]] Result<std::vector<PhonemeWord>> read(std::string_view sentence,
                                                      std::span<const TextMark> marks,
                                                      ForeignWords& foreign,
                                                      bool first_time = true) const;

 private:
  std::shared_ptr<const Phonemizer> phonemizer_;
  bool english_ = false;
  SpokenOptions spoken_;
};

}  // namespace mynah
