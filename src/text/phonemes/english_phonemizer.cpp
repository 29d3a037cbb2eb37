// English as misaki reads it (0.9.4, en.py, G2P, as hibari-tts 0.2.1 has it without spaCy and
// espeak): words are said from the last to the first, since what follows decides on "the" and "to".
#include <algorithm>
#include <filesystem>
#include <future>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "text/phonemes/alphabet.h"
#include "text/phonemes/data_file.h"
#include "text/phonemes/dialect.h"
#include "text/phonemes/english_lexicon.h"
#include "text/phonemes/homographs.h"
#include "text/phonemes/letters.h"
#include "text/phonemes/phonemizer.h"
#include "text/phonemes/sentence_reader.h"
#include "text/phonemes/tagger.h"
#include "text/phonemes/tokenizer.h"
#include "text/phonemes/word_class.h"
#include "text/phonemes/word_parts.h"
#include "text/unicode.h"
#include "text/utf8.h"

namespace mynah {
namespace {

// A text by characters, and where each stands in its bytes.
struct Characters {
  explicit Characters(std::string_view text) {
    characters.reserve(text.size());
    offsets.reserve(text.size() + 1);
    size_t at = 0;
    while (at < text.size()) {
      const Utf8Step step = next_code_point(text.substr(at));
      characters += step.code_point;
      offsets.push_back(at);
      at += step.bytes;
    }
    offsets.push_back(at);
  }

  // The first character that begins at that byte or behind it.
  [[nodiscard]] size_t index_of(size_t byte) const {
    return static_cast<size_t>(std::ranges::lower_bound(offsets, byte) - offsets.begin());
  }

  std::u32string characters;
  std::vector<size_t> offsets;  // of each character, and the text's end
};

Status check_given(std::string_view text, std::span<const GivenPhonemes> given) {
  size_t end = 0;
  for (const GivenPhonemes& range : given) {
    if (range.begin < end || range.end <= range.begin || range.end > text.size()) {
      return fail(ErrorCode::InvalidInput,
                  fmt::format("phonemes are given for bytes {} to {} of {}: wanted ranges in "
                              "order that are inside the text and not empty",
                              range.begin, range.end, text.size()));
    }
    end = range.end;
  }
  return {};
}

class EnglishPhonemizer : public Phonemizer {
 public:
  EnglishPhonemizer(EnglishTokenizer tokenizer, Tagger tagger, EnglishLexicon lexicon,
                    std::shared_ptr<const UserLexicon> own_words,
                    std::shared_ptr<const UnknownWords> unknown, bool british, bool as_misaki)
      : tokenizer_(std::move(tokenizer)),
        tagger_(std::move(tagger)),
        lexicon_(std::move(lexicon)),
        own_words_(std::move(own_words)),
        unknown_(std::move(unknown)),
        british_(british),
        as_misaki_(as_misaki) {}

  using Phonemizer::phonemes;

  [[nodiscard]] Result<std::vector<PhonemeWord>> phonemes(
      std::string_view text, std::span<const GivenPhonemes> given) const override {
    MYNAH_TRY_STATUS(check_given(text, given));
    Characters source(text);
    if (!as_misaki_) {
      repair_apostrophes(source.characters);
    }
    const std::vector<TaggedToken> tokens = tagged(source, given);
    WordParts words = split_into_parts(tokens);
    SentenceReader(lexicon_, unknown_.get()).read(words);
    std::vector<PhonemeWord> result;
    result.reserve(words.groups.size());
    for (const PartGroup& group : words.groups) {
      const std::span<const WordPart> parts =
          std::span(words.parts).subspan(group.first, group.count);
      PhonemeWord word;
      word.begin = source.offsets[parts.front().begin];
      word.end = source.offsets[parts.back().end];
      word.text = text.substr(word.begin, word.end - word.begin);
      word.phonemes = to_utf8(said_together(parts));
      word.space_after = parts.back().space_after;
      result.push_back(std::move(word));
    }
    return result;
  }

  [[nodiscard]] const UserLexicon* own_words() const override { return own_words_.get(); }

 private:
  // What is neither IPA nor Kokoro's stays as it is: a model passes over what it does not know.
  [[nodiscard]] std::string in_kokoro(const std::string& given) const {
    return to_kokoro_phonemes(given, british_).value_or(given);
  }

  [[nodiscard]] std::vector<TaggedToken> tagged(const Characters& source,
                                                std::span<const GivenPhonemes> given) const {
    const std::u32string_view text = source.characters;
    std::vector<TaggedToken> tokens;
    std::vector<DialectWord> dialect;
    size_t at = 0;
    const auto add_plain = [&](size_t end) {
      for (const TextToken& token : tokenizer_(text.substr(at, end - at))) {
        tokens.push_back({.text = text.substr(at + token.at, token.length),
                          .at = at + token.at,
                          .space_after = token.space_after,
                          .tag = {}});
      }
    };
    // Ranges that the user gave, and between them words of dialect.
    const auto add_text = [&](size_t end) {
      if (!as_misaki_) {
        for (const DialectWord& word : dialect_words(text.substr(at, end - at), british_)) {
          dialect.push_back({word.begin + at, word.end + at, word.ing, word.listed});
        }
      }
      for (const DialectWord& word : dialect) {
        std::optional<std::u32string> said = word.listed
                                                 ? std::optional(std::u32string(*word.listed))
                                                 : lexicon_.without_g(word.ing);
        if (!said || lexicon_.own(text.substr(word.begin, word.end - word.begin))) {
          continue;
        }
        add_plain(word.begin);
        tokens.push_back({.text = text.substr(word.begin, word.end - word.begin),
                          .at = word.begin,
                          .space_after = word.end < text.size() && is_python_space(text[word.end]),
                          .tag = {},
                          .given = std::move(said)});
        at = word.end;
      }
      dialect.clear();
      add_plain(end);
    };
    for (const GivenPhonemes& range : given) {
      const size_t begin = source.index_of(range.begin);
      const size_t end = std::max(source.index_of(range.end), begin + 1);
      if (begin < at || end > text.size()) {
        continue;  // inside a character that is said with the range before
      }
      add_text(begin);
      tokens.push_back({.text = text.substr(begin, end - begin),
                        .at = begin,
                        .space_after = end < text.size() && is_python_space(text[end]),
                        .tag = {},
                        .given = to_code_points(in_kokoro(range.phonemes))});
      at = end;
    }
    add_text(text.size());
    std::vector<std::u32string_view> words;
    words.reserve(tokens.size());
    for (const TaggedToken& token : tokens) {
      words.push_back(token.text);
    }
    const std::vector<std::string_view> tags = tagger_(words);
    for (size_t i = 0; i < tokens.size(); ++i) {
      tokens[i].tag = tags[i];
    }
    if (!as_misaki_) {
      settle_classes(tokens);
      read_homographs(tokens);
    }
    return lexicon_.has_own() ? with_own_words(text, tokens) : tokens;
  }

  // Tokens that together are a word of the user's, whatever stands inside it, become one.
  [[nodiscard]] std::vector<TaggedToken> with_own_words(
      std::u32string_view text, const std::vector<TaggedToken>& tokens) const {
    constexpr size_t kMostTokens = 16;
    std::vector<TaggedToken> result;
    result.reserve(tokens.size());
    for (size_t i = 0; i < tokens.size();) {
      size_t end = i + 1;
      while (end < tokens.size() && end - i < kMostTokens && !tokens[end - 1].space_after &&
             !tokens[end - 1].given && !tokens[end].given) {
        ++end;
      }
      TaggedToken token = tokens[i];
      for (; end > i + 1; --end) {
        const size_t length = tokens[end - 1].at + tokens[end - 1].text.size() - token.at;
        const std::u32string_view together = text.substr(token.at, length);
        if (auto own = lexicon_.own(together)) {
          token.text = together;
          token.space_after = tokens[end - 1].space_after;
          token.given = std::move(own);
          break;
        }
      }
      result.push_back(std::move(token));
      i = end;
    }
    return result;
  }

  // The parts of speech that tell how a word is said, by its neighbours.
  void settle_classes(std::span<TaggedToken> tokens) const {
    for (size_t i = 0; i < tokens.size(); ++i) {
      const std::u32string_view text = tokens[i].text;
      if (tokens[i].given || text.size() > kLongestSettled) {
        continue;
      }
      if (text == U"a" || text == U"A") {
        tokens[i].tag = is_letter_a(tokens, i) ? "NN" : tokens[i].tag;
      } else if (const std::u32string word = lower(text); word == U"read") {
        tokens[i].tag = tense_of_read(tokens, i);
      } else if (lexicon_.depends_on_class(word) || is_homograph_by_tag(word)) {
        tokens[i].tag = settled_tag(tokens, i).value_or(tokens[i].tag);
      }
    }
  }

  void read_homographs(std::span<TaggedToken> tokens) const {
    for (size_t i = 0; i < tokens.size(); ++i) {
      const auto reading = homograph_reading(tokens, i, british_);
      if (reading && !tokens[i].given && !lexicon_.own(tokens[i].text)) {
        tokens[i].given = *reading;
      }
    }
  }

  static constexpr size_t kLongestSettled = 16;

  EnglishTokenizer tokenizer_;
  Tagger tagger_;
  EnglishLexicon lexicon_;
  std::shared_ptr<const UserLexicon> own_words_;
  std::shared_ptr<const UnknownWords> unknown_;
  bool british_ = false;
  bool as_misaki_ = false;
};

Result<EnglishTokenizer> tokenizer_of(const std::string& path) {
  MYNAH_TRY(const std::string json, read_data_file(path));
  return EnglishTokenizer::parse(json, path);
}

// The table that T packs the file into.
template <class T>
Result<StringTable> table_of(const std::string& path, const TableSource& tables) {
  const auto pack = [&path]() -> Result<std::string> {
    MYNAH_TRY(const std::string json, read_data_file(path));
    return T::pack(json, path);
  };
  if (tables) {
    return tables(path, pack);
  }
  MYNAH_TRY(std::string bytes, pack());
  return StringTable::of(std::move(bytes));
}

Result<Pronunciations> lexicon_of(const std::string& path, const TableSource& tables) {
  MYNAH_TRY(StringTable table, table_of<Pronunciations>(path, tables));
  return Pronunciations(std::move(table));
}

Result<Tagger> tagger_of(const std::string& path, const TableSource& tables) {
  MYNAH_TRY(StringTable table, table_of<Tagger>(path, tables));
  auto tagger = Tagger::open(std::move(table));
  if (!tagger) {
    return fail(ErrorCode::InvalidInput,
                fmt::format("{}: wanted a tagger, found a table without tags", path));
  }
  return *std::move(tagger);
}

// Empty where there is no such file: an older pull.
Result<PronouncingTable> dictionary_of(const EnglishFiles& files) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(files.dictionary, error)) {
    return PronouncingTable();
  }
  MYNAH_TRY(auto file, MappedFile::open(files.dictionary));
  return PronouncingTable::open(std::move(file));
}

// On a thread of its own, or, where none can be had, when it is asked for.
template <class F>
auto in_the_background(F&& work) {
  return std::async(std::launch::async | std::launch::deferred, std::forward<F>(work));
}

}  // namespace

Result<std::unique_ptr<Phonemizer>> english_phonemizer(const EnglishFiles& files, bool british,
                                                       std::shared_ptr<const UnknownWords> unknown,
                                                       const EnglishOptions& options) {
  // Somebody waits for the first sound: the lexicons beside the tagger, which takes as long as
  // both.
  auto lexicons = in_the_background([&files, &options] {
    return std::pair(lexicon_of(files.gold, options.tables),
                     lexicon_of(files.silver, options.tables));
  });
  MYNAH_TRY(EnglishTokenizer tokenizer, tokenizer_of(files.tokenizer_exceptions));
  MYNAH_TRY(Tagger tagger, tagger_of(files.tagger, options.tables));
  std::optional<NameLexicon> names;
  if (!options.as_misaki) {
    MYNAH_TRY(PronouncingTable table, dictionary_of(files));
    names.emplace(std::move(table), british);
  }
  auto [gold_read, silver_read] = lexicons.get();
  MYNAH_TRY(Pronunciations gold, std::move(gold_read));
  MYNAH_TRY(Pronunciations silver, std::move(silver_read));
  return std::make_unique<EnglishPhonemizer>(
      std::move(tokenizer), std::move(tagger),
      EnglishLexicon(std::move(gold), std::move(silver), std::move(names), options.own_words,
                     british),
      options.own_words, std::move(unknown), british, options.as_misaki);
}

}  // namespace mynah
