// The CMU Pronouncing Dictionary as a table that is mapped and not read: it costs nothing at start,
// and a word that no other lexicon has a few pages.
//
// The file, little-endian: "MYNAHPT1"; u32 words; u32 bytes of text; for each word, sorted by its
// letters, u32 where it begins in the text, u8 bytes of the word, u8 of its phones, u16 0; the
// text: each word and behind it its phones (arpabet.h).
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/mapped_file.h"
#include "base/result.h"

namespace mynah {

// The table of a cmudict.dict: a word and its phones on each line, "#" begins a comment. Of a
// word's several readings ("word(2)") the first is kept. `name` is for messages. InvalidInput where
// a line is none of that.
Result<std::string> pack_pronouncing_dictionary(std::string_view text, std::string_view name);

class PronouncingTable {
 public:
  // One of no words.
  PronouncingTable() = default;

  // InvalidInput where the bytes are no such table; what its words are is looked at when they are
  // asked for.
  static Result<PronouncingTable> open(std::shared_ptr<const MappedFile> file);

  // The phones of a word in small letters (arpabet.h). They live as long as the table.
  [[nodiscard]] std::optional<std::string_view> find(std::string_view word) const;

  [[nodiscard]] size_t size() const { return words_; }

 private:
  struct Entry {
    std::string_view word;
    std::string_view phones;
  };

  // Empty where the entry points outside of the text.
  [[nodiscard]] Entry entry(size_t number) const;

  std::shared_ptr<const MappedFile> file_;
  std::string_view entries_;
  std::string_view text_;
  size_t words_ = 0;
};

}  // namespace mynah
