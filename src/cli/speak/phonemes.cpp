#include "cli/speak/phonemes.h"

#include <map>
#include <optional>
#include <set>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/hear/language_codes.h"
#include "cli/models/store_access.h"
#include "cli/placement/engine_fields.h"
#include "cli/speak/speak_options.h"
#include "engine/store_folders.h"
#include "place/workers/open_device.h"
#include "speech/kokoro_phonemizers.h"
#include "speech/languages.h"
#include "speech/text_reader.h"
#include "store/catalogue.h"
#include "store/speech_models.h"
#include "store/store.h"
#include "text/documents/document.h"
#include "text/spoken/inline_marks.h"
#include "text/spoken/markup.h"
#include "text/spoken/sentences.h"
#include "text/spoken/ssml.h"

namespace mynah::cli {

namespace {

using Json = nlohmann::ordered_json;

// A text on its way to lines of phonemes, with what marks and SSML say of how it is read; voices,
// rates and pauses change no phoneme.
class PhonemePrinter {
 public:
  PhonemePrinter(PhonemizerSource phonemizers, std::string language, ReadingOptions reading,
                 TextKind kind, Context& context)
      : phonemizers_(std::move(phonemizers)),
        language_(std::move(language)),
        reading_(reading),
        kind_(kind),
        context_(context),
        foreign_(phonemizers_),
        splitter_({.language = language_.substr(0, language_.find('-'))}) {
    if (kind == TextKind::Markdown || kind == TextKind::Html) {
      markup_.emplace(
          MarkupOptions{.kind = kind == TextKind::Html ? MarkupKind::Html : MarkupKind::Markdown});
    }
  }

  Status push(std::string_view text) {
    if (kind_ == TextKind::Ssml) {
      if (document_.size() + text.size() > kMostSsmlBytes) {
        return fail(ErrorCode::InvalidInput,
                    fmt::format("wanted SSML of at most {} MB, found more", kMostSsmlBytes >> 20U));
      }
      document_ += text;
      return {};
    }
    return print(splitter_.push(markup_ ? markup_->push(text) : std::string(text)));
  }

  Status finish() {
    if (kind_ == TextKind::Ssml) {
      MYNAH_TRY_STATUS(print_document());
    }
    if (markup_) {
      MYNAH_TRY_STATUS(print(splitter_.push(markup_->finish())));
    }
    MYNAH_TRY_STATUS(print(splitter_.finish()));
    if (const std::string warning = foreign_.warning(); !warning.empty()) {
      context_.say(warning);
    }
    return {};
  }

 private:
  // Sentences of plain text, in which marks may stand.
  Status print(std::span<const Sentence> sentences) {
    for (const Sentence& sentence : sentences) {
      const SpeakScript script = marks_.read(sentence.text, sentence.begin);
      warn(script.warnings);
      std::vector<PhonemeWord> words;
      for (const SpeakPart& part : script.parts) {
        MYNAH_TRY_STATUS(read(part, part.text, 0, words));
      }
      MYNAH_TRY_STATUS(print(sentence.text, words));
    }
    return {};
  }

  Status print_document() {
    MYNAH_TRY(const SpeakScript script, parse_ssml(std::exchange(document_, {})));
    warn(script.warnings);
    for (const SpeakPart& part : script.parts) {
      const std::string& language = part.language.empty() ? language_ : part.language;
      for (const Sentence& sentence :
           split_sentences(part.text, {.language = language.substr(0, language.find('-'))})) {
        std::vector<PhonemeWord> words;
        MYNAH_TRY_STATUS(read(part, sentence.text, sentence.begin, words));
        MYNAH_TRY_STATUS(print(sentence.text, words));
      }
    }
    return {};
  }

  // Adds the words of a stretch of a part; their places become bytes of the whole text.
  Status read(const SpeakPart& part, const std::string& text, size_t begin,
              std::vector<PhonemeWord>& words) {
    if (text.empty()) {
      return {};
    }
    MYNAH_TRY(const TextReader* reader,
              reader_for(part.language.empty() ? language_ : part.language));
    MYNAH_TRY(
        std::vector<PhonemeWord> read,
        reader->read(text, marks_within(part.marks, {.begin = begin, .end = begin + text.size()}),
                     foreign_));
    if (!words.empty()) {
      words.back().space_after = true;
    }
    for (PhonemeWord& word : read) {
      const ByteRange plain =
          part.source.source_of({.begin = begin + word.begin, .end = begin + word.end});
      const ByteRange source = markup_ ? markup_->source_of(plain) : plain;
      word.begin = source.begin;
      word.end = source.end;
      words.push_back(std::move(word));
    }
    return {};
  }

  Result<const TextReader*> reader_for(const std::string& language) {
    auto known = readers_.find(language);
    if (known == readers_.end()) {
      MYNAH_TRY(auto phonemizer, phonemizers_(language));
      known =
          readers_.emplace(language, TextReader(std::move(phonemizer), language, reading_)).first;
    }
    return &known->second;
  }

  Status print(const std::string& text, std::span<const PhonemeWord> words) {
    if (context_.stop.stop_requested()) {
      return fail(ErrorCode::Cancelled, "stopped");
    }
    if (!context_.json) {
      context_.out.line(joined(words));
      return {};
    }
    Json list = Json::array();
    for (const PhonemeWord& word : words) {
      list.push_back({{"word", word.text},
                      {"phonemes", word.phonemes},
                      {"begin", word.begin},
                      {"end", word.end}});
    }
    const Json sentence = {{"text", text}, {"phonemes", joined(words)}, {"words", std::move(list)}};
    context_.out.line(sentence.dump(-1, ' ', false, Json::error_handler_t::replace));
    return {};
  }

  void warn(std::span<const std::string> warnings) {
    for (const std::string& warning : warnings) {
      if (warned_.insert(warning).second) {
        context_.say(warning);
      }
    }
  }

  PhonemizerSource phonemizers_;
  std::string language_;
  ReadingOptions reading_;
  TextKind kind_;
  Context& context_;
  ForeignWords foreign_;
  std::map<std::string, TextReader> readers_;  // by language
  std::set<std::string> warned_;
  SentenceSplitter splitter_;
  InlineMarks marks_;
  std::optional<MarkupFilter> markup_;
  std::string document_;  // SSML, which is read as a whole
};

}  // namespace

void PhonemesCommand::fields(Fields& fields) {
  input_.fields(fields, "read");
  lexicon_field(fields, lexicon_);
  fields
      .option("lang", "LANGUAGE", language_,
              "Language of the text, such as en-gb or de; empty: the document's own, else en-us.")
      .also("language")
      .shorter('l');
  fields.flag(
      "normalize", reading_.normalize,
      "Say numbers, signs and short forms in words; --no-normalize leaves them as they are.");
  emoji_field(fields, reading_.emoji);
  markup_field(fields, kind_);
}

std::string PhonemesCommand::details() const {
  return "Prints a line a sentence, in the alphabet of Kokoro's voices, as `mynah speak "
         "--phonemes`\n"
         "takes it. Marks, SSML and documents are followed as `mynah speak` does. With --json "
         "each\n"
         "sentence is an object with its words and where they stand in the text, in bytes.\n";
}

Result<int> PhonemesCommand::run(Context& context) {
  MYNAH_TRY_STATUS(input_.check("read", context));
  language_ = language_code_of_name(language_);
  const Store store(engine::store_folders(context.environment));
  MYNAH_TRY(const place::OpenedDevice device, place::open_device("cpu", place::DeviceSettings{}));
  const auto lexicons = store.find(kEnglishPhonemes);
  const PhonemizerSource phonemizers =
      kokoro_phonemizers({.phonemes = lexicons ? lexicons->path() : std::string(),
                          .dictionary = installed_dictionary(store),
                          .cache = store.folders().cache},
                         lexicon_, *device.backend);
  MYNAH_TRY(const std::optional<Document> document, input_.read_document(context));
  const std::string language = language_of(document, phonemizers, context);
  // What cannot be read at all is told before any text is.
  if (const auto phonemizer = phonemizers(language); !phonemizer) {
    return std::unexpected(phonemizer.error());
  }
  const Status read = print(phonemizers, document, language, context);
  if (!read) {
    return context.stop.stop_requested() ? Result<int>(context.stopped_exit_code())
                                         : std::unexpected(read.error());
  }
  return 0;
}

std::string PhonemesCommand::language_of(const std::optional<Document>& document,
                                         const PhonemizerSource& phonemizers,
                                         const Context& context) const {
  if (!language_.empty()) {
    return language_;
  }
  // "und" is nobody's language.
  constexpr size_t kLetters = 2;
  if (document && primary_language(document->language).size() == kLetters) {
    if (phonemizers(document->language)) {
      return document->language;
    }
    context.say(
        fmt::format("the text is in '{}', as it says, which cannot be read here: it is "
                    "read as English; --lang {} says why",
                    document->language, primary_language(document->language)));
  }
  return "en-US";
}

Status PhonemesCommand::print(const PhonemizerSource& phonemizers,
                              const std::optional<Document>& document, const std::string& language,
                              Context& context) const {
  if (document) {
    PhonemePrinter printer(phonemizers, language, reading_, kind_, context);
    for (const Chapter& chapter : document->chapters) {
      MYNAH_TRY_STATUS(printer.push(chapter.text + "\n\n"));
    }
    return printer.finish();
  }
  std::optional<PhonemePrinter> printer;
  MYNAH_TRY_STATUS(input_.read(
      context, kind_,
      [&](TextKind kind) -> Status {
        printer.emplace(phonemizers, language, reading_, kind, context);
        return {};
      },
      [&](std::string_view text) { return printer->push(text); }));
  return printer ? printer->finish() : Status{};
}

}  // namespace mynah::cli
