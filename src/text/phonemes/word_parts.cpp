#include "text/phonemes/word_parts.h"

#include <algorithm>
#include <array>

#include "text/phonemes/letters.h"
#include "text/phonemes/subwords.h"

namespace mynah {
namespace {

constexpr std::u32string_view kSpokenMarks = U";:,.!?—…\"“”";
constexpr std::array<std::string_view, 10> kMarkTags = {".",    ",",  "-LRB-", "-RRB-", "``",
                                                        "\"\"", "''", ":",     "$",     "#"};

bool is_mark_tag(std::string_view tag) {
  return tag == "NFP" || std::ranges::find(kMarkTags, tag) != kMarkTags.end();
}

bool is_currency(std::u32string_view text) {
  return text == U"$" || text == U"£" || text == U"€";
}

bool is_plain_word(std::u32string_view text) {
  return std::ranges::all_of(text, [](char32_t c) { return c < 0x80 && is_alphabetic(c); });
}

// What is heard of a mark.
std::u32string sound_of_mark(std::u32string_view text, std::string_view tag) {
  if (tag == "-LRB-") {
    return U"(";
  }
  if (tag == "-RRB-") {
    return U")";
  }
  if (tag == "``") {
    return U"“";
  }
  if (tag == "\"\"" || tag == "''") {
    return U"”";
  }
  std::u32string sound(text);
  std::erase_if(sound, [](char32_t c) { return kSpokenMarks.find(c) == kSpokenMarks.npos; });
  return sound;
}

class Splitter {
 public:
  explicit Splitter(std::span<const TaggedToken> tokens) : tokens_(tokens) {}

  WordParts split() {
    for (size_t i = 0; i < tokens_.size(); ++i) {
      if (tokens_[i].given) {
        add_given(tokens_[i]);
      } else {
        add_token(i);
      }
    }
    return std::move(result_);
  }

 private:
  static WordPart part_of(const TaggedToken& token, size_t at, size_t length) {
    WordPart part;
    part.text = token.text.substr(at, length);
    part.begin = token.at + at;
    part.end = part.begin + length;
    part.tag = token.tag;
    return part;
  }

  void add_given(const TaggedToken& token) {
    WordPart part = part_of(token, 0, token.text.size());
    part.space_after = token.space_after;
    part.phonemes = token.given;
    add(std::move(part));
  }

  void add_token(size_t index) {
    const TaggedToken& token = tokens_[index];
    const std::vector<Subword> subwords = mynah::subwords(token.text);
    for (size_t i = 0; i < subwords.size(); ++i) {
      WordPart part = part_of(token, subwords[i].at, subwords[i].length);
      const bool last = i + 1 == subwords.size();
      part.space_after = last && token.space_after;
      if (part.tag == "$" && is_currency(part.text)) {
        currency_ = part.text[0];
        part.phonemes = U"";
      } else if (part.tag == ":" && (part.text == U"-" || part.text == U"–")) {
        part.phonemes = U"—";
      } else if (is_mark_tag(part.tag) && !is_plain_word(part.text)) {
        part.phonemes = sound_of_mark(part.text, part.tag);
      } else if (currency_ != U'\0') {
        if (part.tag != "CD") {
          currency_ = U'\0';
        } else if (last && (index + 1 == tokens_.size() || tokens_[index + 1].tag != "CD")) {
          part.currency = currency_;
        }
      } else if (i > 0 && !last && stands_for_to(token.text, subwords, i)) {
        part.text = U"to";
        add_alone(std::move(part));
        continue;
      }
      add(std::move(part));
    }
  }

  // The 2 of "B2B".
  static bool stands_for_to(std::u32string_view word, const std::vector<Subword>& subwords,
                            size_t i) {
    const Subword& before = subwords[i - 1];
    return word.substr(subwords[i].at, subwords[i].length) == U"2" &&
           is_alphabetic(word[before.at + before.length - 1]) &&
           is_alphabetic(word[subwords[i + 1].at]);
  }

  void add(WordPart part) {
    if (part.phonemes) {
      add_alone(std::move(part));
      return;
    }
    if (joins_ && !result_.parts.back().space_after) {
      ++result_.groups.back().count;
    } else {
      result_.groups.push_back({.first = result_.parts.size(), .count = 1});
    }
    joins_ = true;
    result_.parts.push_back(std::move(part));
  }

  void add_alone(WordPart part) {
    result_.groups.push_back({.first = result_.parts.size(), .count = 1});
    result_.parts.push_back(std::move(part));
    joins_ = false;
  }

  std::span<const TaggedToken> tokens_;
  WordParts result_;
  char32_t currency_ = U'\0';
  bool joins_ = false;  // whether the next part may stand with the last one
};

}  // namespace

WordParts split_into_parts(std::span<const TaggedToken> tokens) {
  return Splitter(tokens).split();
}

}  // namespace mynah
