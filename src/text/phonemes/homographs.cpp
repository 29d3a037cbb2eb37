#include "text/phonemes/homographs.h"

#include <algorithm>
#include <string>
#include <vector>

#include "base/embedded_file.h"
#include "base/tsv_lines.h"
#include "text/phonemes/letters.h"
#include "text/utf8.h"

MYNAH_EMBEDDED_FILE(phoneme_homographs, MYNAH_PHONEME_DATA "/homographs.tsv")

namespace mynah {
namespace {

constexpr size_t kNear = 7;
constexpr std::u32string_view kMark = U"|";

bool is_word(const TaggedToken& token) {
  return std::ranges::any_of(token.text, is_word_letter);
}

bool ends_sentence(const TaggedToken& token) {
  return token.text == U"." || token.text == U"!" || token.text == U"?";
}

// Whether `accepts` holds for one of the words of a list between spaces.
template <class Accepts>
bool any_of_list(std::u32string_view list, Accepts accepts) {
  while (!list.empty()) {
    const size_t end = std::min(list.find(U' '), list.size());
    if (accepts(list.substr(0, end))) {
      return true;
    }
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return false;
}

class Place {
 public:
  Place(std::span<const TaggedToken> tokens, size_t at) : tokens_(tokens), at_(at) {}

  // No letter or hyphen touches the word.
  [[nodiscard]] bool stands_alone() const {
    const auto is_joint = [](const TaggedToken& token) {
      return is_word(token) || token.text == U"-" || token.text == U"/" ||
             is_apostrophe(token.text[0]);
    };
    const bool before = at_ > 0 && !tokens_[at_ - 1].space_after && is_joint(tokens_[at_ - 1]);
    const bool after =
        at_ + 1 < tokens_.size() && !tokens_[at_].space_after && is_joint(tokens_[at_ + 1]);
    return !before && !after;
  }

  [[nodiscard]] bool fits(const HomographRule& rule) const {
    return (tokens_[at_].text == rule.word || has_no_capitals(rule.word)) &&
           tokens_[at_].tag.starts_with(rule.tag) &&
           (rule.before.empty() ||
            any_of_list(rule.before, [this](auto words) { return is_before(words); })) &&
           (rule.after.empty() ||
            any_of_list(rule.after, [this](auto word) { return is_at(word, 1); })) &&
           (rule.near.empty() ||
            any_of_list(rule.near, [this](auto word) { return is_near(word); }));
  }

 private:
  // The token that many places behind the word, or null.
  [[nodiscard]] const TaggedToken* token(std::ptrdiff_t offset) const {
    const std::ptrdiff_t place = static_cast<std::ptrdiff_t>(at_) + offset;
    return place < 0 || place >= std::ssize(tokens_) ? nullptr
                                                     : &tokens_[static_cast<size_t>(place)];
  }

  [[nodiscard]] bool is_at(std::u32string_view word, std::ptrdiff_t offset) const {
    const TaggedToken* const found = token(offset);
    if (word == kMark) {
      return found == nullptr || !is_word(*found);
    }
    return found != nullptr && lower(found->text) == word;
  }

  // Words with "_" between them, the last one directly before.
  [[nodiscard]] bool is_before(std::u32string_view words) const {
    std::ptrdiff_t offset = -1;
    for (;;) {
      const size_t joint = words.rfind(U'_');
      const size_t begin = joint == std::u32string_view::npos ? 0 : joint + 1;
      if (!is_at(words.substr(begin), offset)) {
        return false;
      }
      if (begin == 0) {
        return true;
      }
      words = words.substr(0, joint);
      --offset;
    }
  }

  [[nodiscard]] bool is_near(std::u32string_view word) const {
    const bool begins = word.ends_with(U'*');
    const std::u32string own = lower(tokens_[at_].text);
    const std::u32string_view stem = word.substr(0, word.size() - (begins ? 1 : 0));
    for (const std::ptrdiff_t direction : {-1, 1}) {
      size_t words = 0;
      for (std::ptrdiff_t offset = direction; words < kNear; offset += direction) {
        const TaggedToken* const found = token(offset);
        if (found == nullptr || ends_sentence(*found)) {
          break;
        }
        const std::u32string text = lower(found->text);
        // What stands behind the same word again tells how that one is read: "The bass player
        // caught a bass".
        if (text == own) {
          break;
        }
        if (begins ? text.starts_with(stem) : text == stem) {
          return true;
        }
        words += is_word(*found) ? 1 : 0;
      }
    }
    return false;
  }

  std::span<const TaggedToken> tokens_;
  size_t at_;
};

}  // namespace

std::span<const HomographRule> homograph_rules() {
  static const std::vector<HomographRule> rules = [] {
    std::vector<HomographRule> read;
    for_each_tsv_line<7>(phoneme_homographs(), [&read](const auto& fields) {
      read.push_back({.word = to_code_points(fields[0]),
                      .small = lower(to_code_points(fields[0])),
                      .american = to_code_points(fields[1]),
                      .british = to_code_points(fields[2]),
                      .tag = std::string(fields[3]),
                      .before = to_code_points(fields[4]),
                      .after = to_code_points(fields[5]),
                      .near = to_code_points(fields[6])});
    });
    std::ranges::stable_sort(read, {}, &HomographRule::small);
    return read;
  }();
  return rules;
}

bool is_homograph_by_tag(std::u32string_view word) {
  return std::ranges::any_of(
      std::ranges::equal_range(homograph_rules(), std::u32string(word), {}, &HomographRule::small),
      [](const HomographRule& rule) { return !rule.tag.empty(); });
}

std::optional<std::u32string_view> homograph_reading(std::span<const TaggedToken> tokens, size_t at,
                                                     bool british) {
  constexpr size_t kLongest = 16;
  if (tokens[at].text.size() > kLongest) {
    return std::nullopt;
  }
  const std::u32string word = lower(tokens[at].text);
  const Place place(tokens, at);
  for (const HomographRule& rule :
       std::ranges::equal_range(homograph_rules(), word, {}, &HomographRule::small)) {
    if (place.stands_alone() && place.fits(rule)) {
      return british ? rule.british : rule.american;
    }
  }
  return std::nullopt;
}

}  // namespace mynah
