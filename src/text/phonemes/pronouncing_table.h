// The CMU Pronouncing Dictionary as a table (string_table.h) that is mapped and not read: words and
// their phones (arpabet.h).
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/mapped_file.h"
#include "base/result.h"
#include "text/phonemes/string_table.h"

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
  static Result<PronouncingTable> open(const std::shared_ptr<const MappedFile>& file);

  // The phones of a word in small letters (arpabet.h). They live as long as the table.
  [[nodiscard]] std::optional<std::string_view> find(std::string_view word) const;

  [[nodiscard]] size_t size() const { return words_.size(); }

 private:
  StringTable words_;
};

}  // namespace mynah
