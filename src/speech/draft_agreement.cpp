#include "speech/draft_agreement.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <string_view>
#include <utility>

#include "base/ascii.h"
#include "text/utf8.h"

namespace mynah {
namespace {

// A word's least likely token, and how many words stand behind it. Measured with tiny.en on the 96
// English clips (bench/live.py, 2,147 words): of words as likely as kLikely one in 25 is wrong, as
// in the text of the file; of less likely ones, which a turn's end would have mended, one in four.
struct Certainty {
  float log_probability = 0;
  size_t words_behind = 0;
};

constexpr Certainty certainty_of(Hurry hurry) {
  constexpr float kAny = -std::numeric_limits<float>::infinity();
  return hurry == Hurry::No     ? Certainty{-0.4F, 3}
         : hurry == Hurry::Some ? Certainty{-0.5F, 2}
                                : Certainty{kAny, 1};
}

// What a word is compared by: "Fellow," is "fellow". Beyond ASCII every byte counts.
std::string key_of(std::string_view text) {
  std::string key;
  for (const char c : text) {
    if (static_cast<unsigned char>(c) >= 0x80 || is_ascii_letter(c) || is_ascii_digit(c)) {
      key += ascii_lower(c);
    }
  }
  return key;
}

// Whether a token begins a word: behind a space, or with a character of those scripts that write
// none (from U+0800 on, three bytes of UTF-8 and more).
bool begins_word(std::string_view token) {
  return token.starts_with(' ') || (!token.empty() && static_cast<unsigned char>(token[0]) >= 0xE0);
}

}  // namespace

std::vector<DraftAgreement::Word> DraftAgreement::words_of(
    const std::vector<Segment>& draft) const {
  std::vector<Word> words;
  std::string text;  // of the last word
  for (size_t s = 0; s < draft.size(); ++s) {
    for (size_t i = 0; i < draft[s].tokens.size(); ++i) {
      const std::string token = token_text_(draft[s].tokens[i]);
      // A dash alone is no word, and half a character none.
      const bool whole =
          words.empty() || (!words.back().key.empty() && incomplete_utf8_tail(text) == 0);
      if (words.empty() || (whole && begins_word(token))) {
        words.emplace_back();
        text.clear();
      }
      text += token;
      Word& word = words.back();
      if (std::string key = key_of(text); key != word.key) {
        word.key = std::move(key);
        word.log_probability = std::min(word.log_probability, draft[s].token_log_probabilities[i]);
      }
      word.segment = s;
      word.end = i + 1;
    }
  }
  if (!words.empty() && (words.back().key.empty() || incomplete_utf8_tail(text) > 0)) {
    words.pop_back();
  }
  return words;
}

size_t DraftAgreement::count(const std::vector<Word>& words, size_t same, Hurry hurry) const {
  const auto is_certain = [&](size_t word, const Certainty& least) {
    return word < same && word + least.words_behind < words.size() &&
           words[word].log_probability >= least.log_probability;
  };
  size_t agreed = words_;
  while (is_certain(agreed, certainty_of(Hurry::No))) {
    ++agreed;
  }
  // In a hurry the next word, and no more.
  return agreed == words_ && is_certain(agreed, certainty_of(hurry)) ? agreed + 1 : agreed;
}

bool DraftAgreement::add(const std::vector<Segment>& draft, Hurry hurry) {
  const std::vector<Word> words = words_of(draft);
  size_t same = words_;
  while (same < words.size() && same < before_.size() && words[same].key == before_[same]) {
    ++same;
  }
  before_.clear();
  std::ranges::transform(words, std::back_inserter(before_), &Word::key);
  const size_t agreed = count(words, same, hurry);
  const bool more = agreed > words_;
  if (more) {
    words_ = agreed;
    const Word& last = words[agreed - 1];
    agreed_.assign(draft.begin(), draft.begin() + static_cast<std::ptrdiff_t>(last.segment) + 1);
    Segment& end = agreed_.back();
    end.tokens.resize(last.end);
    end.token_log_probabilities.resize(last.end);
    end.closing.reset();
    end.text = text_of_tokens(end.tokens);
  }
  rest_ = text_behind(draft);
  return more;
}

std::string DraftAgreement::text_of_tokens(std::span<const int32_t> tokens) const {
  std::string text;
  for (const int32_t token : tokens) {
    text += token_text_(token);
  }
  return text;
}

std::string DraftAgreement::text_behind(const std::vector<Segment>& draft) const {
  std::string text;
  for (size_t s = agreed_.empty() ? 0 : agreed_.size() - 1; s < draft.size(); ++s) {
    if (draft[s].tokens.empty()) {
      text += draft[s].text;
      continue;
    }
    const bool cut = !agreed_.empty() && s == agreed_.size() - 1;
    const size_t agreed = cut ? agreed_.back().tokens.size() : 0;
    const std::span<const int32_t> tokens = draft[s].tokens;
    text += text_of_tokens(tokens.subspan(std::min(agreed, tokens.size())));
  }
  return text;
}

void DraftAgreement::reset() {
  before_.clear();
  words_ = 0;
  agreed_.clear();
  rest_.clear();
}

}  // namespace mynah
