// Short forms of other languages than English: what is said for them, and what their stop says
// about the sentence. One table for the sentence splitter and for the words that are spoken.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace mynah {

enum class ShortFormKind : uint8_t {
  On,       // "z. B.", "Dr.": more of the sentence follows
  End,      // "usw.": it ends one where a capital follows
  Starter,  // "v. Chr.": it ends one where a word follows that begins sentences
  Name,     // "M. Dupont", "г. Москва": a short form only before a capital
  Number,   // "Abs. 2", "Bd. IV": a short form only before a number
  Day,      // "Mo.–Fr.", "Sa. 10 Uhr": a day of the week, only beside a date, a time or a dash
};

struct ShortForm {
  size_t end = 0;  // one past its last byte
  std::string said;
  ShortFormKind kind = ShortFormKind::On;
  bool cut = false;  // the text ends within it
};

// The longest short form of the language (BCP 47) that begins at `at`, where a word begins, as far
// as the text goes. What follows it is not looked at.
[[nodiscard]] std::optional<ShortForm> short_form_at(std::string_view language,
                                                     std::string_view text, size_t at);

// Whether what stands before `begin` and behind the form is what its kind asks for.
[[nodiscard]] bool has_its_neighbours(const ShortForm& form, std::string_view text, size_t begin);

}  // namespace mynah
