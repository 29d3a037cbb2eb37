// Any bytes through everything that reads text: tokens and back, streaming, words, normalisers,
// alignment.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "text/text_normalizer.h"
#include "text/utf8.h"
#include "text/wer_report.h"
#include "text/whisper_tokenizer.h"

namespace mynah {
namespace {

// A vocabulary of the real size: the bytes, then pairs and longer pieces of common letters.
WhisperTokenizer make_tokenizer() {
  Vocabulary tokens(50257);
  size_t id = 0;
  for (; id < 256; ++id) {
    tokens[id] = static_cast<char>(id);
  }
  const std::string_view letters = " aeinorst\xC3\xA9\xE4\xB8";
  for (size_t length = 2; length <= 4; ++length) {
    for (size_t code = 0; id < 256 + 700 * (length - 1); ++code, ++id) {
      for (size_t i = 0, rest = code; i < length; ++i, rest /= letters.size()) {
        tokens[id] += letters[rest % letters.size()];
      }
    }
  }
  auto tokenizer = WhisperTokenizer::create(std::move(tokens), 51865);
  MYNAH_CHECK(tokenizer.has_value(), "the vocabulary is whole");
  return std::move(*tokenizer);
}

void check_tokens(const WhisperTokenizer& tokenizer, std::string_view text) {
  const auto ids = tokenizer.encode(text);
  std::string joined;
  StreamingDecoder decoder(tokenizer);
  std::string streamed;
  for (const int32_t id : ids) {
    joined += tokenizer.bytes(id);
    streamed += decoder.push(id);
  }
  streamed += decoder.flush();
  MYNAH_CHECK(joined == text, "tokens lose bytes");
  MYNAH_CHECK(streamed == replace_invalid_utf8(text), "streaming differs");
  if (ids.size() < 500) {  // the reference's splitting is quadratic where nothing decodes
    std::string words;
    for (const TokenWord& word : tokenizer.split_to_words(ids, "en")) {
      words += word.text;
    }
    MYNAH_CHECK(replace_invalid_utf8(words) == words, "a word is not UTF-8");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const WhisperTokenizer tokenizer = make_tokenizer();
  static const auto english = english_text_normalizer();
  static const auto letters =
      basic_text_normalizer({.remove_diacritics = true, .split_letters = true});
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  check_tokens(tokenizer, text);
  for (const auto* normalizer : {english.get(), letters.get()}) {
    const std::string normal = normalizer->normalize(text);
    MYNAH_CHECK(replace_invalid_utf8(normal) == normal, "not UTF-8");
  }
  WerReport report;
  report.add(score_clip("clip", "clip", size % 2 == 0 ? "en" : "ja", std::string(text),
                        std::string(text.substr(size / 3))));
  MYNAH_CHECK(!write_html(report, text).empty() && !write_table(report).empty(), "no report");
  return 0;
}

}  // namespace mynah
