#include "text/phonemes/sentence_reader.h"

#include <algorithm>
#include <array>
#include <ranges>
#include <tuple>
#include <vector>

#include "text/phonemes/letters.h"
#include "text/phonemes/stress.h"
#include "text/unicode.h"
#include "text/utf8.h"

namespace mynah {
namespace {

// Parts that are looked up as one word, at most: "jack-in-the-box" has seven.
constexpr size_t kMostTogether = 16;

constexpr std::u32string_view kSilentMarks = U"',-._‘’/";

// What espeak says for a sign that stands alone, in Kokoro's alphabet.
struct SignName {
  char32_t sign = U'\0';
  std::u32string_view phonemes;
};

constexpr std::array<SignName, 14> kSignNames = {{{U'/', U"slˈæʃ"},
                                                  {U'=', U"ˈikwᵊlz"},
                                                  {U'+', U"plˈʌs"},
                                                  {U'&', U"ænd"},
                                                  {U'@', U"æt"},
                                                  {U'%', U"pəɹsˈɛnt"},
                                                  {U'#', U"hˈæʃ"},
                                                  {U'*', U"ˈæstəɹˌɪsk"},
                                                  {U'~', U"tˈɪldə"},
                                                  {U'^', U"kˈɛɹət"},
                                                  {U'<', U"lˈɛs ðən"},
                                                  {U'>', U"ɡɹˈATəɹ ðən"},
                                                  {U'—', U"—"},
                                                  {U'|', U""}}};

bool is_silent(std::u32string_view text) {
  return std::ranges::all_of(
      text, [](char32_t c) { return kSilentMarks.find(c) != std::u32string_view::npos; });
}

std::u32string text_of(std::span<const WordPart> parts) {
  std::u32string text;
  for (const WordPart& part : parts) {
    text += part.text;
  }
  return text;
}

// The tag of the part that weighs most: a capital counts twice.
std::string_view tag_of(std::span<const WordPart> parts) {
  const auto size = [](const WordPart& part) {
    size_t sum = 0;
    for (const char32_t c : part.text) {
      sum += has_no_capitals(std::u32string_view(&c, 1)) ? 1 : 2;
    }
    return sum;
  };
  return std::ranges::max_element(parts, {}, size)->tag;
}

char32_t currency_of(std::span<const WordPart> parts) {
  return std::ranges::max(parts | std::views::transform(&WordPart::currency));
}

// Whether letters, digits and signs are mixed, so that each part is said as a word.
bool is_mixed(std::u32string_view text) {
  bool letters = false;
  bool digits = false;
  bool others = false;
  for (const char32_t c : text) {
    if (kSilentMarks.find(c) == std::u32string_view::npos) {
      (is_alphabetic(c) ? letters : is_ascii_digit(c) ? digits : others) = true;
    }
  }
  return static_cast<int>(letters) + static_cast<int>(digits) + static_cast<int>(others) > 1;
}

bool has_primary(const WordPart& part) {
  return part.phonemes->find(kPrimaryStress) != std::u32string::npos;
}

void weaken(WordPart& part) {
  part.phonemes = with_stress(*part.phonemes, Stress::Weak);
}

// Of the parts of one word not all keep their primary stress: a single letter's neighbour loses it,
// else the lighter half of them.
void settle_stress(std::span<WordPart> parts) {
  std::vector<WordPart*> said;
  for (WordPart& part : parts) {
    if (!part.phonemes->empty()) {
      said.push_back(&part);
    }
  }
  if (said.size() == 2 && said[0]->text.size() == 1) {
    weaken(*said[1]);
    return;
  }
  const auto stressed =
      std::ranges::count_if(said, [](const WordPart* part) { return has_primary(*part); });
  if (said.size() < 2 || static_cast<size_t>(stressed) <= (said.size() + 1) / 2) {
    return;
  }
  std::ranges::sort(said, {}, [](const WordPart* part) {
    return std::tuple(has_primary(*part), weight(*part->phonemes), part->begin);
  });
  for (WordPart* part : said | std::views::take(said.size() / 2)) {
    weaken(*part);
  }
}

}  // namespace

void SentenceReader::read(WordParts& words) {
  for (const PartGroup& group : words.groups | std::views::reverse) {
    const std::span<WordPart> parts = std::span(words.parts).subspan(group.first, group.count);
    if (group.count == 1) {
      read_one(parts[0]);
    } else {
      read_group(parts);
    }
  }
}

void SentenceReader::read_one(WordPart& part) {
  if (!part.phonemes) {
    part.phonemes = lexicon_(
        {.text = part.text, .tag = part.tag, .currency = part.currency, .begins_word = true},
        context_);
  }
  if (!part.phonemes) {
    part.phonemes = unknown(part.text);
  }
  look_back(*part.phonemes, part.text, part.tag);
}

void SentenceReader::read_group(std::span<WordPart> parts) {
  size_t right = parts.size();
  size_t left = 0;
  while (left < right) {
    left = std::max(left, right - std::min(right, kMostTogether));
    if (read_together(parts.subspan(left, right - left), left == 0)) {
      right = left;
      left = 0;
    } else if (left + 1 < right) {
      ++left;
    } else {
      --right;
      if (!is_silent(parts[right].text)) {
        for (WordPart& part : parts) {
          part.phonemes = U"";
          part.gap_before = false;
        }
        parts[0].phonemes = unknown(text_of(parts));
        return;
      }
      parts[right].phonemes = U"";
      left = 0;
    }
  }
  const std::u32string text = text_of(parts);
  const bool apart = text.find(U'/') != std::u32string::npos || is_mixed(text);
  for (WordPart& part : parts.subspan(1)) {
    part.gap_before = apart;
  }
  if (!apart) {
    settle_stress(parts);
  }
}

bool SentenceReader::read_together(std::span<WordPart> parts, bool begins_word) {
  const std::u32string text = text_of(parts);
  const std::string_view tag = tag_of(parts);
  auto phonemes = lexicon_(
      {.text = text, .tag = tag, .currency = currency_of(parts), .begins_word = begins_word},
      context_);
  if (!phonemes) {
    return false;
  }
  look_back(*phonemes, text, tag);
  for (WordPart& part : parts) {
    part.phonemes = U"";
  }
  parts[0].phonemes = std::move(phonemes);
  return true;
}

void SentenceReader::look_back(std::u32string_view phonemes, std::u32string_view text,
                               std::string_view tag) {
  const auto heard = std::ranges::find_if(phonemes, [](char32_t c) {
    return is_vowel_phoneme(c) || is_consonant_phoneme(c) || is_pause(c);
  });
  if (heard != phonemes.end()) {
    context_.vowel_follows =
        is_pause(*heard) ? std::nullopt : std::optional(is_vowel_phoneme(*heard));
  }
  context_.to_follows =
      text == U"to" || text == U"To" || (text == U"TO" && (tag == "TO" || tag == "IN"));
}

std::u32string SentenceReader::unknown(std::u32string_view text) const {
  std::u32string phonemes;
  const auto say = [&phonemes](const std::u32string& piece) {
    if (!piece.empty()) {
      phonemes += phonemes.empty() ? U"" : U" ";
      phonemes += piece;
    }
  };
  const auto run = [text](size_t from, auto is) {
    const auto end = std::ranges::find_if_not(text.substr(from), is);
    return static_cast<size_t>(end - text.begin());
  };
  // A run of letters or digits goes on behind an apostrophe, a comma or a dot that joins it to
  // another such run.
  const auto joined_runs = [&](size_t from, auto is, std::u32string_view joints) {
    size_t end = run(from, is);
    while (end + 1 < text.size() && joints.find(text[end]) != std::u32string_view::npos &&
           is(text[end + 1])) {
      end = run(end + 1, is);
    }
    return end;
  };
  for (size_t at = 0; at < text.size();) {
    const char32_t c = text[at];
    size_t end = at + 1;
    if (is_any_digit(c)) {
      end = joined_runs(at, is_any_digit, U",.");
      say(lexicon_.number(text.substr(at, end - at), U'\0', false).value_or(U""));
    } else if (is_word_letter(c)) {
      end = joined_runs(at, is_word_letter, U"'’");
      if (is_alphabetic(c)) {
        say(unknown_letters(text.substr(at, end - at)));
      }
    } else if (!is_word_character(c) && !is_python_space(c)) {
      end = run(at, [](char32_t d) { return !is_word_character(d) && !is_python_space(d); });
      std::u32string names;
      for (const char32_t sign : text.substr(at, end - at)) {
        const auto name = std::ranges::find(kSignNames, sign, &SignName::sign);
        names += name == kSignNames.end() ? U"" : name->phonemes;
      }
      say(names);
    }
    at = end;
  }
  return phonemes;
}

std::u32string SentenceReader::unknown_letters(std::u32string_view letters) const {
  if (unknown_ != nullptr) {
    return to_code_points(unknown_->pronounce(
        to_utf8(lexicon_.has_names() ? without_marks(letters) : std::u32string(letters))));
  }
  // Without their accents, so that more of them have names.
  return lexicon_.spelled_out(nfkd(letters)).value_or(U"");
}

std::u32string said_together(std::span<const WordPart> parts) {
  std::u32string phonemes;
  for (const WordPart& part : parts) {
    if (part.gap_before && !phonemes.empty() && phonemes.back() != U' ' &&
        !part.phonemes->empty()) {
      phonemes += U' ';
    }
    phonemes += *part.phonemes;
  }
  std::ranges::replace(phonemes, U'ɾ', U'T');
  std::ranges::replace(phonemes, U'ʔ', U't');
  return phonemes;
}

}  // namespace mynah
