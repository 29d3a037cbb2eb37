#include "speech/foreign_words.h"

#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "text/scripts.h"
#include "text/unicode.h"
#include "text/utf8.h"

namespace mynah {
namespace {

// The letters of a word, by script.
struct Letters {
  std::map<const Script*, size_t> foreign;
  size_t foreign_count = 0;
  size_t latin = 0;
};

Letters letters_of(std::string_view word) {
  Letters letters;
  for (const char32_t character : to_code_points(word)) {
    if (const Script* const script = foreign_script(character)) {
      ++letters.foreign[script];
      ++letters.foreign_count;
    } else if (is_letter(character)) {
      ++letters.latin;
    }
  }
  return letters;
}

bool is_ascii(std::string_view text) {
  for (const char c : text) {
    if (static_cast<unsigned char>(c) >= 0x80) {
      return false;
    }
  }
  return true;
}

}  // namespace

const Phonemizer* ForeignWords::phonemizer_for(std::string_view language) {
  if (language.empty()) {
    return nullptr;
  }
  const auto known = known_.find(language);
  if (known != known_.end()) {
    return known->second.get();
  }
  const std::string name(language);
  const auto made = phonemizers_(name);
  lacks_program_ = lacks_program_ || (!made && made.error().code == ErrorCode::Environment);
  return (known_[name] = made ? *made : nullptr).get();
}

void ForeignWords::read(std::vector<PhonemeWord>& words, std::span<const GivenPhonemes> given,
                        bool counted) {
  auto next = given.begin();
  for (PhonemeWord& word : words) {
    while (next != given.end() && next->end <= word.begin) {
      ++next;
    }
    if (is_ascii(word.text) || (next != given.end() && next->begin < word.end)) {
      continue;
    }
    const Letters letters = letters_of(word.text);
    if (letters.foreign.empty()) {
      continue;
    }
    // A word of two scripts is read as one of the first.
    const Phonemizer* const phonemizer = phonemizer_for(letters.foreign.begin()->first->language);
    if (phonemizer != nullptr && letters.foreign_count >= letters.latin) {
      const auto read = phonemizer->phonemes(word.text);
      std::string phonemes = read ? joined(*read) : std::string();
      if (!phonemes.empty()) {
        word.phonemes = std::move(phonemes);
        continue;
      }
    }
    if (letters.latin == 0) {
      word.phonemes.clear();
    }
    for (const auto& [script, count] : letters.foreign) {
      left_out_[std::string(script->name)] += counted ? count : 0;
    }
  }
}

std::string ForeignWords::warning() const {
  std::vector<std::string> parts;
  for (const auto& [script, count] : left_out_) {
    if (count > 0) {
      parts.push_back(fmt::format("{}{} of {}", count,
                                  !parts.empty() ? ""
                                  : count == 1   ? " character"
                                                 : " characters",
                                  script));
    }
  }
  if (parts.empty()) {
    return {};
  }
  const bool one = parts.size() == 1 && parts.front().starts_with("1 ");
  return fmt::format(
      "{} {} left out: no voice of English reads {}; choose a voice of {} language{}",
      fmt::join(parts, " and "), one ? "was" : "were", one ? "it" : "them", one ? "its" : "their",
      lacks_program_ ? ", or install espeak-ng, which reads many" : "");
}

}  // namespace mynah
