#include "text/scripts.h"

#include <algorithm>
#include <array>

#include "text/unicode.h"

namespace mynah {
namespace {

constexpr Script kGreek{.name = "Greek", .language = "el"};
constexpr Script kCyrillic{.name = "Cyrillic", .language = "ru"};
constexpr Script kHebrew{.name = "Hebrew", .language = "he"};
constexpr Script kArabic{.name = "Arabic", .language = "ar"};
constexpr Script kGeorgian{.name = "Georgian", .language = "ka"};
constexpr Script kHangul{.name = "Hangul", .language = "ko"};
constexpr Script kKana{.name = "Japanese kana", .language = "ja"};
constexpr Script kHan{.name = "Han", .language = "zh"};
constexpr Script kOther{.name = "other scripts", .language = ""};

struct Block {
  char32_t first;
  char32_t last;
  Script script;
};

constexpr auto kBlocks = std::to_array<Block>({
    {0x0370, 0x03FF, kGreek},
    {0x0400, 0x052F, kCyrillic},
    {0x0530, 0x058F, {.name = "Armenian", .language = "hy"}},
    {0x0590, 0x05FF, kHebrew},
    {0x0600, 0x06FF, kArabic},
    {0x0750, 0x077F, kArabic},
    {0x08A0, 0x08FF, kArabic},
    {0x0900, 0x097F, {.name = "Devanagari", .language = "hi"}},
    {0x0980, 0x09FF, {.name = "Bengali", .language = "bn"}},
    {0x0A00, 0x0A7F, {.name = "Gurmukhi", .language = "pa"}},
    {0x0A80, 0x0AFF, {.name = "Gujarati", .language = "gu"}},
    {0x0B80, 0x0BFF, {.name = "Tamil", .language = "ta"}},
    {0x0C00, 0x0C7F, {.name = "Telugu", .language = "te"}},
    {0x0C80, 0x0CFF, {.name = "Kannada", .language = "kn"}},
    {0x0D00, 0x0D7F, {.name = "Malayalam", .language = "ml"}},
    {0x0D80, 0x0DFF, {.name = "Sinhala", .language = "si"}},
    {0x0E00, 0x0E7F, {.name = "Thai", .language = "th"}},
    {0x10A0, 0x10FF, kGeorgian},
    {0x1100, 0x11FF, kHangul},
    {0x1200, 0x139F, {.name = "Ethiopic", .language = "am"}},
    {0x1780, 0x17FF, {.name = "Khmer", .language = "km"}},
    {0x1C80, 0x1C8F, kCyrillic},
    {0x1C90, 0x1CBF, kGeorgian},
    {0x1F00, 0x1FFF, kGreek},
    {0x2D00, 0x2D2F, kGeorgian},
    {0x2E80, 0x2FDF, kHan},
    {0x3005, 0x3007, kHan},
    {0x3040, 0x30FF, kKana},
    {0x3130, 0x318F, kHangul},
    {0x31F0, 0x31FF, kKana},
    {0x3400, 0x4DBF, kHan},
    {0x4E00, 0x9FFF, kHan},
    {0xA640, 0xA69F, kCyrillic},
    {0xAC00, 0xD7FF, kHangul},
    {0xF900, 0xFAFF, kHan},
    {0xFB1D, 0xFB4F, kHebrew},
    {0xFB50, 0xFDFF, kArabic},
    {0xFE70, 0xFEFF, kArabic},
    {0xFF66, 0xFF9F, kKana},
    {0x20000, 0x3FFFF, kHan},
});

// Latin with phonetic letters, and letters of all scripts that look like signs.
constexpr auto kLatin = std::to_array<std::pair<char32_t, char32_t>>({{0x0000, 0x036F},
                                                                      {0x1D00, 0x1DBF},
                                                                      {0x1E00, 0x1EFF},
                                                                      {0x2000, 0x2BFF},
                                                                      {0x2C60, 0x2C7F},
                                                                      {0xA720, 0xA7FF},
                                                                      {0xAB30, 0xAB6F},
                                                                      {0xFB00, 0xFB06},
                                                                      {0xFF21, 0xFF5A},
                                                                      {0x1D400, 0x1D7FF}});

}  // namespace

const Script* foreign_script(char32_t character) {
  if (!is_letter(character)) {
    return nullptr;
  }
  const auto* const block = std::ranges::lower_bound(kBlocks, character, {}, &Block::last);
  if (block != kBlocks.end() && block->first <= character) {
    return &block->script;
  }
  const bool latin = std::ranges::any_of(kLatin, [character](const auto& range) {
    return character >= range.first && character <= range.second;
  });
  return latin ? nullptr : &kOther;
}

}  // namespace mynah
