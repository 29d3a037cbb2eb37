// What `mynah speak` says and where it goes: a document, a text as it comes, cues at their times.
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "cli/hear/language_codes.h"
#include "cli/placement/placement_answer.h"
#include "cli/speak/speak.h"
#include "cli/speak/speak_book.h"
#include "cli/speak/speak_observer.h"
#include "engine/synthesizer.h"
#include "speech/languages.h"

namespace mynah::cli {

namespace {

// A text that is gathered whole, as m4b wants it.
constexpr size_t kMostTextBytes = size_t{64} << 20;

// "und" is nobody's language, and voices go by two letters.
constexpr size_t kLetters = 2;

}  // namespace

Result<std::optional<Document>> SpeakCommand::read_document_of(const Context& context) const {
  if (writes_lines() || keep_times_) {
    return std::nullopt;
  }
  return input_.read_document(context);
}

void SpeakCommand::follow_language(const std::optional<Document>& document,
                                   const Context& context) {
  std::string& language = voice_.speak.language;
  language = language_code_of_name(language);
  if (!document || !language.empty() || primary_language(document->language).size() != kLetters ||
      voice_.phonemes) {
    return;
  }
  if (engine::speaks_language(engine_, document->language, context.environment)) {
    language = document->language;
  } else {
    context.say(fmt::format(
        "the text is in '{}', as it says, which {} here does not speak: it is "
        "read as the voice reads; --lang {} tries all the same",
        document->language, engine_.voice.empty() ? "a voice" : "voice " + engine_.voice,
        primary_language(document->language)));
  }
}

void SpeakCommand::tell_voice(const std::optional<Document>& document,
                              const engine::OpenedSynthesizer& engine, const VoiceFacts& voice,
                              const Context& context) const {
  if (document) {
    tell_language(*document, voice, context);
  }
  if (explain_) {
    say_each(context, engine.explanation);
    context.say(fmt::format("voice {}, {}", voice.name, voice.language));
  }
}

void SpeakCommand::tell_language(const Document& document, const VoiceFacts& voice,
                                 const Context& context) const {
  const std::string own = primary_language(document.language);
  const std::string& read = voice_.speak.language;
  if (own.size() != kLetters || voice_.phonemes || engine_.placement.quiet) {
    return;
  }
  if (!read.empty() && primary_language(read) != own) {
    context.say(fmt::format("the text is in '{}', as it says, and read as '{}', as --lang says",
                            document.language, read));
  } else if (!read.empty() && primary_language(voice.language) != own) {
    context.say(
        fmt::format("the text is in '{}', as it says, and voice {} is of '{}': it is read "
                    "in its language, with the voice's accent; `mynah voices --lang {}` "
                    "lists others",
                    document.language, voice.name, voice.language, own));
  }
}

Result<Document> SpeakCommand::whole_text(const Context& context, SpeakOptions& options) const {
  Document document;
  document.chapters.emplace_back();
  std::string& whole = document.chapters.front().text;
  MYNAH_TRY_STATUS(input_.read(
      context, options.kind,
      [&options](TextKind kind) -> Status {
        options.kind = kind;
        return {};
      },
      [&whole](std::string_view text) -> Status {
        whole += text;
        if (whole.size() > kMostTextBytes) {
          return fail(ErrorCode::InvalidInput,
                      fmt::format("wanted at most {} MB of text", kMostTextBytes >> 20U));
        }
        return {};
      }));
  return document;
}

Status SpeakCommand::check_cues() const {
  if (!keep_times_) {
    return {};
  }
  const std::string path = input_.path();
  if (!path.empty() && path != "-" && !input_.may_be_subtitles()) {
    return fail(
        ErrorCode::Usage,
        fmt::format("--keep-times wants subtitles (.srt, .vtt, .ass ...), {} is none", path));
  }
  if (writes_lines() || sound_.out.ends_with('/')) {
    return fail(ErrorCode::Usage,
                "--keep-times makes one sound of all cues: wanted --out FILE, found a folder or "
                "--json-input");
  }
  return {};
}

Result<std::optional<Subtitles>> SpeakCommand::read_cues(const Context& context) const {
  if (!keep_times_) {
    return std::nullopt;
  }
  MYNAH_TRY(Subtitles subtitles, input_.read_subtitles(context));
  say_each(context, subtitles.warnings);
  if (subtitles.cues.empty()) {
    return fail(ErrorCode::InvalidInput, "its cues have no text");
  }
  return subtitles;
}

Status SpeakCommand::speak_text(const Synthesizer& synthesizer,
                                const std::optional<Document>& document, SpeakOptions options,
                                SpeakObserver& observer, const Context& context) const {
  if (document) {
    MYNAH_TRY(const auto session, synthesizer.session(options, observer, context.stop));
    observer.begin();
    // Between two chapters as in a book that is written to a file.
    const std::string between = options.kind == TextKind::Plain
                                    ? fmt::format("\n\n[pause:{}s]\n\n", kChapterSilence_s)
                                    : "\n\n";
    for (const Chapter& chapter : document->chapters) {
      const bool first = &chapter == &document->chapters.front();
      MYNAH_TRY_STATUS(session->push(first ? chapter.text : between + chapter.text));
    }
    return session->finish();
  }
  std::unique_ptr<Synthesizer::Session> session;
  MYNAH_TRY_STATUS(input_.read(
      context, options.kind,
      [&](TextKind kind) -> Status {
        options.kind = kind;
        MYNAH_TRY(session, synthesizer.session(options, observer, context.stop));
        observer.begin();
        return {};
      },
      [&](std::string_view text) { return session->push(text); }));
  return session ? session->finish() : Status{};
}

Result<std::unique_ptr<SpeakObserver>> SpeakCommand::open_outputs(
    Context& context, const SoundWriterOptions& writer) const {
  std::vector<std::unique_ptr<SoundOutput>> outputs;
  const std::string path = streams(context) ? "-" : sound_.out;
  if (!path.empty()) {
    MYNAH_TRY(auto output, sound_.is_m4b() ? open_book_output(path, writer.rate_hz)
                                           : open_sound_output(path, context.out, writer));
    outputs.push_back(std::move(output));
  }
  if (plays(context)) {
    MYNAH_TRY(auto output, open_player(sound_.player, writer.rate_hz));
    outputs.push_back(std::move(output));
  }
  const bool captions = !sound_.captions.srt.empty() || !sound_.captions.vtt.empty();
  return std::make_unique<SpeakObserver>(context, std::move(outputs), writer.rate_hz, captions);
}

}  // namespace mynah::cli
