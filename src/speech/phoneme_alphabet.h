// PhonemeAlphabet: the characters that a voice has a sound for, and so what words cost of a clause.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace mynah {

// A value: what a text costs is known wherever the model is, and while it is nowhere.
class PhonemeAlphabet {
 public:
  // Of these characters alone, each of which costs one; all others are passed over.
  explicit PhonemeAlphabet(std::u32string characters);

  // Of a voice that reads letters: any text, which costs its bytes.
  [[nodiscard]] static PhonemeAlphabet any();

  // What a text costs.
  [[nodiscard]] size_t count(std::string_view phonemes) const;

  // In order; none of any().
  [[nodiscard]] const std::u32string& characters() const { return characters_; }

 private:
  bool any_ = false;
  std::u32string characters_;
};

}  // namespace mynah
