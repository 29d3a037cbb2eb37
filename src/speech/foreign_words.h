// ForeignWords: words of other scripts inside English text.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "speech/synthesizer.h"
#include "text/phonemes/phonemizer.h"

namespace mynah {

class ForeignWords {
 public:
  // `phonemizers` are asked for the languages of the scripts that come up.
  explicit ForeignWords(PhonemizerSource phonemizers) : phonemizers_(std::move(phonemizers)) {}

  // Gives the words that are written in another script than Latin the phonemes of a language that
  // is written so, where there is a phonemizer for it, but for those that have phonemes `given`.
  // Else they are silent, and what stands in them is counted where `counted`: a text may be read
  // twice. Places of words and given phonemes are bytes of the same text.
  void read(std::vector<PhonemeWord>& words, std::span<const GivenPhonemes> given, bool counted);

  // What was left out so far and what can be done about it; "" where nothing was.
  [[nodiscard]] std::string warning() const;

 private:
  // Null where there is none.
  const Phonemizer* phonemizer_for(std::string_view language);

  PhonemizerSource phonemizers_;
  std::map<std::string, std::shared_ptr<const Phonemizer>, std::less<>> known_;
  std::map<std::string, size_t, std::less<>> left_out_;  // characters, by script
  bool lacks_program_ = false;
};

}  // namespace mynah
