#include "text/spoken/forgotten_space.h"

#include <algorithm>
#include <array>

#include "text/spoken/abbreviations.h"
#include "text/spoken/among.h"
#include "text/spoken/characters.h"
#include "text/spoken/text_around.h"
#include "text/spoken/tokens.h"

namespace mynah {
namespace {

// Whether a word of prose, in small letters and sayable, or a number of several digits ends at
// `end`. Before a question mark the word may begin with a capital: "Really?Yes", not "Node.Js".
bool is_prose_before(std::string_view text, size_t begin, size_t end, bool starter) {
  const bool full_stop = text[end] == '.';
  while (end > begin && std::string_view("\"')]").find(text[end - 1]) != std::string_view::npos) {
    --end;
  }
  size_t at = end;
  while (at > begin && end - at < kWordBytes && is_word_byte(text[at - 1])) {
    --at;
  }
  const std::string_view word = text.substr(at, end - at);
  const bool apart =
      at == begin || std::string_view(" \n\t\"'(-").find(text[at - 1]) != std::string_view::npos;
  // "It cost $5.It was", "It fell 3.5%.Then"
  const bool amount =
      at > begin && !word.empty() &&
      (text[at - 1] == '$' || text[at - 1] == '.' || (starter && text[at - 1] == '-')) &&
      std::ranges::all_of(word, is_ascii_digit);
  if (amount || (end > begin && text[end - 1] == '%')) {
    return true;
  }
  if (word.size() < 2 || !apart) {
    return false;
  }
  // "Yes.But why?": a capital where the sentence begins.
  if (at == begin && full_stop && starter && std::ranges::all_of(word.substr(1), is_ascii_lower)) {
    return true;
  }
  return std::ranges::all_of(word, is_ascii_digit) ||
         (std::ranges::all_of(full_stop ? word : word.substr(1), is_ascii_lower) &&
          std::ranges::any_of(word, is_vowel_letter));
}

}  // namespace

ForgottenSpace forgotten_space(std::string_view text, size_t begin, ByteRange stop, bool final) {
  constexpr auto kNoWords = std::to_array<std::string_view>(
      {"Com", "Net", "Org", "Js", "Txt", "Pdf", "Html", "Py", "Exe", "Md"});
  if (stop.end >= text.size() || !is_ascii_upper(text[stop.end])) {
    return ForgottenSpace::No;
  }
  const std::string_view word = word_at(text, stop.end);
  const bool starter = is_sentence_starter(ascii_lower(word));
  if (!is_prose_before(text, begin, stop.begin, starter)) {
    return ForgottenSpace::No;
  }
  const size_t behind = stop.end + word.size();
  if (behind + 1 >= text.size() && !final && word.size() < kWordBytes) {
    return ForgottenSpace::NeedsMore;
  }
  const bool plain = std::ranges::all_of(word.substr(1), is_ascii_lower) &&
                     (word.size() > 1 || word == "I" || word == "A");
  const char next = behind < text.size() ? text[behind] : ' ';
  const char second = behind + 1 < text.size() ? text[behind + 1] : ' ';
  const bool ends =
      is_ascii_space(next) || next == '\'' ||
      (std::string_view(".,;:!?").find(next) != std::string_view::npos && is_ascii_space(second)) ||
      (std::string_view(starter ? ".!?" : "!?").find(next) != std::string_view::npos &&
       is_ascii_upper(second));
  return plain && ends && !among(kNoWords, word) ? ForgottenSpace::Yes : ForgottenSpace::No;
}

}  // namespace mynah
