#include "text/phonemes/alphabet.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "formats/byte_reader.h"
#include "text/utf8.h"

namespace mynah {
namespace {

struct Spelling {
  std::u32string_view ipa;
  std::u32string_view kokoro;
};

// The longest come first. Diphthongs and affricates are one character each (misaki 0.9.4, en.py,
// and its list for espeak); the two accents differ in the vowel of "go" (O and Q).
constexpr std::array<Spelling, 37> kSpellings = {{
    {U"a\u0361ɪ", U"I"}, {U"a\u0361ʊ", U"W"}, {U"d\u0361ʒ", U"ʤ"}, {U"e\u0361ɪ", U"A"},
    {U"o\u0361ʊ", U"O"}, {U"t\u0361ʃ", U"ʧ"}, {U"ɔ\u0361ɪ", U"Y"}, {U"ə\u0361ʊ", U"Q"},
    {U"ɜːɹ", U"ɜɹ"},     {U"aɪ", U"I"},       {U"aʊ", U"W"},       {U"dʒ", U"ʤ"},
    {U"eɪ", U"A"},       {U"oʊ", U"O"},       {U"tʃ", U"ʧ"},       {U"ɔɪ", U"Y"},
    {U"əʊ", U"Q"},       {U"n\u0329", U"ᵊn"}, {U"l\u0329", U"ᵊl"}, {U"m\u0329", U"ᵊm"},
    {U"ɚ", U"əɹ"},       {U"ɝ", U"ɜɹ"},       {U"r", U"ɹ"},        {U"g", U"ɡ"},
    {U"e", U"ɛ"},        {U"o", U"ɔ"},        {U"ɫ", U"l"},        {U"ʍ", U"w"},
    {U"ɘ", U"ə"},        {U"ɨ", U"ɪ"},        {U"ɬ", U"l"},        {U"'", U"ˈ"},
    {U"ʔ", U"t"},        {U"ɾ", U"T"},        {U"\u0361", U""},    {U"\u02D1", U""},
    {U"\u203F", U""},
}};

// What Kokoro reads of English as it is: phonemes, stress, marks and spaces.
constexpr std::u32string_view kAsItIs =
    U"AIOQWYTSabdfhijklmnpstuvwxyzæçðŋɐɑɒɔəɛɜɡɪɯɲɹʃʊʌʒʤʧθᵊᵻβɸɣχøœɥʁʎ"
    U"ˈˌ ;:,.!?—…\"“”()";

}  // namespace

Result<std::string> to_kokoro_phonemes(std::string_view text, bool british) {
  const std::u32string characters = to_code_points(text);
  std::u32string result;
  std::u32string_view rest = characters;
  while (!rest.empty()) {
    const auto spelling = std::ranges::find_if(
        kSpellings, [&](const Spelling& entry) { return rest.starts_with(entry.ipa); });
    const char32_t c = rest.front();
    if (spelling != kSpellings.end()) {
      result += spelling->kokoro;
      rest.remove_prefix(spelling->ipa.size());
      continue;
    }
    if (c == U'ː') {
      result += british ? U"ː" : U"";
    } else if (c == U'.' && rest.size() > 1 && !result.empty()) {
      // between syllables
    } else if (kAsItIs.find(c) != std::u32string_view::npos) {
      result += c;
    } else {
      return fail(
          ErrorCode::InvalidInput,
          fmt::format("wanted phonemes of Kokoro's alphabet or of IPA, found {} (U+{:04X})",
                      in_quotes(to_utf8(std::u32string_view(&c, 1))), static_cast<uint32_t>(c)));
    }
    rest.remove_prefix(1);
  }
  return to_utf8(result);
}

}  // namespace mynah
