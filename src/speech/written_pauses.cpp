#include "speech/written_pauses.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>

#include "base/ascii.h"
#include "text/spoken/speak_parts.h"
#include "text/unicode.h"
#include "text/utf8.h"

namespace mynah {
namespace {

constexpr std::u32string_view kOpening = U"([{（［｛";
constexpr std::u32string_view kClosing = U")]}）］｝";
// Behind which a sentence or a clause begins anew.
constexpr std::u32string_view kStops = U".!?…,;:—–\"“”";
// What is a pause already.
constexpr std::u32string_view kPauses = U".!?…,;:—";
constexpr std::string_view kComma = ",";

bool is_of(std::u32string_view set, char32_t character) {
  return set.find(character) != std::u32string_view::npos;
}

char32_t first_of(std::string_view text) {
  return text.empty() ? U'\0' : next_code_point(text).code_point;
}

char32_t last_of(std::string_view text) {
  const std::u32string characters = to_code_points(text);
  return characters.empty() ? U'\0' : characters.back();
}

// Words and the pauses between them.
class Pauses {
 public:
  explicit Pauses(std::vector<PhonemeWord>& words) : words_(words) {}

  // Brackets that are words of their own, and those that stand at a word of letters.
  void at_brackets() {
    for (size_t i = 0; i < words_.size(); ++i) {
      PhonemeWord& word = words_[i];
      const std::string& sign = word.phonemes.empty() ? word.text : word.phonemes;
      const bool alone = to_code_points(sign).size() == 1;
      if (alone && (is_of(kOpening, first_of(sign)) || is_of(kClosing, first_of(sign)))) {
        // "f(x)", "word(s)": the bracket before decides on the one behind.
        const bool opens = is_of(kOpening, first_of(sign));
        if (opens) {
          within_ = i > 0 && !words_[i - 1].space_after && is_letter(last_of(words_[i - 1].text));
        }
        word.phonemes.clear();
        if (!within_) {
          pause_as(i);
        }
        within_ = within_ && opens;
        continue;
      }
      at_letters(i);
    }
  }

  // Behind the last word that ends at a byte of the text or before it.
  void behind(size_t byte) {
    std::optional<size_t> last;
    for (size_t i = 0; i < words_.size() && words_[i].end <= byte; ++i) {
      last = words_[i].phonemes.empty() ? last : i;
    }
    if (last && pauses_between(*last)) {
      PhonemeWord& word = words_[*last];
      words_.insert(words_.begin() + static_cast<std::ptrdiff_t>(*last) + 1,
                    {.text = "",
                     .phonemes = std::string(kComma),
                     .space_after = true,
                     .begin = word.begin,
                     .end = word.end});
      words_[*last].space_after = false;
    }
  }

 private:
  // Whether words stand on both sides and no mark between.
  [[nodiscard]] bool pauses_between(size_t i) const {
    const auto next =
        std::find_if(words_.begin() + static_cast<std::ptrdiff_t>(i) + 1, words_.end(),
                     [](const PhonemeWord& word) { return !word.phonemes.empty(); });
    return next != words_.end() && !is_of(kPauses, first_of(next->phonemes)) &&
           !is_of(kPauses, last_of(words_[i].phonemes));
  }

  // Makes of an empty word a comma at the one before it.
  void pause_as(size_t i) {
    size_t before = i;
    while (before > 0 && words_[before - 1].phonemes.empty()) {
      --before;
    }
    if (before == 0 || !pauses_between(before - 1)) {
      return;
    }
    words_[before - 1].space_after = false;
    words_[i].phonemes = kComma;
    words_[i].space_after = true;
  }

  // "(slowly" and "always)," of voices that read letters.
  void at_letters(size_t i) {
    std::string& letters = words_[i].phonemes;
    if (letters.size() < 2 || letters != words_[i].text) {
      return;
    }
    if (is_of(kOpening, static_cast<unsigned char>(letters.front()))) {
      letters.erase(0, 1);
      if (i > 0 && pauses_between(i - 1)) {
        words_[i - 1].phonemes += kComma;
      }
    }
    const size_t last = letters.find_last_not_of(".!?,;:");
    if (last == std::string::npos || last == 0 ||
        !is_of(kClosing, static_cast<unsigned char>(letters[last])) ||
        letters.find_first_of("([{") != std::string::npos) {
      return;
    }
    letters.erase(last, 1);
    if (last == letters.size() && pauses_between(i)) {
      letters += kComma;
    }
  }

  std::vector<PhonemeWord>& words_;
  bool within_ = false;  // a bracket has opened within a word
};

// What stands between two asterisks and is an action, not a word that is stressed: a clause begins
// with it, or it is small and what follows begins anew.
std::vector<ByteRange> actions_in(std::string_view sentence) {
  std::vector<ByteRange> actions;
  for (size_t at = sentence.find('*'); at != std::string_view::npos;) {
    const size_t end = sentence.find('*', at + 1);
    if (end == std::string_view::npos) {
      break;
    }
    const std::string_view inside = sentence.substr(at + 1, end - at - 1);
    std::string_view before = sentence.substr(0, at);
    std::string_view behind = sentence.substr(end + 1);
    const bool apart = (before.empty() || is_ascii_space(before.back())) &&
                       (behind.empty() || !is_letter(first_of(behind)));
    while (!before.empty() && is_ascii_space(before.back())) {
      before.remove_suffix(1);
    }
    while (!behind.empty() && is_ascii_space(behind.front())) {
      behind.remove_prefix(1);
    }
    const auto is_small = [](char32_t c) {
      return is_letter(c) && to_lower(std::u32string(1, c)) == std::u32string(1, c);
    };
    const bool words = !inside.empty() && is_letter(first_of(inside)) &&
                       !is_ascii_space(inside.back()) && inside.find('*') == std::string_view::npos;
    const bool begins = before.empty() || is_of(kStops, last_of(before));
    const bool ends = behind.empty() || is_of(kStops, first_of(behind));
    const bool anew = !ends && !is_small(first_of(behind));
    const bool small = is_small(first_of(inside));
    if (apart && words && ((begins && (small || ends || anew)) || (small && anew))) {
      actions.push_back({.begin = at, .end = end + 1});
      at = sentence.find('*', end + 1);
    } else {
      at = end;
    }
  }
  return actions;
}

}  // namespace

void add_pauses(std::string_view sentence, std::vector<PhonemeWord>& words) {
  Pauses pauses(words);
  if (sentence.find('*') != std::string_view::npos) {
    for (const ByteRange& action : actions_in(sentence)) {
      pauses.behind(action.begin);
      pauses.behind(action.end);
    }
  }
  pauses.at_brackets();
}

}  // namespace mynah
