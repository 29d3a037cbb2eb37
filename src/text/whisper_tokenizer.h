// WhisperTokenizer: text to tokens and back, the special tokens, and words from tokens, as
// openai/whisper tokenizer.py does them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "text/byte_bpe.h"
#include "text/utf8.h"
#include "text/vocabulary.h"

namespace mynah {

// Ids of the tokens that are not text. They follow the ordinary ones in this order.
struct WhisperSpecialTokens {
  int32_t eot = 0;             // <|endoftext|>: the first special token; everything below is text
  int32_t sot = 0;             // <|startoftranscript|>
  int32_t language_begin = 0;  // languages()[0], the others follow
  int32_t n_languages = 0;     // 99, or 100 with Cantonese
  int32_t translate = 0;
  int32_t transcribe = 0;
  int32_t sot_lm = 0;
  int32_t sot_prev = 0;         // before the text of the previous window
  int32_t no_speech = 0;        // <|nospeech|>, <|nocaptions|> in older files
  int32_t no_timestamps = 0;    // <|notimestamps|>
  int32_t timestamp_begin = 0;  // <|0.00|>; 1501 of them, 0.02 s apart
};

inline constexpr int32_t kTimestampCount = 1501;
inline constexpr double kTimestampStep_s = 0.02;

// One word and the tokens that spell it.
struct TokenWord {
  std::string text;
  std::vector<int32_t> tokens;
};

class WhisperTokenizer {
 public:
  // n_vocab is the model's number of output classes and says which family it is: 51864 is
  // English-only, 51865 multilingual, 51866 multilingual with Cantonese (large-v3). The vocabulary
  // needs the ordinary tokens only (50256 or 50257 of them; GPT-2's own list has one more, which is
  // <|endoftext|>); what follows them is computed.
  static Result<WhisperTokenizer> create(Vocabulary vocabulary, int64_t n_vocab);

  [[nodiscard]] bool multilingual() const { return multilingual_; }

  // The number of tokens, timestamps included: n_vocab.
  [[nodiscard]] int32_t size() const { return special_.timestamp_begin + kTimestampCount; }

  [[nodiscard]] const WhisperSpecialTokens& special() const { return special_; }

  // The tokens of a text. The text's own "<|...|>" is spelt with ordinary tokens, never a special
  // one, so that a prompt cannot command the decoder.
  [[nodiscard]] std::vector<int32_t> encode(std::string_view text) const;

  // A token's bytes: part of a text, maybe part of a code point; "<|en|>" for special ones. Empty
  // for an id that does not exist.
  [[nodiscard]] std::string bytes(int32_t id) const;

  // Text without special tokens and timestamps; broken UTF-8 replaced by U+FFFD.
  [[nodiscard]] std::string decode(std::span<const int32_t> ids) const;
  // Special tokens and timestamps written out: "<|0.00|> Hello<|1.08|>".
  [[nodiscard]] std::string decode_with_timestamps(std::span<const int32_t> ids) const;

  [[nodiscard]] bool is_timestamp(int32_t id) const { return id >= special_.timestamp_begin; }

  // Requires is_timestamp(id). Seconds from the start of the window.
  [[nodiscard]] double timestamp_s(int32_t id) const {
    return (id - special_.timestamp_begin) * kTimestampStep_s;
  }

  // The token of a language given by code, name or alias (languages.h); none for an English model.
  [[nodiscard]] std::optional<int32_t> language_token(std::string_view language) const;
  // The code of a language's token; empty for any other token.
  [[nodiscard]] std::string_view language_code(int32_t id) const;

  // What the decoder starts from: sot, and for multilingual models the language and the task.
  [[nodiscard]] std::vector<int32_t> sot_sequence(int32_t language_token, bool translate) const;

  // Tokens of symbols that are no speech, "(" and "♪" among them, in rising order: suppressed by
  // default so that the model does not describe noises (tokenizer.py, non_speech_tokens).
  [[nodiscard]] std::vector<int32_t> non_speech_tokens() const;

  // Cuts tokens into words for word times: at spaces, or between code points in languages that are
  // written without spaces (zh, ja, th, lo, my, yue).
  [[nodiscard]] std::vector<TokenWord> split_to_words(std::span<const int32_t> ids,
                                                      std::string_view language_code) const;
  [[nodiscard]] std::vector<TokenWord> split_on_unicode(std::span<const int32_t> ids) const;
  [[nodiscard]] std::vector<TokenWord> split_on_spaces(std::span<const int32_t> ids) const;

 private:
  WhisperTokenizer(ByteBpe bpe, const WhisperSpecialTokens& special, bool multilingual);

  ByteBpe bpe_;
  WhisperSpecialTokens special_;
  bool multilingual_ = false;
};

// Text as tokens come one by one: holds back the bytes of a code point that is not complete yet.
// The pieces joined are WhisperTokenizer::decode of all the tokens.
class StreamingDecoder {
 public:
  // The tokenizer outlives the decoder.
  explicit StreamingDecoder(const WhisperTokenizer& tokenizer) : tokenizer_(tokenizer) {}

  // The text that this token completes.
  [[nodiscard]] std::string push(int32_t id);
  // What is left at the end of the tokens.
  [[nodiscard]] std::string flush();

 private:
  const WhisperTokenizer& tokenizer_;
  Utf8Stream stream_;
};

}  // namespace mynah
