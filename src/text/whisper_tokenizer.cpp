#include "text/whisper_tokenizer.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "text/languages.h"
#include "text/pretokenize.h"
#include "text/unicode.h"
#include "text/utf8.h"

namespace mynah {
namespace {

// Ordinary tokens of the two vocabularies: 256 bytes and 50000 merges, and in the multilingual one
// an empty token more (the last line of multilingual.tiktoken).
constexpr int32_t kEnglishTokens = 50256;
constexpr int32_t kMultilingualTokens = 50257;
constexpr int32_t kEnglishVocabulary = 51864;
constexpr int32_t kMultilingualVocabulary = 51865;
constexpr int32_t kCantoneseVocabulary = 51866;

WhisperSpecialTokens special_tokens(int32_t n_text, int32_t n_languages) {
  WhisperSpecialTokens special;
  special.eot = n_text;
  special.sot = n_text + 1;
  special.language_begin = n_text + 2;
  special.n_languages = n_languages;
  special.translate = special.language_begin + n_languages;
  special.transcribe = special.translate + 1;
  special.sot_lm = special.translate + 2;
  special.sot_prev = special.translate + 3;
  special.no_speech = special.translate + 4;
  special.no_timestamps = special.translate + 5;
  special.timestamp_begin = special.translate + 6;
  return special;
}

// The name of a token between eot and the timestamps.
std::string_view special_name(const WhisperSpecialTokens& special, int32_t id) {
  const std::array<std::pair<int32_t, std::string_view>, 8> names = {{
      {special.eot, "endoftext"},
      {special.sot, "startoftranscript"},
      {special.translate, "translate"},
      {special.transcribe, "transcribe"},
      {special.sot_lm, "startoflm"},
      {special.sot_prev, "startofprev"},
      {special.no_speech, "nospeech"},
      {special.no_timestamps, "notimestamps"},
  }};
  const auto* const found =
      std::ranges::find(names, id, &std::pair<int32_t, std::string_view>::first);
  return found == names.end() ? languages()[static_cast<size_t>(id - special.language_begin)].code
                              : found->second;
}

// Python's string.punctuation, the ASCII characters that are neither letters, digits nor blank.
constexpr std::u32string_view kPunctuation = U"!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~";

// The reference asks whether the stripped word is a substring of string.punctuation, so that an
// empty one is punctuation too.
bool is_punctuation(std::string_view text) {
  const std::u32string characters = to_code_points(text);
  const std::u32string_view all = characters;
  const auto is_text = [](char32_t c) { return !is_python_space(c); };
  const auto begin = std::ranges::find_if(all, is_text);
  const auto end = std::find_if(all.rbegin(), std::make_reverse_iterator(begin), is_text).base();
  return kPunctuation.find(std::u32string_view(begin, end)) != std::u32string_view::npos;
}

}  // namespace

Result<WhisperTokenizer> WhisperTokenizer::create(Vocabulary vocabulary, int64_t n_vocab) {
  if (n_vocab < kEnglishVocabulary || n_vocab > kCantoneseVocabulary) {
    return fail(
        ErrorCode::Unsupported,
        fmt::format("a Whisper model has {} (English), {} or {} (multilingual) tokens; "
                    "this one has {}",
                    kEnglishVocabulary, kMultilingualVocabulary, kCantoneseVocabulary, n_vocab));
  }
  const bool multilingual = n_vocab >= kMultilingualVocabulary;
  const int32_t n_text = multilingual ? kMultilingualTokens : kEnglishTokens;
  // Some files leave the multilingual vocabulary's empty last token out.
  if (std::cmp_less(vocabulary.size(), kEnglishTokens)) {
    return fail(
        ErrorCode::InvalidInput,
        fmt::format("the vocabulary has {} tokens, wanted at least the {} ordinary ones of "
                    "a {} Whisper model; the file may be cut short or of another model",
                    vocabulary.size(), kEnglishTokens, multilingual ? "multilingual" : "English"));
  }
  vocabulary.resize(static_cast<size_t>(n_text));
  MYNAH_TRY(ByteBpe bpe, ByteBpe::create(std::move(vocabulary)));
  const int32_t n_languages = n_vocab == kCantoneseVocabulary ? 100 : 99;
  return WhisperTokenizer(std::move(bpe), special_tokens(n_text, n_languages), multilingual);
}

WhisperTokenizer::WhisperTokenizer(ByteBpe bpe, const WhisperSpecialTokens& special,
                                   bool multilingual)
    : bpe_(std::move(bpe)), special_(special), multilingual_(multilingual) {}

std::vector<int32_t> WhisperTokenizer::encode(std::string_view text) const {
  std::vector<int32_t> ids;
  for (const std::string_view piece : split_gpt2(text)) {
    bpe_.encode_piece(piece, ids);
  }
  return ids;
}

std::string WhisperTokenizer::bytes(int32_t id) const {
  if (id < 0 || id >= size()) {
    return {};
  }
  if (id < special_.eot) {
    return bpe_.bytes(id);
  }
  if (is_timestamp(id)) {
    return fmt::format("<|{:.2f}|>", timestamp_s(id));
  }
  return fmt::format("<|{}|>", special_name(special_, id));
}

std::string WhisperTokenizer::decode(std::span<const int32_t> ids) const {
  std::string text;
  for (const int32_t id : ids) {
    if (id < special_.eot) {
      text += bytes(id);
    }
  }
  return replace_invalid_utf8(text);
}

std::string WhisperTokenizer::decode_with_timestamps(std::span<const int32_t> ids) const {
  std::string text;
  for (const int32_t id : ids) {
    text += bytes(id);
  }
  return replace_invalid_utf8(text);
}

std::optional<int32_t> WhisperTokenizer::language_token(std::string_view language) const {
  const auto index = find_language(language);
  if (!multilingual_ || !index || std::cmp_greater_equal(*index, special_.n_languages)) {
    return std::nullopt;
  }
  return special_.language_begin + static_cast<int32_t>(*index);
}

std::string_view WhisperTokenizer::language_code(int32_t id) const {
  if (id < special_.language_begin || id >= special_.language_begin + special_.n_languages) {
    return {};
  }
  return languages()[static_cast<size_t>(id - special_.language_begin)].code;
}

std::vector<int32_t> WhisperTokenizer::sot_sequence(int32_t language_token, bool translate) const {
  if (!multilingual_) {
    return {special_.sot};
  }
  return {special_.sot, language_token, translate ? special_.translate : special_.transcribe};
}

std::vector<int32_t> WhisperTokenizer::non_speech_tokens() const {
  constexpr std::array<std::string_view, 47> kSymbols = {
      "\"",  "#",  "(",  ")",   "*",   "+",   "/",   ":",  ";",   "<",  "=",  ">",
      "@",   "[",  "\\", "]",   "^",   "_",   "`",   "{",  "|",   "}",  "~",  "「",
      "」",  "『", "』", "<<",  ">>",  "<<<", ">>>", "--", "---", "-(", "-[", "('",
      "(\"", "((", "))", "(((", ")))", "[[",  "]]",  "{{", "}}",  "♪♪", "♪♪♪"};
  // In either vocabulary these may be one token or several; the first of several is shared by
  // U+2640 to U+267F only, which is safe to suppress.
  constexpr std::array<std::string_view, 7> kNotes = {"♩", "♪", "♫", "♬", "♭", "♮", "♯"};
  // A hyphen or an apostrophe may stand inside a word, but not begin one.
  std::vector<int32_t> ids = {encode(" -")[0], encode(" '")[0]};
  for (const std::string_view symbol : kSymbols) {
    for (const std::string& text : {std::string(symbol), fmt::format(" {}", symbol)}) {
      if (const auto tokens = encode(text); tokens.size() == 1) {
        ids.push_back(tokens[0]);
      }
    }
  }
  for (const std::string_view note : kNotes) {
    ids.push_back(encode(note)[0]);
    ids.push_back(encode(fmt::format(" {}", note))[0]);
  }
  std::ranges::sort(ids);
  ids.erase(std::ranges::unique(ids).begin(), ids.end());
  return ids;
}

std::vector<TokenWord> WhisperTokenizer::split_to_words(std::span<const int32_t> ids,
                                                        std::string_view language_code) const {
  constexpr std::array<std::string_view, 6> kWithoutSpaces = {"zh", "ja", "th", "lo", "my", "yue"};
  const bool spaces = std::ranges::find(kWithoutSpaces, language_code) == kWithoutSpaces.end();
  return spaces ? split_on_spaces(ids) : split_on_unicode(ids);
}

std::vector<TokenWord> WhisperTokenizer::split_on_unicode(std::span<const int32_t> ids) const {
  // A word ends where the tokens so far decode without a broken code point, or where the same
  // place of the whole text is broken too, so that no later token will mend it.
  const std::u32string whole = to_code_points(decode_with_timestamps(ids));
  std::vector<TokenWord> words;
  std::vector<int32_t> tokens;
  size_t offset = 0;
  for (const int32_t id : ids) {
    tokens.push_back(id);
    std::string text = decode_with_timestamps(tokens);
    const std::u32string characters = to_code_points(text);
    const size_t broken = characters.find(kReplacementCharacter);
    const bool complete =
        broken == std::u32string::npos ||
        (offset + broken < whole.size() && whole[offset + broken] == kReplacementCharacter);
    if (complete) {
      words.push_back({.text = std::move(text), .tokens = std::exchange(tokens, {})});
      offset += characters.size();
    }
  }
  return words;
}

std::vector<TokenWord> WhisperTokenizer::split_on_spaces(std::span<const int32_t> ids) const {
  std::vector<TokenWord> words;
  for (TokenWord& part : split_on_unicode(ids)) {
    const bool begins = words.empty() || part.tokens[0] >= special_.eot ||
                        part.text.starts_with(' ') || is_punctuation(part.text);
    if (begins) {
      words.push_back(std::move(part));
    } else {
      words.back().text += part.text;
      std::ranges::copy(part.tokens, std::back_inserter(words.back().tokens));
    }
  }
  return words;
}

std::string StreamingDecoder::push(int32_t id) {
  if (id >= tokenizer_.special().eot) {
    return {};
  }
  return stream_.push(tokenizer_.bytes(id));
}

std::string StreamingDecoder::flush() {
  return stream_.flush();
}

}  // namespace mynah
