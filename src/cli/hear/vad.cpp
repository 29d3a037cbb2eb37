#include "cli/hear/vad.h"

#include <algorithm>
#include <memory>
#include <span>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/atomic_file.h"
#include "cli/command/error_json.h"
#include "cli/command/program.h"
#include "cli/files/passed_over.h"
#include "cli/files/repeats.h"
#include "cli/hear/outputs.h"
#include "cli/hear/voice_hearing.h"
#include "cli/models/surroundings.h"
#include "cli/placement/engine_fields.h"
#include "cli/placement/placement_answer.h"
#include "engine/last_look.h"
#include "place/terms/device_request.h"

namespace mynah::cli {

namespace {

Status check_at_least(std::string_view flag, double value, double least) {
  if (!(value >= least)) {
    return fail(ErrorCode::Usage,
                fmt::format("{}: wanted {} or more, found {}", flag, least, value));
  }
  return {};
}

Status write_file(const std::string& path, const std::string& text) {
  MYNAH_TRY(AtomicFile file, AtomicFile::create(path));
  MYNAH_TRY_STATUS(file.write(text));
  return file.commit();
}

// A recording that failed: a line on stderr, and with --json an object in its place on stdout.
void print_failure(Context& context, const std::string& file, const Error& error,
                   const place::Placer* placer) {
  context.say_of(file, error.message);
  if (context.json) {
    const nlohmann::ordered_json object = {
        {"file", file}, {"placement", placement_json(placer)}, {"error", error_json(error)}};
    context.out.line(object.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
  }
}

}  // namespace

void VadCommand::fields(Fields& fields) {
  fields
      .positional("FILE", recordings_, "Recordings: files, folders, patterns; - is standard input.")
      .completes(Complete::Files);
  fields
      .option(
          "vad-model", "MODEL", wanted_.model,
          "silero, builtin, or a model file; auto: silero, or one that was imported, else builtin.")
      .also("model")
      .completes(Complete::Models);
  fields.option("rate", "HZ", wanted_.rate_hz, "Rate that the model hears: 16000 or 8000.");
  device_field(fields, wanted_.placement.device, std::string(kDeviceHelp));
  limit_fields(fields, wanted_.placement);
  fields
      .option("threads", "N", wanted_.placement.threads, "Threads; 0: one for each physical core.")
      .shorter('t');
  fields.section("Segments");
  fields.option("threshold", "P", vad_.threshold, "Speech begins at this probability.");
  fields.option("negative-threshold", "P", vad_.negative_threshold,
                "Speech ends below it; negative: threshold less 0.15.");
  fields.option("min-speech-ms", "MS", vad_.min_speech_ms, "Shorter speech is dropped.");
  fields.option("min-silence-ms", "MS", vad_.min_silence_ms, "Shorter silence does not cut.");
  fields.option("pad-ms", "MS", vad_.speech_pad_ms, "Added on both sides of speech.");
  fields.time("max-speech-s", vad_.max_speech_s, "Longer speech is cut, at silence if any.");
  recording_.fields(fields);
  fields.section("Output");
  fields.flag("explain", explain_, "Say where speech is looked for, and why there.").once();
  fields.flag("rttm", rttm_, "Print RTTM lines.").once();
  fields.flag("probabilities", probabilities_, "Add each frame's probability to --json.").once();
  fields.option("plot", "FILE.svg", plot_, "Draw waveforms, probabilities and segments.")
      .completes(Complete::Files)
      .once();
}

std::string VadCommand::details() const {
  return "Prints the begin and end of each run of speech in seconds, one run a line. The options\n"
         "and their defaults are silero-vad's (get_speech_timestamps). Quiet recordings are heard\n"
         "louder, and steady sounds below speech (mains hum, rumble) are left out.\n\n"
         "A recording that is named twice is heard once; with --json each name is answered.\n\n" +
         device_details();
}

Status VadCommand::check(const Context& context) const {
  if (recordings_.empty()) {
    return fail(ErrorCode::Usage,
                "wanted a recording, such as meeting.wav, or - for standard input");
  }
  if (rttm_ && context.json) {
    return fail(ErrorCode::Usage, "--rttm and --json both want standard output: give one");
  }
  if (wanted_.rate_hz != 8000 && wanted_.rate_hz != 16000) {
    return fail(ErrorCode::Usage,
                fmt::format("--rate: wanted 8000 or 16000, found {}", wanted_.rate_hz));
  }
  if (!(vad_.threshold > 0 && vad_.threshold <= 1) || vad_.negative_threshold > vad_.threshold) {
    return fail(ErrorCode::Usage,
                fmt::format("--threshold {} --negative-threshold {}: wanted probabilities, the "
                            "second not above the first",
                            vad_.threshold, vad_.negative_threshold));
  }
  MYNAH_TRY_STATUS(check_at_least("--min-speech-ms", vad_.min_speech_ms, 0));
  MYNAH_TRY_STATUS(check_at_least("--min-silence-ms", vad_.min_silence_ms, 0));
  MYNAH_TRY_STATUS(check_at_least("--pad-ms", vad_.speech_pad_ms, 0));
  if (!plot_.empty() && !plot_.ends_with(".svg") && !plot_.ends_with(".SVG")) {
    return fail(ErrorCode::Usage,
                fmt::format("--plot: the drawing is SVG; wanted a name that ends in .svg, found "
                            "'{}'",
                            plot_));
  }
  // What the reference takes off for padding must leave something.
  const double least_s = 0.1 + 2e-3 * vad_.speech_pad_ms;
  MYNAH_TRY_STATUS(check_at_least("--max-speech-s", vad_.max_speech_s, least_s));
  MYNAH_TRY_STATUS(engine::check_threads(wanted_.placement.threads));
  MYNAH_TRY_STATUS(place::parse_device_request(wanted_.placement.device));
  return {};
}

std::vector<std::string> VadCommand::expand_recordings(Context& context,
                                                       const place::Placer* placer,
                                                       std::vector<ErrorCode>& failures) const {
  std::vector<std::string> files;
  Inputs inputs = expand_inputs(
      recordings_, recording_.raw.empty() ? FolderTakes::Recordings : FolderTakes::Headerless);
  tell_passed_over(context, inputs.passed_over, false);
  for (Input& input : inputs.found) {
    if (input.status) {
      files.push_back(std::move(input.name));
    } else {
      failures.push_back(input.status.error().code);
      print_failure(context, input.name, input.status.error(), placer);
    }
  }
  // With --json each name has an object in its place.
  if (!context.json) {
    if (const auto repeats = take_repeats(files); !repeats.empty()) {
      context.say(told_repeats(repeats));
    }
  }
  return files;
}

Result<int> VadCommand::run(Context& context) {
  MYNAH_TRY_STATUS(check(context));
  MYNAH_TRY(const AudioOpenOptions audio, recording_.finish());
  const bool plot = !plot_.empty();
  MYNAH_TRY_STATUS(make_folder_of(plot_, "--plot"));
  MYNAH_TRY(const engine::OpenedDetector engine,
            engine::open_detector(wanted_, surroundings_of(context)));
  const place::Placer* const placer = engine.placer.get();
  engine::LastLook last_look(placer);
  if (explain_ && placer == nullptr) {
    context.say("vad by the built-in detector, in this process");
  } else if (explain_) {
    say_each(context, placer->explain());
  }
  std::vector<ErrorCode> failures;
  const std::vector<std::string> files = expand_recordings(context, placer, failures);
  const size_t recordings = files.size() + failures.size();
  const bool one = recordings == 1;
  size_t reported = 0;
  const bool text = !context.json && !rttm_;
  std::vector<VoiceReport> drawn;
  VoiceHearing::Listener listener;
  listener.on_begin = [&engine](const std::vector<std::string>& names) { engine.name_work(names); };
  listener.on_note = [&context](const std::string& file, const std::string& note) {
    context.say_of(file, note);
  };
  if (text && one) {
    listener.on_span = [&](const SpeechSpan& span) {
      context.out.line(text_line(span));
      context.out.flush();
    };
  }
  listener.on_report = [&](const std::string& file, Result<VoiceReport> report) {
    if (++reported == files.size()) {
      last_look.take();
    }
    if (!report) {
      failures.push_back(report.error().code);
      print_failure(context, file, report.error(), placer);
      return;
    }
    if (context.json) {
      context.out.line(json_line(*report, probabilities_, placement_json(placer)));
    } else if (rttm_) {
      context.out.write(rttm_lines(*report));
    } else if (!one) {
      context.out.line(file + ":");
      std::ranges::for_each(report->spans,
                            [&](const SpeechSpan& span) { context.out.line(text_line(span)); });
    }
    if (text) {
      context.say(summary(*report));
    }
    if (plot) {
      drawn.push_back(std::move(*report));
    }
  };
  const VoiceHearing hearing(*engine.detector,
                             {.vad = vad_,
                              .audio = audio,
                              .probabilities = plot || (context.json && probabilities_),
                              .peaks = plot},
                             context.stop);
  hearing.hear(files, listener);
  const Status& right = last_look.take();
  if (!right) {
    context.say(right.error().message);
  }
  if (context.stop.stop_requested()) {
    return context.stopped_exit_code();
  }
  if (plot && !drawn.empty()) {
    MYNAH_TRY_STATUS(write_file(plot_, plot_svg(drawn, vad_.threshold)));
  }
  return right ? exit_code_of(failures, recordings) : exit_code(right.error().code);
}

}  // namespace mynah::cli
