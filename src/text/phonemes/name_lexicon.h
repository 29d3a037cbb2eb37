// Words that neither of misaki's lexicons has, names most of all: our own list of those that other
// dictionaries lack or have wrong (data/names.tsv, in the program), then the CMU Pronouncing
// Dictionary (pronouncing_table.h), where it is there.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "text/phonemes/pronouncing_table.h"
#include "text/phonemes/string_index.h"

namespace mynah {

class NameLexicon {
 public:
  // `table` may be empty.
  NameLexicon(PronouncingTable table, bool british);

  // Of our own list, which comes before every other lexicon: "Beth", "BETH", but not "beth"; of
  // less than four letters as they are written in the list.
  [[nodiscard]] std::optional<std::u32string> listed(std::u32string_view word) const;

  // Of the dictionary, whatever the word's case.
  [[nodiscard]] std::optional<std::u32string> find(std::u32string_view word) const;

 private:
  PronouncingTable table_;
  bool british_;
  StringIndex list_;                   // as written: a capital where it is wanted
  std::vector<std::string> readings_;  // of each, arpabet.h
};

}  // namespace mynah
