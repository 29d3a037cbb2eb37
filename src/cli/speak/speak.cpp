#include "cli/speak/speak.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>
#include <sys/resource.h>

#include "base/atomic_file.h"
#include "cli/command/error_json.h"
#include "cli/command/peer_flags.h"
#include "cli/files/named_output.h"
#include "cli/files/progress.h"
#include "cli/hear/outputs.h"
#include "cli/models/surroundings.h"
#include "cli/placement/engine_fields.h"
#include "cli/placement/placement_answer.h"
#include "cli/speak/sound_output.h"
#include "cli/speak/speak_book.h"
#include "cli/speak/speak_cues.h"
#include "cli/speak/speak_lines.h"
#include "cli/speak/speak_observer.h"
#include "engine/last_look.h"
#include "engine/open_placer.h"
#include "speech/languages.h"
#include "tensor/device_failure.h"

namespace mynah::cli {

namespace {

using Json = nlohmann::ordered_json;
using Clock = std::chrono::steady_clock;

double peak_memory_mb() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

// Whose lines may be meant one by one.
bool is_plain_text(const std::string& path) {
  const std::string extension = std::filesystem::path(path).extension().string();
  return extension == ".txt" || extension == ".TXT" || extension == ".text";
}

}  // namespace

void SpeakCommand::fields(Fields& fields) {
  input_.fields(fields, "say");
  voice_.fields(fields);
  sound_.fields(fields);
  fields
      .flag("keep-times", keep_times_,
            "Of subtitles: say each cue at its time. A text that is longer than its cue is said "
            "faster, by up to 1.5x, and then goes on into the pause behind it.")
      .once();
  fields.flag("quiet", engine_.placement.quiet, "Nothing but sound, warnings and errors.")
      .shorter('q');
  fields.flag("explain", explain_, "Say what was chosen and why, and how long each stage took.")
      .once();
  fields
      .flag("list-speakers", list_speakers_,
            "List the voices of the model that is chosen with their numbers, and say nothing.")
      .once();
  model_fields(fields, engine_);
}

Result<std::vector<std::string>> SpeakCommand::translate(std::vector<std::string> arguments,
                                                         const Fields& fields) {
  return translate_peer_flags(piper_flags(), arguments, &fields);
}

std::string SpeakCommand::details() const {
  return "A WAV on a pipe has sizes of 0xFFFFFFFF in its header, as its length is not known when "
         "it\n"
         "begins; a file has the true ones.\n\n"
         "With --json each clause is a line on standard output: its text, its times, its words "
         "and\n"
         "their phonemes; the last line has the whole's.\n\n"
         "piper's flags are understood too: -m, -c, -s, --length-scale, --output-raw, "
         "--output_dir, "
         "--json-input.\n\n" +
         device_details();
}

bool SpeakCommand::streams(const Context& context) const {
  if (writes_lines()) {
    return false;
  }
  if (!sound_.out.empty()) {
    return sound_.out == "-";
  }
  return !sound_.play && !context.json && !context.out.is_terminal();
}

bool SpeakCommand::plays(const Context& context) const {
  const bool files = writes_lines() || !sound_.out.empty();
  return sound_.play || (!files && !streams(context));
}

bool SpeakCommand::writes_book() const {
  const bool file = !sound_.out.empty() && sound_.out != "-" && !is_device_or_pipe(sound_.out);
  return file && !keep_times_ && (sound_.is_m4b() || !input_.document_path().empty());
}

Status SpeakCommand::check(const Context& context) const {
  MYNAH_TRY_STATUS(input_.check("say", context));
  const std::string document = input_.document_path();
  if (input_.path().ends_with(".jsonl") && !sound_.json_lines) {
    return fail(
        ErrorCode::Usage,
        fmt::format("{} holds a JSON object a line: wanted --json-input with it", input_.path()));
  }
  if (!sound_.folder.empty() && (!sound_.out.empty() || sound_.play)) {
    return fail(ErrorCode::Usage, "wanted --out, --play or --output-dir, found two of them");
  }
  if (sound_.json_lines && !sound_.out.empty()) {
    return fail(ErrorCode::Usage,
                fmt::format("--out {} is one file, and --json-input makes one a line: wanted "
                            "--output-dir FOLDER, or output_file in the lines",
                            sound_.out));
  }
  if (writes_lines() && !document.empty() && !is_plain_text(document)) {
    return fail(ErrorCode::Usage,
                fmt::format("--output-dir and --json-input take lines of text, found the document "
                            "{}: --out FOLDER/ writes a file for each of its chapters",
                            document));
  }
  if (writes_lines() && (!sound_.captions.srt.empty() || !sound_.captions.vtt.empty())) {
    return fail(ErrorCode::Usage,
                "--srt and --vtt are of one sound: found --output-dir or --json-input, which make "
                "many");
  }
  std::error_code error;
  if (input_.words.size() == 1 && input_.words.front().contains('/') &&
      std::filesystem::is_directory(input_.words.front(), error)) {
    return fail(ErrorCode::Usage,
                fmt::format("{} is a folder: wanted a text or a document", input_.words.front()));
  }
  if (sound_.out.ends_with('/') && document.empty()) {
    return fail(ErrorCode::Usage,
                fmt::format("--out {}: a folder is for the chapters of a document; wanted a file's "
                            "name, or --output-dir for a file a line",
                            sound_.out));
  }
  MYNAH_TRY_STATUS(check_cues());
  if (sound_.is_m4b() && !writes_book() &&
      !(keep_times_ && !sound_.out.empty() && sound_.out != "-")) {
    return fail(ErrorCode::Usage,
                "m4b is written as one file when all is said: wanted --out BOOK.m4b");
  }
  if (sound_.play && writes_book()) {
    return fail(ErrorCode::Usage,
                "a document that goes to a file is not played too: wanted --out or --play, found "
                "both");
  }
  if (context.json &&
      (streams(context) || sound_.captions.srt == "-" || sound_.captions.vtt == "-")) {
    return fail(ErrorCode::Usage,
                "--json and another output both want standard output: write that one to a file");
  }
  MYNAH_TRY_STATUS(engine::check_threads(engine_.placement.threads));
  MYNAH_TRY_STATUS(check_paths(context));
  MYNAH_TRY_STATUS(make_folder_of(sound_.out, "--out"));
  MYNAH_TRY_STATUS(make_folder_of(sound_.captions.srt, "--srt"));
  return make_folder_of(sound_.captions.vtt, "--vtt");
}

// No output may be an input, or another output.
Status SpeakCommand::check_paths(const Context& context) const {
  std::vector<NamedPath> inputs;
  std::vector<NamedPath> outputs;
  const auto add = [](std::vector<NamedPath>& paths, const char* option, const std::string& path) {
    if (!path.empty()) {
      paths.push_back({.option = option, .path = path});
    }
  };
  add(inputs, input_.file.empty() ? "the text" : "--file", input_.path());
  add(inputs, "--lexicon", engine_.lexicon);
  add(outputs, "--out", streams(context) ? "-" : sound_.out);
  add(outputs, "--srt", sound_.captions.srt);
  add(outputs, "--vtt", sound_.captions.vtt);
  return check_distinct(inputs, outputs);
}

Result<int> SpeakCommand::speak_document(Context& context, const engine::OpenedSynthesizer& engine,
                                         const std::optional<Document>& document,
                                         SpeakOptions options, const VoiceFacts& voice) const {
  std::optional<Document> gathered;
  if (!document) {
    MYNAH_TRY(gathered, whole_text(context, options));
  }
  const Document& text = document ? *document : *gathered;
  const std::string path = document ? input_.path() : std::string();
  const bool m4b = sound_.is_m4b();
  SoundFormat format = SoundFormat::Wav;
  if (!m4b) {
    MYNAH_TRY(format, sound_.format_of());
  }
  const std::string device = engine.device();
  const std::string name = path.empty() ? "the text" : path;
  const Result<SpokenBook> spoken =
      speak_book(text,
                 {.name = name,
                  .out = sound_.out,
                  .m4b = m4b,
                  .format = format,
                  .rate_hz = sound_.rate_hz,
                  .captions = sound_.captions,
                  .speak = options,
                  .voice = engine.synthesizer->model().name() + " " + voice.name,
                  .progress = !context.json && !engine_.placement.quiet},
                 *engine.synthesizer, context);
  const Status right = look_last(context, engine.placer.get(), spoken.has_value());
  if (!spoken) {
    return end_failed_book(context, engine, spoken.error());
  }
  const SpokenBook& book = *spoken;
  const std::string& files = book.files.size() == 1 ? book.files.front() : sound_.out;
  if (!right && !context.json) {
    return end_doubted(right.error(), book.duration_s, files);
  }
  std::vector<std::string> warnings = text.warnings;
  warnings.insert(warnings.end(), book.warnings.begin(), book.warnings.end());
  if (context.json) {
    context.out.line(Json{{"duration", book.duration_s},
                          {"chapters", book.chapters},
                          {"files", book.files},
                          {"resumed", book.resumed_s},
                          {"voice", voice.name},
                          {"model", engine.synthesizer->model().name()},
                          {"device", device},
                          {"placement", placement_json(engine.placer.get())},
                          {"warnings", engine::with_doubts(warnings, engine.placer.get())},
                          {"milliseconds", 1e3 * book.spent_s}}
                         .dump());
  } else if (!engine_.placement.quiet) {
    context.say(fmt::format(
        "{}: {} in {} to {}, voice {} on {}{}", name, short_duration(book.duration_s),
        book.chapters == 1 ? "one part" : fmt::format("{} chapters", book.chapters), files,
        voice.name, device, warnings.empty() ? "" : "; with warnings, see above"));
  }
  MYNAH_TRY_STATUS(right);
  return 0;
}

Result<int> SpeakCommand::speak_lines(Context& context, const engine::OpenedSynthesizer& engine,
                                      const SpeakOptions& options, SoundFormat format) const {
  if (!sound_.folder.empty()) {
    std::error_code error;
    std::filesystem::create_directories(sound_.folder, error);
  }
  LineSpeaker lines(
      engine,
      {.folder = sound_.folder,
       .json = sound_.json_lines,
       .sound = {.format = format, .file_rate_hz = sound_.rate_hz, .media_program = {}},
       .speak = options,
       .explain = explain_,
       .wish = engine_},
      context);
  Status status =
      input_.read(context, [&lines](std::string_view text) { return lines.push(text); });
  if (status) {
    status = lines.finish();
  }
  const Status right = look_last_of_lines(context, lines, status.has_value());
  if (context.stop.stop_requested()) {
    return context.stopped_exit_code();
  }
  MYNAH_TRY_STATUS(status);
  MYNAH_TRY_STATUS(right);
  return lines.failed() > 0 ? 1 : 0;
}

int SpeakCommand::list_speakers(Context& context, const VoiceModel& model) {
  for (size_t i = 0; i < model.voices().size(); ++i) {
    const VoiceFacts& voice = model.voices()[i];
    if (context.json) {
      context.out.line(Json{
          {"speaker", i},
          {"voice", voice.name},
          {"language", voice.language},
          {"sex", voice.sex},
          {"model",
           model.name()}}.dump());
    } else {
      context.out.line(
          fmt::format("{:>4}  {:<20} {:<8} {}", i, voice.name, voice.language, voice.sex));
    }
  }
  return 0;
}

Result<int> SpeakCommand::run(Context& context) {
  SoundFormat format = SoundFormat::Wav;
  if (!list_speakers_) {
    MYNAH_TRY_STATUS(check(context));
    if (!sound_.is_m4b()) {
      MYNAH_TRY(format, sound_.format_of());
    }
  }
  const auto began = Clock::now();
  engine_.voice = voice_.speak.voice.voice;
  std::optional<Document> document;
  std::optional<Subtitles> cues;
  if (!list_speakers_) {
    MYNAH_TRY(cues, read_cues(context));
    MYNAH_TRY(document, read_document_of(context));
  }
  follow_language(document, context);
  engine_.language = voice_.speak.language;
  engine_.reads = !list_speakers_ && !voice_.phonemes;
  MYNAH_TRY(const engine::OpenedSynthesizer engine, open_(engine_, surroundings_of(context)));
  const Synthesizer& synthesizer = *engine.synthesizer;
  if (list_speakers_) {
    return list_speakers(context, synthesizer.model());
  }
  MYNAH_TRY(SpeakOptions options, voice_.finish());
  options.voice.voice = engine.voice;
  if (sound_.stream || streams(context) || plays(context)) {
    options.first_phonemes = kEarlyPhonemes;
  }
  const auto checked = synthesizer.check(options);
  if (!checked) {
    return std::unexpected(as_usage(checked.error()));
  }
  const VoiceFacts& voice = *checked;
  tell_voice(document, engine, voice, context);
  if (writes_lines()) {
    Result<int> spoken = speak_lines(context, engine, options, format);
    explain_times(context, engine);
    return spoken;
  }
  if (writes_book()) {
    Result<int> spoken = speak_document(context, engine, document, options, voice);
    explain_times(context, engine);
    if (!spoken && context.stop.stop_requested()) {
      return context.stopped_exit_code();
    }
    return spoken;
  }
  const int rate_hz = synthesizer.model().rate_hz();
  MYNAH_TRY(const auto observer, open_outputs(context, {.format = format,
                                                        .rate_hz = rate_hz,
                                                        .file_rate_hz = sound_.rate_hz,
                                                        .media_program = {}}));
  observer->begin();
  const Status spoken = cues ? speak_cues(*cues, synthesizer, options, *observer, context.stop)
                             : speak_text(synthesizer, document, options, *observer, context);
  const Status written = spoken ? finish(context, *observer) : Status{};
  const Status right = look_last(context, engine.placer.get(), spoken && written);
  explain_times(context, engine);
  if (!spoken) {
    if (context.out.closed()) {
      return 0;  // run_program tells that the reader went away
    }
    if (context.stop.stop_requested()) {
      return end_stopped(context, *observer);
    }
    if (is_of_device(spoken.error().code)) {
      return end_failed(context, *observer, engine, spoken.error());
    }
    return std::unexpected(spoken.error());
  }
  MYNAH_TRY_STATUS(written);
  if (!right && !context.json) {
    return end_doubted(right.error(), observer->duration_s(), observer->names());
  }
  Json placement = placement_json(engine.placer.get());
  const std::string device = engine.device();
  const double all_s = std::chrono::duration<double>(Clock::now() - began).count();
  if (context.json) {
    context.out.line(
        Json{{"duration", observer->duration_s()},
             {"rate", rate_hz},
             {"voice", voice.name},
             {"language", voice.language},
             {"model", synthesizer.model().name()},
             {"device", device},
             {"placement", std::move(placement)},
             {"first_sound_ms", 1e3 * observer->first_s()},
             {"milliseconds", 1e3 * observer->spent_s()},
             {"load_ms", 1e3 * (all_s - observer->spent_s())},
             {"warnings", engine::with_doubts(observer->warnings(), engine.placer.get())},
             {"peak_mb", peak_memory_mb()}}
            .dump());
  } else if (!engine_.placement.quiet) {
    context.say(
        fmt::format("{:.1f} s of speech to {} in {:.1f} s ({:.1f}x as fast as it sounds), "
                    "voice {} on {}",
                    observer->duration_s(), observer->names(), all_s,
                    observer->duration_s() / std::max(1e-9, all_s), voice.name, device));
  }
  MYNAH_TRY_STATUS(right);
  return 0;
}

}  // namespace mynah::cli
