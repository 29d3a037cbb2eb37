#include "text/tokenizer/word_piece.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "base/ascii.h"
#include "text/unicode.h"
#include "text/utf8.h"

namespace mynah {
namespace {

// max_input_chars_per_word of transformers' WordPiece.
constexpr size_t kMostCodePoints = 100;

// What BertNormalizer puts spaces around (handle_chinese_chars); its beginning of extension E is
// 2B920 and not Unicode's 2B820.
bool is_chinese(char32_t c) {
  constexpr auto kRanges = std::to_array<std::pair<char32_t, char32_t>>({{0x3400, 0x4DBF},
                                                                         {0x4E00, 0x9FFF},
                                                                         {0xF900, 0xFAFF},
                                                                         {0x20000, 0x2A6DF},
                                                                         {0x2A700, 0x2B73F},
                                                                         {0x2B740, 0x2B81F},
                                                                         {0x2B920, 0x2CEAF},
                                                                         {0x2F800, 0x2FA1F}});
  return std::ranges::any_of(
      kRanges, [c](const auto& range) { return c >= range.first && c <= range.second; });
}

// A word of its own: punctuation, in ASCII symbols too, and Chinese characters.
bool stands_alone(char32_t c) {
  const bool counts = c < 0x80 ? is_symbol_or_punctuation(c)
                               : general_category_name(general_category(c)).starts_with('P');
  return counts || is_chinese(c);
}

// What is left out: controls that are no line's end or tab, formats, private and half code points,
// and broken bytes.
bool is_left_out(char32_t c) {
  if ((c >= U' ' && c <= U'~') || c == U'\t' || c == U'\n' || c == U'\r') {
    return false;
  }
  const std::string_view category = general_category_name(general_category(c));
  return c == kReplacementCharacter || (category.starts_with('C') && category != "Cn");
}

}  // namespace

WordPieceTokenizer::WordPieceTokenizer(GgufVocabulary vocabulary)
    : TableTokenizer(std::move(vocabulary), {TokenKind::Text}) {
  for (int32_t id = 0; id < size(); ++id) {
    longest_ = std::max(longest_, bytes(id).size());
  }
}

Result<std::unique_ptr<TextTokenizer>> WordPieceTokenizer::create(const TensorFile& file,
                                                                  GgufVocabulary vocabulary) {
  if (!vocabulary.special.unknown) {
    return fail(ErrorCode::InvalidInput,
                fmt::format("{}: wanted tokenizer.ggml.unknown_token_id, found none: words that "
                            "the vocabulary lacks have no token; convert the model anew",
                            file.path));
  }
  MYNAH_TRY(const auto* lower_case,
            metadata_value<bool>(file, "tokenizer.ggml.normalizer.lowercase"));
  MYNAH_TRY(const auto* strip_accents,
            metadata_value<bool>(file, "tokenizer.ggml.normalizer.strip_accents"));
  // Not by std::make_unique: the constructor is private.
  std::unique_ptr<WordPieceTokenizer> tokenizer(new WordPieceTokenizer(std::move(vocabulary)));
  tokenizer->lower_case_ = lower_case == nullptr || *lower_case;
  tokenizer->strip_accents_ = strip_accents == nullptr ? tokenizer->lower_case_ : *strip_accents;
  SpecialTokens& special = tokenizer->special_;
  special.add_bos = special.bos.has_value();
  special.add_eos = special.eos.has_value();
  return tokenizer;
}

void WordPieceTokenizer::append_normal(std::u32string& word, char32_t code_point) const {
  if (code_point < 0x80) {
    word += lower_case_ ? ascii_lower(code_point) : code_point;
    return;
  }
  const std::u32string parts =
      strip_accents_ ? canonical_parts(code_point) : std::u32string(1, code_point);
  for (const char32_t part : parts) {
    if (strip_accents_ && is_nonspacing_mark(part)) {
      continue;
    }
    if (lower_case_) {
      word += to_lower({&part, 1});
    } else {
      word += part;
    }
  }
}

void WordPieceTokenizer::encode_text(std::string_view text, bool /*begins*/,
                                     std::vector<int32_t>& ids) const {
  std::string word = " ";
  size_t in_word = 0;
  const auto end_word = [&] {
    if (in_word > 0) {
      encode_word(word, in_word, ids);
    }
    word.resize(1);
    in_word = 0;
  };
  std::u32string normal;
  while (!text.empty()) {
    const Utf8Step step = next_code_point(text);
    text.remove_prefix(step.bytes);
    if (is_left_out(step.code_point)) {
      continue;
    }
    if (is_white_space(step.code_point)) {
      end_word();
      continue;
    }
    normal.clear();
    append_normal(normal, step.code_point);
    for (const char32_t c : normal) {
      const bool alone = stands_alone(c);
      if (alone) {
        end_word();
      }
      append_utf8(word, c);
      ++in_word;
      if (alone) {
        end_word();
      }
    }
  }
  end_word();
}

void WordPieceTokenizer::encode_word(std::string_view word, size_t code_points,
                                     std::vector<int32_t>& ids) const {
  const size_t before = ids.size();
  for (size_t at = 0; at < word.size() && code_points <= kMostCodePoints;) {
    size_t length = std::min(longest_, word.size() - at);
    int32_t id = TokenTable::kNone;
    while (length > 0 && (id = tokens().find(word.substr(at, length))) < 0) {
      --length;
    }
    if (id < 0) {
      ids.resize(before);
      break;
    }
    ids.push_back(id);
    at += length;
  }
  if (ids.size() == before) {
    ids.push_back(*special().unknown);
  }
}

}  // namespace mynah
