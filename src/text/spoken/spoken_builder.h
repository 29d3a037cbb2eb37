// Puts readings together to spoken text: spaces where they belong, a piece for each source.
#pragma once

#include <cstddef>
#include <string_view>

#include "text/spoken/spoken_text.h"

namespace mynah {

class SpokenBuilder {
 public:
  // White space of the source.
  void add_space() { space_ = true; }

  // A reading: words, a mark, or nothing. Letters behind kLetterName become pieces of their own.
  void add(std::string_view words, size_t source_begin, size_t source_end);

  // Words that are said as `phonemes`.
  void add_phonemes(std::string_view words, std::string_view phonemes, size_t source_begin,
                    size_t source_end);

  [[nodiscard]] SpokenText take() { return std::move(spoken_); }

 private:
  void separate(char32_t first);
  void add_piece(std::string_view words, bool letters, size_t source_begin, size_t source_end);

  SpokenText spoken_;
  bool space_ = false;  // white space since the last piece
  bool glue_ = false;   // what follows touches: behind an opening bracket or a hyphen
};

}  // namespace mynah
