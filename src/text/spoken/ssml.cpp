#include "text/spoken/ssml.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <expat.h>
#include <fmt/format.h>

#include "base/ascii.h"
#include "text/spoken/among.h"
#include "text/spoken/inline_marks.h"
#include "text/spoken/say_as.h"
#include "text/spoken/ssml_values.h"
#include "text/spoken/word_borders.h"
#include "text/utf8.h"

namespace mynah {
namespace {

// What books need is far below.
constexpr size_t kDeepest = 64;
constexpr size_t kMostWarnings = 100;

// Elements whose text is about the document, and is not for the ear.
constexpr auto kSilent =
    std::to_array<std::string_view>({"desc", "metadata", "meta", "lexicon", "title", "token-info"});

constexpr std::string_view kUnknownEntity =
    "XML knows only &amp; &lt; &gt; &quot; and &apos;; write the character itself, and &amp; for &";

// What holds inside an element.
struct Scope {
  std::string voice;
  std::string language;
  double rate = 1.0;
  double volume = 1.0;
};

// An open element.
struct Open {
  std::string name;
  Scope outside;                 // what holds behind its end
  std::optional<TextMark> mark;  // what its text is marked with
  bool silent = false;
  bool token = false;  // <token> or <w>: one word, whatever elements stand in it
};

class SsmlReader {
 public:
  explicit SsmlReader(XML_Parser parser) : parser_(parser) {
    XML_SetUserData(parser, this);
    XML_SetElementHandler(
        parser,
        [](void* self, const XML_Char* name, const XML_Char** attributes) {
          static_cast<SsmlReader*>(self)->begin(name, attributes);
        },
        [](void* self, const XML_Char*) { static_cast<SsmlReader*>(self)->end(); });
    XML_SetCharacterDataHandler(parser, [](void* self, const XML_Char* text, int size) {
      static_cast<SsmlReader*>(self)->characters({text, static_cast<size_t>(size)});
    });
    XML_SetStartDoctypeDeclHandler(parser, [](void* self, const XML_Char*, const XML_Char*,
                                              const XML_Char*, int declares) {
      if (declares != 0) {
        static_cast<SsmlReader*>(self)->refuse(
            "a document type (<!DOCTYPE) with declarations is not read, as its entities could grow "
            "without bound; take it out and write characters instead of entities of your own");
      }
    });
    // Behind a document type that names a file: expat does not read that, nor does it know what the
    // file would declare.
    XML_SetSkippedEntityHandler(parser, [](void* self, const XML_Char*, int) {
      static_cast<SsmlReader*>(self)->refuse(std::string(kUnknownEntity));
    });
  }

  Result<SpeakScript> read(std::string_view document) {
    // Expat takes an int's worth at a time.
    constexpr size_t kChunk = size_t{1} << 20;
    for (size_t at = 0; at < document.size() || at == 0; at += kChunk) {
      const std::string_view chunk = document.substr(at, kChunk);
      const bool last = at + kChunk >= document.size();
      if (XML_Parse(parser_, chunk.data(), static_cast<int>(chunk.size()), last ? 1 : 0) ==
          XML_STATUS_OK) {
        continue;
      }
      if (!fault_.empty()) {
        return fail(ErrorCode::InvalidInput, fault_);
      }
      return fail(ErrorCode::InvalidInput, place() + explain(XML_GetErrorCode(parser_)));
    }
    end_part(true);
    return std::move(script_);
  }

 private:
  [[nodiscard]] std::string place() const {
    return fmt::format("SSML line {}, column {}: ", XML_GetCurrentLineNumber(parser_),
                       XML_GetCurrentColumnNumber(parser_) + 1);
  }

  [[nodiscard]] std::string explain(XML_Error error) const {
    switch (error) {
      case XML_ERROR_NO_ELEMENTS:
        return "the document ends before </speak>; write <speak>...</speak>";
      case XML_ERROR_TAG_MISMATCH:
        return open_.empty() ? "an element is closed that is not open"
                             : fmt::format(
                                   "</{}> was expected here; close elements in the order "
                                   "in which they were opened, the last one first",
                                   open_.back().name);
      case XML_ERROR_UNDEFINED_ENTITY:
        return std::string(kUnknownEntity);
      case XML_ERROR_JUNK_AFTER_DOC_ELEMENT:
        return "something stands behind </speak>; put everything into one <speak>";
      case XML_ERROR_SYNTAX:
      case XML_ERROR_INVALID_TOKEN:
        return open_.empty() ? "no element begins here; put the text into <speak>...</speak>"
                             : "this is not well-formed; write &amp; for & and &lt; for <, put "
                               "values of attributes into quotes, and save the text as UTF-8";
      default:
        return std::string(XML_ErrorString(error)) + "; the document must be well-formed XML";
    }
  }

  // Ends the parse with an error at this place.
  void refuse(const std::string& reason) {
    if (fault_.empty()) {
      fault_ = place() + reason;
      XML_StopParser(parser_, XML_FALSE);
    }
  }

  void warn(std::string warning) {
    if (script_.warnings.size() < kMostWarnings &&
        std::ranges::find(script_.warnings, warning) == script_.warnings.end()) {
      script_.warnings.push_back(std::move(warning));
    }
  }

  void begin(std::string_view name, const XML_Char** list) {
    SsmlAttributes attributes;
    for (size_t i = 0; list[i] != nullptr; i += 2) {
      attributes.emplace_back(list[i], list[i + 1]);
    }
    if (open_.size() >= kDeepest) {
      refuse(fmt::format("elements are nested more than {} deep", kDeepest));
      return;
    }
    if (open_.empty() && name != "speak") {
      refuse(fmt::format("the first element is <{}>, and SSML begins with <speak>", name));
      return;
    }
    Open element{.name = std::string(name), .outside = scope_, .mark = {}};
    element.silent = (!open_.empty() && open_.back().silent) || among(kSilent, name);
    touch_tag();
    element.token = name == "token" || name == "w" || (!open_.empty() && open_.back().token);
    const bool block = name == "p" || name == "s" || name == "paragraph" || name == "sentence";
    if (block) {
      end_part(false);
    }
    follow(name, attributes, element);
    if (const std::string* language = find_attribute(attributes, "xml:lang")) {
      change([&] { scope_.language = *language; });
    }
    open_.push_back(std::move(element));
  }

  // What the element asks for.
  void follow(std::string_view name, const SsmlAttributes& attributes, Open& element) {
    constexpr auto kStructure = std::to_array<std::string_view>(
        {"speak", "p", "s", "paragraph", "sentence", "lang", "token", "w", "desc", "metadata"});
    if (name == "break") {
      add_break(attributes);
    } else if (name == "prosody") {
      add_prosody(attributes);
    } else if (name == "say-as") {
      element.mark = say_as_mark(attributes);
    } else if (name == "phoneme") {
      element.mark = phoneme_mark(attributes);
    } else if (name == "sub") {
      if (const std::string* alias = needed(attributes, "sub", "alias")) {
        element.mark = mark_here(TextMark::Kind::Substitute, *alias);
      }
    } else if (name == "voice") {
      if (const std::string* voice = find_attribute(attributes, "name")) {
        change([&] { scope_.voice = *voice; });
      } else {
        warn("<voice> without a name is ignored; mynah voices lists them");
      }
    } else if (!among(kStructure, name)) {
      warn(fmt::format("<{}> is ignored", name));
    }
  }

  void end() {
    // Expat ends an empty element though its begin was refused.
    if (!fault_.empty()) {
      return;
    }
    Open element = std::move(open_.back());
    open_.pop_back();
    touch_tag();
    const std::string_view name = element.name;
    if (element.mark && element.mark->begin < part_.text.size()) {
      // Marks do not nest: the outer one counts.
      std::erase_if(part_.marks,
                    [&](const TextMark& mark) { return mark.begin >= element.mark->begin; });
      element.mark->end = part_.text.size();
      part_.marks.push_back(std::move(*element.mark));
    }
    const bool paragraph = name == "p" || name == "paragraph";
    if (paragraph || name == "s" || name == "sentence") {
      end_part(paragraph);
    }
    change([&] { scope_ = element.outside; });
  }

  // A begin or end of an element, where words end (SSML 1.1, 1.2 step 3: tokens do not go across
  // tags but inside of <token> and <w>).
  void touch_tag() { at_tag_ = at_tag_ || open_.empty() || !open_.back().token; }

  // "<emphasis>big</emphasis><audio>dog</audio>" is two words: a space comes between them.
  void separate_words(std::string_view text, size_t source) {
    if (!std::exchange(at_tag_, false) || part_.text.empty()) {
      return;
    }
    size_t last = part_.text.size() - 1;
    while (last > 0 && (static_cast<unsigned char>(part_.text[last]) & 0xC0U) == 0x80U) {
      --last;
    }
    const char32_t before = next_code_point(std::string_view(part_.text).substr(last)).code_point;
    if (!is_word_border(before, next_code_point(text).code_point)) {
      return;
    }
    for (Open& element : open_) {
      if (element.mark && element.mark->begin == part_.text.size()) {
        ++element.mark->begin;
      }
    }
    part_.text += ' ';
    part_.source.add(1, {source, source});
  }

  // White space is one space, as elements are often on lines of their own.
  void characters(std::string_view text) {
    if (!fault_.empty() || open_.empty() || open_.back().silent) {
      return;
    }
    const auto begin = static_cast<size_t>(XML_GetCurrentByteIndex(parser_));
    const auto bytes = static_cast<size_t>(XML_GetCurrentByteCount(parser_));
    const bool copied = bytes == text.size();
    separate_words(text, begin);
    for (size_t i = 0; i < text.size(); ++i) {
      const bool space = is_ascii_space(text[i]);
      if (space && (part_.text.empty() || part_.text.back() == ' ')) {
        continue;
      }
      part_.text += space ? ' ' : text[i];
      part_.source.add(
          1, copied ? ByteRange{begin + i, begin + i + 1} : ByteRange{begin, begin + bytes});
    }
  }

  // Ends the part where the change is one.
  template <class Change>
  void change(Change apply) {
    const Scope before = scope_;
    apply();
    if (before.voice != scope_.voice || before.language != scope_.language ||
        before.rate != scope_.rate || before.volume != scope_.volume) {
      Scope now = std::exchange(scope_, before);
      end_part(false);
      scope_ = std::move(now);
    }
  }

  void end_part(bool paragraph) {
    if (part_.text.find_first_not_of(' ') != std::string::npos) {
      part_.ends_paragraph = paragraph;
      add_part(std::move(part_));
    } else if (paragraph && !script_.parts.empty()) {
      script_.parts.back().ends_paragraph = true;
    }
    part_ = SpeakPart{};
    // A mark that is open goes on in the next part.
    for (Open& element : open_) {
      if (element.mark) {
        element.mark->begin = 0;
      }
    }
  }

  void add_part(SpeakPart part) {
    part.voice = scope_.voice;
    part.language = scope_.language;
    part.rate = scope_.rate;
    part.volume = scope_.volume;
    script_.parts.push_back(std::move(part));
  }

  void add_break(const SsmlAttributes& attributes) {
    const SsmlValue seconds = break_seconds(attributes);
    if (!seconds.fault.empty()) {
      refuse(seconds.fault);
      return;
    }
    end_part(false);
    SpeakPart part;
    part.kind = SpeakPart::Kind::Pause;
    part.pause_s = std::min(seconds.value, kLongestPause_s);
    if (seconds.value > kLongestPause_s) {
      warn(fmt::format("a break of {} s is cut to {} s", seconds.value, kLongestPause_s));
    }
    add_part(std::move(part));
  }

  void add_prosody(const SsmlAttributes& attributes) {
    Scope next = scope_;
    for (const auto& [name, value] : attributes) {
      if (name == "rate" || name == "volume") {
        const SsmlValue factor = name == "rate" ? rate_factor(value) : volume_factor(value);
        if (!factor.fault.empty()) {
          refuse(factor.fault);
          return;
        }
        (name == "rate" ? next.rate : next.volume) *= factor.value;
      } else if (name != "xml:lang") {
        warn(fmt::format("prosody's {} is ignored: the voices have no control of it", name));
      }
    }
    const double rate = std::clamp(next.rate, kLeastRate, kMostRate);
    if (rate != next.rate) {
      warn(fmt::format("a rate of {:.3g} is taken as {}: it goes from 0.25 to 4", next.rate, rate));
    }
    next.rate = rate;
    next.volume = std::min(next.volume, kMostVolume);
    change([&] { scope_ = next; });
  }

  const std::string* needed(const SsmlAttributes& attributes, std::string_view element,
                            std::string_view name) {
    const std::string* value = find_attribute(attributes, name);
    if (value == nullptr) {
      refuse(fmt::format("<{}> has no {}; write <{} {}=\"...\">", element, name, element, name));
    }
    return value;
  }

  [[nodiscard]] TextMark mark_here(TextMark::Kind kind, std::string value) const {
    return {.kind = kind,
            .begin = part_.text.size(),
            .end = part_.text.size(),
            .value = std::move(value),
            .format = {}};
  }

  std::optional<TextMark> say_as_mark(const SsmlAttributes& attributes) {
    const std::string* value = needed(attributes, "say-as", "interpret-as");
    if (value == nullptr) {
      return std::nullopt;
    }
    if (!is_known_say_as(*value)) {
      warn(fmt::format("say-as interpret-as=\"{}\" is ignored: its text is read as any other",
                       *value));
      return std::nullopt;
    }
    TextMark mark = mark_here(TextMark::Kind::SayAs, *value);
    const std::string* format = find_attribute(attributes, "format");
    mark.format = format == nullptr ? "" : *format;
    return mark;
  }

  std::optional<TextMark> phoneme_mark(const SsmlAttributes& attributes) {
    const std::string* phonemes = needed(attributes, "phoneme", "ph");
    const std::string* alphabet = find_attribute(attributes, "alphabet");
    if (phonemes == nullptr) {
      return std::nullopt;
    }
    if (alphabet != nullptr && *alphabet != "ipa" && *alphabet != "x-kokoro") {
      warn(
          fmt::format("phoneme alphabet=\"{}\" is ignored: ipa and x-kokoro are known", *alphabet));
      return std::nullopt;
    }
    return mark_here(TextMark::Kind::Phonemes, *phonemes);
  }

  XML_Parser parser_;
  SpeakScript script_;
  SpeakPart part_;
  Scope scope_;
  std::vector<Open> open_;
  bool at_tag_ = false;  // a tag that ends words came since the last text
  std::string fault_;
};

constexpr std::string_view kDocumentType = "<!DOCTYPE";

// One past a document type with its inner declarations; npos where it does not end.
size_t document_type_end(std::string_view text) {
  bool inner = false;
  char quote = 0;
  for (size_t i = kDocumentType.size(); i < text.size(); ++i) {
    const char c = text[i];
    if (quote != 0) {
      quote = c == quote ? '\0' : quote;
    } else if (c == '"' || c == '\'') {
      quote = c;
    } else if (c == '[' || c == ']') {
      inner = c == '[';
    } else if (c == '>' && !inner) {
      return i + 1;
    }
  }
  return std::string_view::npos;
}

}  // namespace

SsmlSign look_for_ssml(std::string_view text, bool whole) {
  const SsmlSign open = whole ? SsmlSign::No : SsmlSign::NeedsMore;
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  constexpr std::string_view kSpeak = "<speak";
  if (text.starts_with(kByteOrderMark)) {
    text.remove_prefix(kByteOrderMark.size());
  }
  while (true) {
    while (!text.empty() && is_ascii_space(text.front())) {
      text.remove_prefix(1);
    }
    size_t end = std::string_view::npos;
    if (text.starts_with("<!--")) {
      end = text.find("-->", 4);
      end += end == std::string_view::npos ? 0 : 3;
    } else if (text.starts_with("<?")) {
      end = text.find("?>", 2);
      end += end == std::string_view::npos ? 0 : 2;
    } else if (text.starts_with(kDocumentType)) {
      end = document_type_end(text);
    } else {
      break;
    }
    if (end == std::string_view::npos) {
      return open;
    }
    text.remove_prefix(end);
  }
  const auto begun = [&](std::string_view mark) {
    return text.size() < mark.size() && mark.starts_with(text);
  };
  if (begun("<!--") || begun(kDocumentType) || begun(kByteOrderMark) || text == kSpeak ||
      begun(kSpeak)) {
    return open;
  }
  const bool speak =
      text.starts_with(kSpeak) && (is_ascii_space(text[kSpeak.size()]) ||
                                   text[kSpeak.size()] == '>' || text[kSpeak.size()] == '/');
  return speak ? SsmlSign::Yes : SsmlSign::No;
}

Result<SpeakScript> parse_ssml(std::string_view document) {
  const std::unique_ptr<XML_ParserStruct, decltype(&XML_ParserFree)> parser(
      XML_ParserCreate("UTF-8"), &XML_ParserFree);
  if (!parser) {
    return fail(ErrorCode::OutOfMemory, "no memory for reading SSML");
  }
  return SsmlReader(parser.get()).read(document);
}

}  // namespace mynah
