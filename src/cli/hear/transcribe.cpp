#include "cli/hear/transcribe.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <iterator>
#include <string_view>

#include <fmt/format.h>
#include <sys/stat.h>

#include "audio/open.h"
#include "cli/command/peer_flags.h"
#include "cli/files/job_range.h"
#include "cli/files/passed_over.h"
#include "cli/files/repeats.h"
#include "cli/files/spoken_track.h"
#include "cli/hear/language_observer.h"
#include "cli/hear/live.h"
#include "cli/hear/speaker_channels.h"
#include "cli/models/surroundings.h"
#include "cli/placement/engine_fields.h"
#include "cli/placement/placement_answer.h"
#include "engine/store_folders.h"
#include "store/catalogue.h"

namespace mynah::cli {

namespace {

// Seconds of a recording that its language is heard from: Whisper's window.
constexpr double kLanguageWindow_s = 30;

// Options that change where text goes, how fast it comes and what is said meanwhile, not the text.
constexpr auto kShapesNothing = std::to_array<std::string_view>(
    {"device", "threads", "offline", "yes", "batch", "format", "output-dir", "output-file",
     "output-beside", "confidence", "confidence-marks", "quiet", "progress", "progress-lines",
     "explain", "resume", "detect-language"});

// What may still be coming: a pipe by name or as standard input, a socket, a terminal; not a file
// behind "<".
bool is_stream(const std::string& recording) {
  struct stat status{};
  if (recording == "-") {
    return ::fstat(0, &status) == 0 && !S_ISREG(status.st_mode);
  }
  return ::stat(recording.c_str(), &status) == 0 && S_ISFIFO(status.st_mode);
}

// The model of the catalogue that knows all languages and is like one for English alone: "tiny" for
// "tiny.en".
std::string multilingual_like(const std::string& model) {
  constexpr std::string_view kEnglish = ".en";
  const std::string name =
      model.ends_with(kEnglish) ? model.substr(0, model.size() - kEnglish.size()) : "";
  return find_in_catalogue(name) != nullptr ? name : "small";
}

// True where something that is written has the times of words.
bool has_word_times(const OutputPlans& plans) {
  const auto has = [](TranscriptFormat format) {
    return extension(format) == "json" || format == TranscriptFormat::Wts;
  };
  return std::ranges::any_of(plans.recordings, [&has](const OutputPlan& plan) {
    return std::ranges::any_of(plan.files, has, &OutputFile::format) ||
           std::ranges::any_of(plan.to_stdout, has);
  });
}

}  // namespace

void TranscribeCommand::fields(Fields& fields) {
  fields
      .positional("FILE", recordings_, "Recordings: files, folders, patterns; - is standard input.")
      .completes(Complete::Files);
  model_fields(fields, engine_);
  flags_.fields(fields);
  flags_.vad_fields(fields);
  recording_.fields(fields);
  output_.fields(fields);
  fields.flag("detect-language", detect_language_, "Name the spoken language, and nothing more.")
      .once();
}

Result<std::vector<std::string>> TranscribeCommand::translate(std::vector<std::string> arguments,
                                                              const Fields& fields) {
  return translate_peer_flags(whisper_flags(), arguments, &fields);
}

std::string TranscribeCommand::details() const {
  return "whisper-cli's flags are understood too (-m, -f, -otxt, -oj, -ml, -bs ...), and those of\n"
         "whisper and whisperX (--output_dir, --word_timestamps, --compute_type ...).\n\n"
         "A recording that breaks off, or is stopped by Ctrl-C, SIGTERM or a closed terminal,\n"
         "leaves what was recognised in NAME.FORMAT.partial, and with --json in the object that\n"
         "has the error; the exit code is 1, 130, 143 or 129.\n\n"
         "A recording that is named twice is heard once; with --json and --output-file each\n"
         "name is answered.\n\n" +
         device_details();
}

void TranscribeCommand::settle() {
  const auto writes = [this](TranscriptFormat format) {
    const bool named =
        output_.formats.empty() && std::ranges::any_of(output_.bases, [&](const std::string& base) {
          return ends_in(base, format);
        });
    return named || std::ranges::count(output_.formats, extension(format)) > 0;
  };
  const bool karaoke = writes(TranscriptFormat::Wts);
  if (karaoke || std::ranges::count(output_.formats, "json-full") > 0 || output_.max_line_width ||
      output_.max_line_count || output_.highlight_words || output_.max_segment_length > 0 ||
      output_.confidence || output_.confidence_marks) {
    flags_.options.decoding.words = true;
  }
  const bool subtitles = writes(TranscriptFormat::Srt) || writes(TranscriptFormat::Vtt) ||
                         std::ranges::count(output_.formats, "all") > 0;
  words_for_cues_ = !flags_.options.decoding.words && subtitles &&
                    output_.cues == CueShape::Readable && output_.style == TranscriptStyle::OpenAi;
  flags_.options.decoding.words |= words_for_cues_;
  // As whisper-cli: a line of karaoke has 60 characters at most, unless another number is given.
  constexpr int kKaraokeCharacters = 60;
  if (karaoke && output_.max_segment_length == 0) {
    output_.max_segment_length = kKaraokeCharacters;
  }
}

Status TranscribeCommand::check_recordings() const {
  if (recordings_.empty()) {
    return fail(ErrorCode::Usage,
                "wanted a recording, such as meeting.wav, or - for standard input");
  }
  for (const std::string& recording : recordings_) {
    std::error_code error;
    const bool format = recording == "all" || parse_transcript_format(recording).has_value();
    if (format && !std::filesystem::exists(recording, error)) {
      return fail(ErrorCode::Usage,
                  fmt::format("there is no recording '{0}'; whisperX's -f {0} is --format {0} here",
                              recording));
    }
  }
  if (std::ranges::count(recordings_, "-") > 1) {
    return fail(ErrorCode::Usage, "standard input (-) can be read once only");
  }
  return {};
}

void TranscribeCommand::expand_recordings() {
  Inputs inputs = expand_inputs(
      recordings_, recording_.raw.empty() ? FolderTakes::Recordings : FolderTakes::Headerless);
  recordings_.clear();
  for (Input& input : inputs.found) {
    if (!input.status) {
      missing_.emplace(input.name, input.status.error());
    }
    recordings_.push_back(std::move(input.name));
  }
  passed_over_ = std::move(inputs.passed_over);
}

void TranscribeCommand::leave_out_repeats(const Context& context) {
  // Where each name has an answer of its own, by its place, it keeps it.
  if (context.json || !output_.bases.empty()) {
    return;
  }
  const std::vector<std::string> repeats = take_repeats(recordings_);
  if (!repeats.empty() && !output_.quiet) {
    context.say(told_repeats(repeats));
  }
}

std::function<Result<std::unique_ptr<AudioSource>>()> TranscribeCommand::opener(
    const std::string& name, const AudioOpenOptions& options) const {
  if (const auto missing = missing_.find(name); missing != missing_.end()) {
    return [error = missing->second]() -> Result<std::unique_ptr<AudioSource>> {
      return std::unexpected(error);
    };
  }
  AudioOpenOptions told = options;
  told.note = [note = note_, name](const std::string& text) { note(name, text); };
  return [name, told, voice = voice_] { return open_spoken_track(name, told, voice.get()); };
}

Result<OutputPlans> TranscribeCommand::plan(const Context& context) {
  records_ = OutputRecords(
      (std::filesystem::path(engine::store_folders(context.environment).home) / "outputs.jsonl")
          .string());
  // Who wants JSON on standard output wants it in files too, unless he says otherwise.
  OutputOptions output = output_;
  const bool files = !output.folder.empty() || output.beside;
  if (context.json && output.formats.empty() && files) {
    output.formats = {"json"};
  }
  MYNAH_TRY(OutputPlans plans, plan_outputs(output, recordings_, records_));
  std::vector<TranscriptFormat> printed;
  for (size_t i = 0; i < recordings_.size(); ++i) {
    if (!missing_.contains(recordings_[i])) {
      std::ranges::copy(plans.recordings[i].to_stdout, std::back_inserter(printed));
    }
  }
  MYNAH_TRY_STATUS(check_standard_output(printed, context.json));
  if (output_.resume) {
    leave_out_done(context, plans);
  }
  for (const std::string& note : plans.notes) {
    context.say(note);
  }
  return plans;
}

std::string TranscribeCommand::shaping_options() {
  Fields present;
  fields(present);
  TranscribeCommand untouched;
  Fields initial;
  untouched.fields(initial);
  std::string text;
  for (size_t i = 0; i < present.all().size(); ++i) {
    const Field& field = present.all()[i];
    const bool shapes =
        !field.positional && std::ranges::find(kShapesNothing, field.name) == kShapesNothing.end();
    if (shapes && field.print() != initial.all()[i].print()) {
      text += fmt::format("{}--{} {}", text.empty() ? "" : " ", field.name, field.print());
    }
  }
  return text;
}

void TranscribeCommand::leave_out_done(const Context& context, OutputPlans& plans) {
  size_t skipped = 0;
  size_t otherwise = 0;
  for (size_t i = recordings_.size(); i-- > 0;) {
    if (recordings_[i] == "-" || !is_done(plans.recordings[i], recordings_[i], records_)) {
      continue;
    }
    if (is_made_otherwise(plans.recordings[i], shaping_, records_)) {
      ++otherwise;
      continue;
    }
    recordings_.erase(recordings_.begin() + static_cast<std::ptrdiff_t>(i));
    plans.recordings.erase(plans.recordings.begin() + static_cast<std::ptrdiff_t>(i));
    ++skipped;
  }
  if (output_.quiet) {
    return;
  }
  if (skipped > 0) {
    context.say(fmt::format("{} recording{} done already, {} to do", skipped,
                            skipped == 1 ? " is" : "s are", recordings_.size()));
  }
  if (otherwise > 0) {
    context.say(fmt::format("{} of them {} heard before with other options, and {} so again",
                            otherwise, otherwise == 1 ? "was" : "were",
                            otherwise == 1 ? "is" : "are"));
  }
}

Result<int> TranscribeCommand::run(Context& context) {
  shaping_ = shaping_options();
  const bool asked_for_words = flags_.options.decoding.words;
  settle();
  MYNAH_TRY_STATUS(check_recordings());
  MYNAH_TRY(const RecognizerOptions options, flags_.finish());
  MYNAH_TRY_STATUS(recording_.finish());
  MYNAH_TRY_STATUS(output_.check());
  if (output_.max_line_count && !output_.max_line_width && output_.cues == CueShape::Raw) {
    context.say("--max-line-count does nothing to raw cues without --max-line-width");
  }
  expand_recordings();
  leave_out_repeats(context);
  MYNAH_TRY(OutputPlans plans, plan(context));
  tell_passed_over(context, passed_over_, output_.quiet);
  if (recordings_.empty()) {
    return 0;
  }
  if (asked_for_words && !context.json && !output_.highlight_words && !output_.quiet &&
      !has_word_times(plans)) {
    context.say(
        "--words: only JSON has the times of words (--json, --format json); --highlight-words "
        "shows them in subtitles");
  }
  engine::RecognizerWish wanted = engine_;
  wanted.placement.quiet = output_.quiet;
  wanted.placement.batch = options.cutting.batch;
  wanted.cuts = options.cutting.vad || std::ranges::any_of(recordings_, is_stream);
  MYNAH_TRY(const engine::OpenedRecognizer engine, open_(wanted, surroundings_of(context)));
  if (Status status = engine.recognizer->check(options); !status) {
    // What no model could do was asked for wrongly.
    Error error = std::move(status).error();
    error.code = error.code == ErrorCode::InvalidInput ? ErrorCode::Usage : error.code;
    return std::unexpected(std::move(error));
  }
  if (output_.explain) {
    say_each(context, engine.explanation);
  }
  voice_ = engine.voice;
  note_ = [&context, quiet = output_.quiet, bar = progress_style(context) == ProgressStyle::Bar](
              const std::string& name, const std::string& text) {
    if (!quiet) {
      context.err.write(bar ? "\r\x1B[K" : "");
      context.say_of(name, text);
    }
  };
  if (detect_language_) {
    if (!engine.recognizer->multilingual()) {
      return fail(
          ErrorCode::Unsupported,
          fmt::format("--detect-language: {0} knows English only; {1} knows other languages "
                      "too: 'mynah pull {1}' brings it, --model {1} uses it",
                      engine.recognizer->model_name(),
                      multilingual_like(engine.recognizer->model_name())));
    }
    return detect_languages(context, engine, options);
  }
  MYNAH_TRY_STATUS(make_folders(plans));
  return transcribe(context, engine, options, std::move(plans));
}

SinkOptions TranscribeCommand::sink_options(const Context& context,
                                            const engine::OpenedRecognizer& engine,
                                            const RecognizerOptions& options,
                                            const OutputPlans& plans) const {
  const bool files = std::ranges::any_of(
      plans.recordings, [](const OutputPlan& plan) { return !plan.files.empty(); });
  const bool formatted = std::ranges::any_of(
      plans.recordings, [](const OutputPlan& plan) { return !plan.to_stdout.empty(); });
  const bool whisper_cpp = output_.style == TranscriptStyle::WhisperCpp;
  const bool terminal = context.out.is_terminal();
  SinkOptions sink;
  // With files asked for, text on standard output is for somebody who watches.
  sink.print_segments =
      !context.json && !formatted && (!files || whisper_cpp || (terminal && !output_.quiet));
  sink.keep_going = files;
  sink.quiet = output_.quiet;
  sink.explain = output_.explain;
  sink.start_s = recording_.start_s;
  sink.clips = options.cutting.clips;
  sink.max_segment_length = output_.max_segment_length;
  sink.special_tokens = output_.special_tokens;
  if (!engine.recognizer->multilingual()) {
    sink.doubt = fmt::format(
        "this may not be English: {0} knows English only, and doubts most of the text; {1} knows "
        "other languages too: 'mynah pull {1}' brings it, --model {1} uses it",
        engine.recognizer->model_name(), multilingual_like(engine.recognizer->model_name()));
  }
  sink.print.style = output_.style;
  sink.print.times = flags_.options.decoding.timestamps && (terminal || whisper_cpp);
  sink.print.joined = whisper_cpp && !sink.print.times && !output_.stereo_speakers;
  const bool colours =
      (terminal || whisper_cpp) && !context.environment.get("NO_COLOR").has_value();
  if (output_.confidence && colours) {
    sink.print.confidence = Confidence::Colours;
  } else if (output_.confidence_marks && (terminal || whisper_cpp)) {
    sink.print.confidence = Confidence::Marks;
  }
  const auto token_text = [recognizer = engine.recognizer](int32_t token) {
    return recognizer->token_text(token);
  };
  WriterOptions& writer = sink.writer;
  writer.style = output_.style;
  writer.max_line_width = output_.max_line_width;
  writer.max_line_count = output_.max_line_count;
  writer.highlight_words = output_.highlight_words;
  writer.cues = output_.cues;
  writer.max_cue_characters = output_.max_segment_length;
  writer.start_s = recording_.start_s;
  writer.words = !words_for_cues_;
  writer.first_cue = 1 + output_.cue_offset;
  writer.model_path = engine.model_path;
  const bool heard = flags_.options.decoding.language == "auto";
  writer.language =
      heard && !engine.recognizer->multilingual() ? "en" : flags_.options.decoding.language;
  writer.system_info = engine.architecture;
  writer.multilingual = engine.recognizer->multilingual();
  writer.facts = engine.recognizer->facts();
  writer.token_text = token_text;
  return sink;
}

ProgressStyle TranscribeCommand::progress_style(const Context& context) const {
  if (output_.progress_lines) {
    return ProgressStyle::Lines;
  }
  const bool bar = output_.progress && !output_.quiet && context.err.is_terminal();
  return bar ? ProgressStyle::Bar : ProgressStyle::Off;
}

Transcript TranscribeCommand::known_before(const engine::OpenedRecognizer& engine,
                                           const RecognizerOptions& options) const {
  Transcript known;
  known.language = options.decoding.language == "auto" && !engine.recognizer->multilingual()
                       ? "en"
                       : options.decoding.language;
  known.language_probability = known.language == "auto" ? 0.0F : 1.0F;
  known.task = options.decoding.task == Task::Translate ? "translate" : "transcribe";
  known.model = engine.recognizer->model_name();
  known.device = engine.device();
  return known;
}

Result<int> TranscribeCommand::transcribe(Context& context, const engine::OpenedRecognizer& engine,
                                          const RecognizerOptions& options, OutputPlans plans) {
  MYNAH_TRY(AudioOpenOptions audio, recording_.finish());
  audio.stop = context.stop;
  std::vector<SinkRecording> sink_recordings;
  for (size_t i = 0; i < recordings_.size(); ++i) {
    const std::string& name = recordings_[i];
    SinkRecording recording{.name = name, .plan = std::move(plans.recordings[i])};
    if (output_.stereo_speakers && (name == "-" || is_stream(name)) && !output_.quiet) {
      context.say_of(name, "speakers are not named: that takes a file, which can be read twice");
    }
    plans.recordings[i] = recording.plan;
    sink_recordings.push_back(std::move(recording));
  }
  SinkOptions wanted = sink_options(context, engine, options, plans);
  wanted.known = known_before(engine, options);
  if (engine.placer) {
    wanted.placement = [&placer = *engine.placer] { return placer.report(); };
    wanted.settle = [&placer = *engine.placer] { return placer.settle(); };
  }
  wanted.on_written = [this](const SinkRecording& recording) {
    for (const OutputFile& file : recording.plan.files) {
      records_.add(file.path, recording.name, shaping_);
    }
  };
  TranscriptSink sink(context, std::move(wanted), std::move(sink_recordings),
                      progress_style(context));
  audio.stop = sink.stop();
  recognise(engine, options, audio, sink);
  return sink.finish();
}

void TranscribeCommand::recognise(const engine::OpenedRecognizer& engine,
                                  const RecognizerOptions& options, const AudioOpenOptions& audio,
                                  TranscriptSink& sink) const {
  const std::span<const std::string> names(recordings_);
  for (size_t first = 0; first < names.size();) {
    if (is_stream(names[first])) {
      const Stream stream{.name = names[first], .open = [&](const std::stop_token& stop) {
                            AudioOpenOptions stoppable = audio;
                            stoppable.stop = stop;
                            return opener(names[first], stoppable)();
                          }};
      run_stream(*engine.recognizer, options, stream, known_before(engine, options), sink, first);
      ++first;
      continue;
    }
    if (output_.stereo_speakers && names[first] != "-") {
      recognise_speakers(engine, options, audio, sink, first++);
      continue;
    }
    const auto rest = names.subspan(first);
    const auto files =
        rest.first(static_cast<size_t>(std::ranges::find_if(rest, is_stream) - rest.begin()));
    std::vector<RecognizerJob> jobs;
    jobs.reserve(files.size());
    for (const std::string& name : files) {
      jobs.push_back({.name = name, .open = opener(name, audio)});
    }
    JobRange observer(sink, first);
    engine.recognizer->run(jobs, options, observer, sink.stop());
    first += files.size();
  }
}

void TranscribeCommand::recognise_speakers(const engine::OpenedRecognizer& engine,
                                           const RecognizerOptions& options,
                                           const AudioOpenOptions& audio, TranscriptSink& sink,
                                           size_t at) const {
  const std::string& name = recordings_[at];
  const ChannelOpener open_channel = [&](int channel) {
    AudioOpenOptions one = audio;
    one.channel = channel;
    return open_spoken_track(name, one, voice_.get());
  };
  run_with_speakers(*engine.recognizer, options, {.name = name, .open = opener(name, audio)},
                    open_channel, sink, at);
}

Result<int> TranscribeCommand::detect_languages(Context& context,
                                                const engine::OpenedRecognizer& engine,
                                                RecognizerOptions options) {
  MYNAH_TRY(AudioOpenOptions audio, recording_.finish());
  audio.stop = context.stop;
  audio.duration_s = std::min(audio.duration_s.value_or(kLanguageWindow_s),
                              kLanguageWindow_s * options.cutting.language_detection_segments);
  options.decoding.language = "auto";
  options.decoding.whisper.max_new_tokens = 1;  // the language is known before the first
  options.decoding.whisper.temperatures = {0.0F};
  options.decoding.words = false;
  std::vector<RecognizerJob> jobs;
  jobs.reserve(recordings_.size());
  for (const std::string& name : recordings_) {
    jobs.push_back({.name = name, .open = opener(name, audio)});
  }
  LanguageObserver observer(context, recordings_, engine.placer.get());
  engine.recognizer->run(jobs, options, observer, context.stop);
  return observer.finish();
}

}  // namespace mynah::cli
