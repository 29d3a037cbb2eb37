#include "cli/speak.h"

#include <chrono>
#include <filesystem>
#include <memory>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>
#include <sys/resource.h>

#include "cli/error_codes.h"
#include "cli/progress.h"
#include "cli/sound_output.h"
#include "cli/speak_book.h"
#include "cli/speak_lines.h"
#include "text/spoken/ssml.h"

namespace mynah::cli {

namespace {

using Json = nlohmann::ordered_json;
using Clock = std::chrono::steady_clock;

// About two seconds of speech: on two cores it is there within a third of a second.
constexpr size_t kFirstPhonemes = 32;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

// A voice that is not there and a number out of range are slips of the command line here.
Error as_usage(Error error) {
  if (error.code == ErrorCode::NotFound || error.code == ErrorCode::InvalidInput) {
    error.code = ErrorCode::Usage;
  }
  return error;
}

double peak_memory_mb() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

bool is_m4b(const SoundOptions& sound) {
  return sound.format ? *sound.format == "m4b" : sound.out.ends_with(".m4b");
}

}  // namespace

// Takes clauses to the outputs, and keeps what captions and --json want of them.
class SpeakObserver final : public SpeechObserver {
 public:
  SpeakObserver(Context& context, std::vector<std::unique_ptr<SoundOutput>> outputs, int rate_hz,
                bool captions)
      : context_(context),
        outputs_(std::move(outputs)),
        rate_hz_(rate_hz),
        captions_(captions),
        begin_(Clock::now()) {}

  Status on_clause(const SpokenClause& clause) override {
    for (const auto& output : outputs_) {
      MYNAH_TRY_STATUS(output->write(clause.samples));
    }
    if (samples_ == 0) {
      first_s_ = seconds_since(begin_);
    }
    samples_ += clause.samples.size();
    if (context_.json) {
      context_.out.line(
          to_json(clause).dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
      context_.out.flush();
    }
    if (captions_) {
      transcript_.segments.push_back(
          segment_of(clause, static_cast<int64_t>(transcript_.segments.size())));
    }
    return {};
  }

  void on_warning(const std::string& text) override { context_.say(text); }

  // Text comes now: everything is loaded.
  void begin() { begin_ = Clock::now(); }

  Status finish() {
    for (const auto& output : outputs_) {
      MYNAH_TRY_STATUS(output->finish());
    }
    spent_s_ = seconds_since(begin_);
    transcript_.duration_s = duration_s();
    return {};
  }

  [[nodiscard]] double duration_s() const { return static_cast<double>(samples_) / rate_hz_; }

  [[nodiscard]] double first_s() const { return first_s_; }

  [[nodiscard]] double spent_s() const { return spent_s_; }

  [[nodiscard]] const Transcript& transcript() const { return transcript_; }

  [[nodiscard]] std::string names() const {
    std::vector<std::string> names;
    for (const auto& output : outputs_) {
      names.push_back(output->name());
    }
    return fmt::format("{}", fmt::join(names, " and "));
  }

 private:
  Context& context_;
  std::vector<std::unique_ptr<SoundOutput>> outputs_;
  int rate_hz_;
  bool captions_;
  Clock::time_point begin_;
  size_t samples_ = 0;
  double first_s_ = 0;
  double spent_s_ = 0;
  Transcript transcript_;
};

void SpeakCommand::fields(Fields& fields) {
  input_.fields(fields, "say");
  voice_.fields(fields);
  sound_.fields(fields);
  fields.flag("explain", explain_, "Say which model, voice and device were chosen, and why.")
      .once();
  engine_.fields(fields);
}

std::string SpeakCommand::details() const {
  return "A WAV on a pipe has sizes of 0xFFFFFFFF in its header, as its length is not known when "
         "it\n"
         "begins; a file has the true ones.\n\n"
         "With --json each clause is a line on standard output: its text, its times, its words "
         "and\n"
         "their phonemes; the last line has the whole's.\n";
}

bool SpeakCommand::streams(const Context& context) const {
  if (!sound_.folder.empty() || sound_.json_lines) {
    return false;
  }
  if (!sound_.out.empty()) {
    return sound_.out == "-";
  }
  return !sound_.play && !context.json && !context.out.is_terminal();
}

bool SpeakCommand::plays(const Context& context) const {
  const bool files = !sound_.folder.empty() || sound_.json_lines || !sound_.out.empty();
  return sound_.play || (!files && !streams(context));
}

Status SpeakCommand::check(const Context& context) const {
  MYNAH_TRY_STATUS(input_.check("say"));
  if (!sound_.folder.empty() && (!sound_.out.empty() || sound_.play)) {
    return fail(ErrorCode::Usage, "wanted --out, --play or --output-dir, found two of them");
  }
  if (context.json && streams(context)) {
    return fail(ErrorCode::Usage,
                "--json and the sound both want standard output: write the sound with --out FILE");
  }
  if (engine_.threads < 0 || engine_.threads > 1024) {
    return fail(ErrorCode::Usage,
                fmt::format("--threads: wanted 0 to 1024, found {}", engine_.threads));
  }
  return {};
}

// A long text that goes to a file, and can be taken up; one that is heard at once is spoken as it
// comes.
std::string SpeakCommand::document_path() const {
  if (!input_.file.empty()) {
    return has_document_extension(input_.file) ? input_.file : std::string();
  }
  std::error_code error;
  const bool file = input_.words.size() == 1 && has_document_extension(input_.words.front()) &&
                    std::filesystem::is_regular_file(input_.words.front(), error);
  return file ? input_.words.front() : std::string();
}

Result<int> SpeakCommand::speak_document(Context& context, const SpeechEngine& engine,
                                         const SpeakOptions& options, const VoiceFacts& voice) {
  const std::string path = document_path();
  MYNAH_TRY(const Document document, read_document(path));
  if (document.chapters.empty()) {
    return fail(ErrorCode::InvalidInput, path + ": has no text");
  }
  const bool m4b = is_m4b(sound_);
  SoundFormat format = SoundFormat::Wav;
  if (!m4b) {
    MYNAH_TRY(format, sound_.format_of());
  }
  const std::string device = engine.backend ? engine.backend->device().str() : "cpu";
  MYNAH_TRY(const SpokenBook book,
            speak_book(document,
                       {.name = path,
                        .out = sound_.out,
                        .m4b = m4b,
                        .format = format,
                        .rate_hz = sound_.rate_hz,
                        .captions = sound_.captions,
                        .speak = options,
                        .voice = engine.synthesizer->model().name() + " " + voice.name,
                        .progress = !context.json},
                       *engine.synthesizer, context));
  if (context.json) {
    context.out.line(Json{{"duration", book.duration_s},
                          {"chapters", book.chapters},
                          {"files", book.files},
                          {"resumed", book.resumed_s},
                          {"voice", voice.name},
                          {"model", engine.synthesizer->model().name()},
                          {"device", device},
                          {"milliseconds", 1e3 * book.spent_s}}
                         .dump());
  } else {
    context.say(
        fmt::format("{}: {} in {} to {}, voice {} on {}", path, short_duration(book.duration_s),
                    book.chapters == 1 ? "one part" : fmt::format("{} chapters", book.chapters),
                    book.files.size() == 1 ? book.files.front() : sound_.out, voice.name, device));
  }
  return 0;
}

Result<int> SpeakCommand::speak_lines(Context& context, const SpeechEngine& engine,
                                      const SpeakOptions& options, SoundFormat format) const {
  if (!sound_.folder.empty()) {
    std::error_code error;
    std::filesystem::create_directories(sound_.folder, error);
  }
  LineSpeaker lines(*engine.synthesizer,
                    {.folder = sound_.folder,
                     .json = sound_.json_lines,
                     .sound = {.format = format,
                               .rate_hz = engine.synthesizer->model().rate_hz(),
                               .file_rate_hz = sound_.rate_hz,
                               .media_program = {}},
                     .speak = options},
                    context);
  Status status =
      input_.read(context, [&lines](std::string_view text) { return lines.push(text); });
  if (status) {
    status = lines.finish();
  }
  if (context.stop.stop_requested()) {
    return context.stopped_exit_code();
  }
  if (!status) {
    return std::unexpected(status.error());
  }
  return lines.failed() > 0 ? 1 : 0;
}

Status SpeakCommand::speak_text(const Synthesizer& synthesizer, SpeakOptions options,
                                SpeakObserver& observer, const Context& context) const {
  if (const std::string path = document_path(); !path.empty()) {
    MYNAH_TRY(const Document document, read_document(path));
    MYNAH_TRY(const auto session, synthesizer.session(options, observer, context.stop));
    observer.begin();
    for (const Chapter& chapter : document.chapters) {
      MYNAH_TRY_STATUS(session->push(chapter.text + "\n\n"));
    }
    return session->finish();
  }
  // What it is shows with its first bytes.
  std::unique_ptr<Synthesizer::Session> session;
  MYNAH_TRY_STATUS(input_.read(context, [&](std::string_view text) -> Status {
    if (!session) {
      if (options.kind == TextKind::Plain && looks_like_ssml(text)) {
        options.kind = TextKind::Ssml;
      }
      MYNAH_TRY(session, synthesizer.session(options, observer, context.stop));
      observer.begin();
    }
    return session->push(text);
  }));
  return session ? session->finish() : Status{};
}

Result<int> SpeakCommand::run(Context& context) {
  MYNAH_TRY_STATUS(check(context));
  SoundFormat format = SoundFormat::Wav;
  if (!is_m4b(sound_) && document_path().empty()) {
    MYNAH_TRY(format, sound_.format_of());
  }
  const auto began = Clock::now();
  engine_.voice = voice_.speak.voice.voice;
  engine_.language = voice_.speak.language;
  MYNAH_TRY(const SpeechEngine engine, open_(engine_, context));
  const Synthesizer& synthesizer = *engine.synthesizer;
  SpeakOptions options = voice_.finish();
  options.voice.voice = engine.voice;
  if (sound_.stream || streams(context) || plays(context)) {
    options.first_phonemes = kFirstPhonemes;
  }
  const auto checked = synthesizer.check(options);
  if (!checked) {
    return std::unexpected(as_usage(checked.error()));
  }
  const VoiceFacts& voice = *checked;
  if (!sound_.folder.empty() || sound_.json_lines) {
    return speak_lines(context, engine, options, format);
  }
  if (!document_path().empty() && !sound_.out.empty() && sound_.out != "-") {
    Result<int> spoken = speak_document(context, engine, options, voice);
    if (!spoken && context.stop.stop_requested()) {
      return context.stopped_exit_code();
    }
    return spoken;
  }
  const int rate_hz = synthesizer.model().rate_hz();
  const SoundWriterOptions writer{
      .format = format, .rate_hz = rate_hz, .file_rate_hz = sound_.rate_hz, .media_program = {}};
  std::vector<std::unique_ptr<SoundOutput>> outputs;
  if (streams(context)) {
    MYNAH_TRY(auto output, open_sound_stream(context.out, writer));
    outputs.push_back(std::move(output));
  } else if (!sound_.out.empty()) {
    MYNAH_TRY(auto output, open_sound_file(sound_.out, writer));
    outputs.push_back(std::move(output));
  }
  if (plays(context)) {
    MYNAH_TRY(auto output, open_player(sound_.player, rate_hz));
    outputs.push_back(std::move(output));
  }
  if (explain_) {
    for (const std::string& line : engine.explanation) {
      context.say(line);
    }
    context.say(fmt::format("voice {}, {}", voice.name, voice.language));
  }
  const bool captions = !sound_.captions.srt.empty() || !sound_.captions.vtt.empty();
  SpeakObserver observer(context, std::move(outputs), rate_hz, captions);
  const Status spoken = speak_text(synthesizer, options, observer, context);
  if (!spoken) {
    if (context.out.closed()) {
      return 0;  // run_program tells that the reader went away
    }
    if (context.stop.stop_requested()) {
      return context.stopped_exit_code();
    }
    return std::unexpected(spoken.error());
  }
  if (observer.duration_s() == 0) {
    return fail(ErrorCode::InvalidInput, "nothing in it can be spoken: wanted words");
  }
  MYNAH_TRY_STATUS(observer.finish());
  MYNAH_TRY_STATUS(write_captions(observer.transcript(), sound_.captions));
  const std::string device = engine.backend ? engine.backend->device().str() : "cpu";
  if (context.json) {
    context.out.line(Json{{"duration", observer.duration_s()},
                          {"rate", rate_hz},
                          {"voice", voice.name},
                          {"language", voice.language},
                          {"model", synthesizer.model().name()},
                          {"device", device},
                          {"first_sound_ms", 1e3 * observer.first_s()},
                          {"milliseconds", 1e3 * observer.spent_s()},
                          {"load_ms", 1e3 * (seconds_since(began) - observer.spent_s())},
                          {"peak_mb", peak_memory_mb()}}
                         .dump());
  } else if (!engine_.quiet) {
    context.say(fmt::format(
        "{:.1f} s of speech to {} in {:.1f} s ({:.1f}x as fast as it sounds), "
        "voice {} on {}",
        observer.duration_s(), observer.names(), seconds_since(began),
        observer.duration_s() / std::max(1e-9, observer.spent_s()), voice.name, device));
  }
  return 0;
}

}  // namespace mynah::cli
