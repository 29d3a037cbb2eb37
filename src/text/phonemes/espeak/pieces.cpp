#include "text/phonemes/espeak/pieces.h"

#include <array>
#include <utility>

#include "text/unicode.h"
#include "text/utf8.h"

namespace mynah::espeak {

namespace {

constexpr char32_t kByteOrderMark = 0xFEFF;

// Marks of other scripts and forms, and those that stand for them.
constexpr std::array<std::pair<char32_t, char32_t>, 34> kMarks = {{
    {U'.', U'.'},  {U'!', U'!'},  {U'?', U'?'},  {U',', U','},  {U':', U':'},  {U';', U';'},
    {U'(', U'('},  {U')', U')'},  {U'[', U'('},  {U']', U')'},  {U'{', U'('},  {U'}', U')'},
    {U'"', U'"'},  {U'“', U'“'},  {U'”', U'”'},  {U'«', U'“'},  {U'»', U'”'},  {U'„', U'“'},
    {U'—', U'—'},  {U'–', U'—'},  {U'…', U'…'},  {U'¿', U'¿'},  {U'¡', U'¡'},  {U'。', U'.'},
    {U'！', U'!'}, {U'？', U'?'}, {U'，', U','}, {U'、', U','}, {U'：', U':'}, {U'；', U';'},
    {U'؟', U'?'},  {U'،', U','},  {U'؛', U';'},  {U'।', U'.'},
}};

char32_t mark_of(char32_t character) {
  for (const auto& [mark, plain] : kMarks) {
    if (mark == character) {
      return plain;
    }
  }
  return 0;
}

struct Character {
  char32_t value = 0;
  size_t begin = 0;
  size_t end = 0;
};

std::vector<Character> characters_of(std::string_view text) {
  std::vector<Character> characters;
  for (size_t at = 0; at < text.size();) {
    const Utf8Step step = next_code_point(text.substr(at));
    characters.push_back({.value = step.code_point, .begin = at, .end = at + step.bytes});
    at += step.bytes;
  }
  return characters;
}

bool is_word_part(char32_t c) {
  return is_letter(c) || is_number(c) || is_mark(c);
}

// What is no text: control characters, of which 1 is a command to espeak-ng, private use, which it
// keeps for itself, and what stands for broken bytes.
bool is_unspoken(char32_t c) {
  return c < 0x20 || (c >= 0x7F && c < 0xA0) || (c >= 0xE000 && c <= 0xF8FF) || c >= 0xF0000 ||
         c == kReplacementCharacter || c == kByteOrderMark || (c & 0xFFFEU) == 0xFFFEU;
}

bool is_space(char32_t c) {
  return is_python_space(c) || is_unspoken(c);
}

class Cutter {
 public:
  explicit Cutter(std::string_view text) : characters_(characters_of(text)) {}

  std::vector<Piece> cut() {
    for (size_t i = 0; i < characters_.size(); ++i) {
      const Character& character = characters_[i];
      if (is_space(character.value)) {
        end_word(true);
      } else if (const char32_t mark = mark_at(i)) {
        end_word(false);
        pieces_.push_back(
            {.begin = character.begin, .end = character.end, .mark = mark, .spoken = {}});
      } else {
        in_word_ = in_word_ || begin_word(character.begin);
        append_utf8(pieces_.back().spoken, character.value);
        pieces_.back().end = character.end;
        has_dot_ = has_dot_ || character.value == U'.';
      }
    }
    return std::move(pieces_);
  }

 private:
  bool begin_word(size_t begin) {
    pieces_.push_back({.begin = begin, .end = begin, .spoken = {}});
    has_dot_ = false;
    return true;
  }

  void end_word(bool space) {
    in_word_ = false;
    if (space && !pieces_.empty()) {
      pieces_.back().space_after = true;
    }
  }

  [[nodiscard]] char32_t at(size_t i) const {
    return i < characters_.size() ? characters_[i].value : U' ';
  }

  // The mark that this character is, where it is one and no part of a word.
  [[nodiscard]] char32_t mark_at(size_t i) const {
    const char32_t c = at(i);
    if (c == U'-') {
      // A dash, unless it joins two words.
      const bool joins = in_word_ && is_word_part(at(i + 1));
      const bool sign = !in_word_ && is_number(at(i + 1));
      return joins || sign ? 0 : U'—';
    }
    const char32_t mark = mark_of(c);
    if (mark == 0 || !in_word_ || (c != U'.' && c != U',' && c != U':')) {
      return mark;
    }
    if (is_word_part(at(i + 1)) && (c == U'.' || is_number(at(i + 1)))) {
      return 0;
    }
    size_t next = i + 1;
    while (next < characters_.size() && is_space(at(next))) {
      ++next;
    }
    const bool goes_on = next > i + 1 && is_letter(at(next)) &&
                         to_lower(std::u32string(1, at(next))) == std::u32string(1, at(next));
    return c == U'.' && has_dot_ && goes_on ? 0 : mark;
  }

  std::vector<Character> characters_;
  std::vector<Piece> pieces_;
  bool in_word_ = false;
  bool has_dot_ = false;  // the word that is being read
};

}  // namespace

std::vector<Piece> cut(std::string_view text) {
  return Cutter(text).cut();
}

}  // namespace mynah::espeak
