#include "text/phonemes/name_lexicon.h"

#include "base/check.h"
#include "base/embedded_file.h"
#include "base/tsv_lines.h"
#include "text/phonemes/arpabet.h"
#include "text/phonemes/letters.h"
#include "text/utf8.h"

MYNAH_EMBEDDED_FILE(phoneme_names, MYNAH_PHONEME_DATA "/names.tsv")

namespace mynah {

NameLexicon::NameLexicon(PronouncingTable table, bool british)
    : table_(std::move(table)), british_(british) {
  for_each_tsv_line<3>(phoneme_names(), [&](const auto& fields) {
    const auto& [word, american, other] = fields;
    auto phones = packed_arpabet(british && !other.empty() ? other : american);
    MYNAH_CHECK(phones && list_.add(word) == readings_.size(),
                "names.tsv has a line that is no word and its phones, or a word twice");
    readings_.push_back(std::move(*phones));
  });
}

std::optional<std::u32string> NameLexicon::listed(std::u32string_view word) const {
  const std::u32string small = lower(word);
  constexpr size_t kShortestInCapitals = 4;  // NGO is no Ngo
  const bool in_capitals = word.size() >= kShortestInCapitals && has_no_small_letters(word);
  for (const std::u32string& form :
       {std::u32string(word), small, in_capitals ? capitalized(small) : std::u32string()}) {
    if (const auto number = list_.find(to_utf8(form)); number && !form.empty()) {
      return arpabet_in_kokoro(readings_[*number], to_utf8(small), british_);
    }
  }
  return std::nullopt;
}

std::optional<std::u32string> NameLexicon::find(std::u32string_view word) const {
  const std::string small = to_utf8(lower(word));
  const auto phones = table_.find(small);
  return phones ? std::optional(arpabet_in_kokoro(*phones, small, british_)) : std::nullopt;
}

}  // namespace mynah
