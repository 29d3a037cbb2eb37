#include "text/phonemes/espeak/alphabets.h"

#include <array>
#include <span>
#include <utility>

#include "text/utf8.h"

namespace mynah::espeak {

namespace {

using Replacement = std::pair<std::string_view, std::string_view>;

// misaki espeak.py, EspeakG2P: of every language but English, in this order.
constexpr std::array<Replacement, 11> kOthers = {{{"a^ɪ", "I"},
                                                  {"a^ʊ", "W"},
                                                  {"d^z", "ʣ"},
                                                  {"d^ʒ", "ʤ"},
                                                  {"e^ɪ", "A"},
                                                  {"o^ʊ", "O"},
                                                  {"s^s", "S"},
                                                  {"t^s", "ʦ"},
                                                  {"t^ʃ", "ʧ"},
                                                  {"ɔ^ɪ", "Y"},
                                                  {"ə^ʊ", "Q"}}};

// EspeakFallback: of English, the longest first.
constexpr std::array<Replacement, 20> kEnglish = {
    {{"ʔˌn\u0329", "ʔn"}, {"ʔn\u0329", "ʔn"}, {"a^ɪ", "I"}, {"a^ʊ", "W"},  {"d^ʒ", "ʤ"},
     {"e^ɪ", "A"},        {"t^ʃ", "ʧ"},       {"ɔ^ɪ", "Y"}, {"ə^l", "ᵊl"}, {"ʲo", "jo"},
     {"ʲə", "jə"},        {"e", "A"},         {"ʲ", ""},    {"ɚ", "əɹ"},   {"r", "ɹ"},
     {"x", "k"},          {"ç", "k"},         {"ɐ", "ə"},   {"ɬ", "l"},    {"\u0303", ""}}};

constexpr std::array<Replacement, 3> kBritish = {{{"e^ə", "ɛː"}, {"iə", "ɪə"}, {"ə^ʊ", "Q"}}};
constexpr std::array<Replacement, 5> kAmerican = {
    {{"o^ʊ", "O"}, {"ɜːɹ", "ɜɹ"}, {"ɜː", "ɜɹ"}, {"ɪə", "iə"}, {"ː", ""}}};
// espeak-ng before 1.52 has an o of its own; the flap and the glottal stop are Kokoro's T and t.
constexpr std::array<Replacement, 3> kEnglishLast = {{{"o", "ɔ"}, {"ɾ", "T"}, {"ʔ", "t"}}};

// What people write in IPA that espeak-ng does not.
constexpr std::array<Replacement, 5> kWritten = {
    {{"\u0361", ""}, {"\u035C", ""}, {".", ""}, {"'", "ˈ"}, {"g", "ɡ"}}};

// kOthers without ties, which people rarely write.
constexpr std::array<Replacement, 10> kToKokoro = {{{"aɪ", "I"},
                                                    {"aʊ", "W"},
                                                    {"dz", "ʣ"},
                                                    {"dʒ", "ʤ"},
                                                    {"eɪ", "A"},
                                                    {"oʊ", "O"},
                                                    {"ts", "ʦ"},
                                                    {"tʃ", "ʧ"},
                                                    {"ɔɪ", "Y"},
                                                    {"əʊ", "Q"}}};

// The other way round. American lexicons write no length, and espeak-ng writes it here.
constexpr std::array<Replacement, 14> kFromKokoro = {{{"A", "eɪ"},
                                                      {"I", "aɪ"},
                                                      {"W", "aʊ"},
                                                      {"Y", "ɔɪ"},
                                                      {"O", "oʊ"},
                                                      {"Q", "əʊ"},
                                                      {"S", "ss"},
                                                      {"T", "ɾ"},
                                                      {"ᵊ", "ə"},
                                                      {"ʤ", "dʒ"},
                                                      {"ʧ", "tʃ"},
                                                      {"ʣ", "dz"},
                                                      {"ʦ", "ts"},
                                                      {"ɜɹ", "ɜː"}}};

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
}

void replace_all(std::string& text, std::span<const Replacement> replacements) {
  for (const auto& [from, to] : replacements) {
    replace_all(text, from, to);
  }
}

// A syllabic consonant has a schwa before it.
void spell_syllabic(std::string& text) {
  std::u32string result;
  for (const char32_t c : to_code_points(text)) {
    if (c != U'\u0329') {
      result += c;
    } else if (!result.empty() && result.back() != U' ') {
      result.insert(result.end() - 1, U'ᵊ');
    }
  }
  text = to_utf8(result);
}

// "(en)" and "(fr)" around words of another language.
void drop_flags(std::string& text) {
  for (size_t begin = text.find('('); begin != std::string::npos; begin = text.find('(', begin)) {
    const size_t end = text.find(')', begin);
    text.erase(begin, end == std::string::npos ? end : end + 1 - begin);
  }
}

}  // namespace

std::string to_alphabet(std::string_view ipa, Alphabet alphabet, std::string_view voice) {
  std::string text(ipa);
  drop_flags(text);
  if (alphabet == Alphabet::Kokoro && (voice == "en" || voice.starts_with("en-"))) {
    replace_all(text, kEnglish);
    spell_syllabic(text);
    if (voice.starts_with("en-us")) {
      replace_all(text, kAmerican);
    } else {
      replace_all(text, kBritish);
    }
    replace_all(text, kEnglishLast);
  } else if (alphabet == Alphabet::Kokoro) {
    replace_all(text, kOthers);
    replace_all(text, "-", "");
  }
  replace_all(text, "^", "");
  // "more" has an o of its own in 1.51; since 1.52, and where Piper's voices were trained, it has
  // that of "law".
  if (alphabet == Alphabet::Espeak && voice.starts_with("en-us")) {
    replace_all(text, "oː", "ɔː");
  }
  return text;
}

std::string from_given(std::string_view phonemes, Alphabet alphabet) {
  std::string text(phonemes);
  replace_all(text, kWritten);
  replace_all(text, alphabet == Alphabet::Espeak ? std::span<const Replacement>(kFromKokoro)
                                                 : std::span<const Replacement>(kToKokoro));
  return text;
}

std::string mark_phonemes(char32_t mark, Alphabet alphabet) {
  std::string text;
  if (alphabet == Alphabet::Kokoro) {
    if (mark != U'¿' && mark != U'¡') {
      append_utf8(text, mark);
    }
    return text;
  }
  switch (mark) {
    case U'.':
    case U'!':
    case U'?':
    case U',':
    case U':':
    case U';':
      append_utf8(text, mark);
      return text;
    case U'—':
      return ";";
    case U'…':
      return ",";
    default:
      return "";
  }
}

}  // namespace mynah::espeak
