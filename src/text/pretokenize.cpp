#include "text/pretokenize.h"

#include <array>
#include <cstddef>
#include <cstdint>

#include "text/unicode.h"
#include "text/utf8.h"

namespace mynah {
namespace {

enum class CharacterKind : uint8_t { Letter, Number, Space, Symbol, End };

struct Character {
  CharacterKind kind = CharacterKind::End;
  size_t bytes = 0;
};

Character character_at(std::string_view text, size_t position) {
  const Utf8Step step = next_code_point(text.substr(position));
  if (step.bytes == 0) {
    return {};
  }
  if (!step.valid) {
    return {.kind = CharacterKind::Symbol, .bytes = step.bytes};
  }
  if (is_letter(step.code_point)) {
    return {.kind = CharacterKind::Letter, .bytes = step.bytes};
  }
  if (is_number(step.code_point)) {
    return {.kind = CharacterKind::Number, .bytes = step.bytes};
  }
  if (is_white_space(step.code_point)) {
    return {.kind = CharacterKind::Space, .bytes = step.bytes};
  }
  return {.kind = CharacterKind::Symbol, .bytes = step.bytes};
}

// The length of the English contraction at the start, or 0.
size_t contraction(std::string_view text) {
  constexpr std::array<std::string_view, 7> kContractions = {"'s", "'t",  "'re", "'ve",
                                                             "'m", "'ll", "'d"};
  for (const std::string_view ending : kContractions) {
    if (text.starts_with(ending)) {
      return ending.size();
    }
  }
  return 0;
}

// The end of the run of one kind that starts here.
size_t run_end(std::string_view text, size_t position, CharacterKind kind) {
  for (;;) {
    const Character next = character_at(text, position);
    if (next.kind != kind) {
      return position;
    }
    position += next.bytes;
  }
}

// The end of the white space that starts here: all of it at the end of the text; else without its
// last character, which belongs to the next piece or stands alone.
size_t space_end(std::string_view text, size_t position) {
  size_t last = position;
  size_t end = position;
  for (;;) {
    const Character next = character_at(text, end);
    if (next.kind == CharacterKind::End) {
      return end;
    }
    if (next.kind != CharacterKind::Space) {
      return last > position ? last : end;
    }
    last = end;
    end += next.bytes;
  }
}

size_t piece_end(std::string_view text, size_t position) {
  if (const size_t length = contraction(text.substr(position)); length > 0) {
    return position + length;
  }
  const bool after_blank = text[position] == ' ';
  const size_t start = after_blank ? position + 1 : position;
  const CharacterKind kind = character_at(text, start).kind;
  if (kind != CharacterKind::Space && kind != CharacterKind::End) {
    return run_end(text, start, kind);
  }
  return space_end(text, position);
}

}  // namespace

std::vector<std::string_view> split_gpt2(std::string_view text) {
  std::vector<std::string_view> pieces;
  size_t position = 0;
  while (position < text.size()) {
    const size_t end = piece_end(text, position);
    pieces.push_back(text.substr(position, end - position));
    position = end;
  }
  return pieces;
}

}  // namespace mynah
