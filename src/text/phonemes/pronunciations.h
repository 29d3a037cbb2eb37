// A lexicon's file: words and how they are said, some in several ways by their part of speech
// (misaki 0.9.4's us_gold.json and its like).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "text/phonemes/string_table.h"

namespace mynah {

// How one word is said.
class Pronunciation {
 public:
  explicit Pronunciation(std::string_view packed) : packed_(packed) {}

  // Whether the file has several readings by tag for it.
  [[nodiscard]] bool depends_on_tag() const;
  [[nodiscard]] bool has(std::string_view tag) const;
  // The reading of that tag, else the default one, else the only one. None: said to have none, as
  // a word that is a word in one part of speech only.
  [[nodiscard]] std::optional<std::string_view> reading(std::string_view tag) const;

 private:
  std::string_view packed_;
};

class Pronunciations {
 public:
  // {"word": "phonemes", "word": {"DEFAULT": "phonemes", "NOUN": "phonemes" or null, ...}, ...};
  // a word that is null is left out, and the last of two equal ones holds. `name` is for messages.
  // Returns the bytes of the table that a lexicon reads.
  static Result<std::string> pack(std::string_view json, std::string_view name);

  // Of what pack() made.
  explicit Pronunciations(StringTable words) : words_(std::move(words)) {}

  // The word exactly as it is written.
  [[nodiscard]] std::optional<Pronunciation> exactly(std::string_view word) const;

  // The word as it is written, or a word of small letters as its capitalised form, or a capitalised
  // one as its small form: misaki's grow_dictionary.
  [[nodiscard]] std::optional<Pronunciation> find(std::u32string_view word) const;

  [[nodiscard]] size_t size() const { return words_.size(); }

 private:
  StringTable words_;
};

}  // namespace mynah
