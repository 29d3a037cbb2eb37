#include "cli/hear/wake.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "audio/open.h"
#include "cli/command/error_json.h"
#include "cli/command/program.h"
#include "cli/files/passed_over.h"
#include "cli/models/surroundings.h"

namespace mynah::cli {

namespace {

// So much is listened to at once: a word is told within a tenth of a second.
constexpr size_t kPieceSamples = 1600;

double in_seconds(double samples) {
  return samples / wake_word::kFeatureRate_hz;
}

// To the millisecond, and a probability to a thousandth.
double to_thousandth(double value) {
  constexpr double kThousand = 1000;
  return std::round(value * kThousand) / kThousand;
}

std::string wake_line(const nlohmann::ordered_json& object) {
  return object.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace

void WakeCommand::fields(Fields& fields) {
  fields
      .positional("FILE", recordings_, "Recordings: files, folders, patterns; - is standard input.")
      .completes(Complete::Files);
  fields
      .list("word", "MODEL", wish_,
            "Wake words to listen for: okay-nabu, hey-jarvis, alexa, hey-mycroft, or a .tflite "
            "file with its .json; all that are here without it.")
      .completes(Complete::Models);
  fields.names("phrase", "TEXT", phrases_,
               "A word of your own, such as 'hey mynah', which the recogniser listens for, at the "
               "begin of a sentence.");
  fields
      .option("model", "MODEL", recogniser_.model,
              "The recogniser that confirms words and hears phrases, as for transcribe.")
      .shorter('m')
      .completes(Complete::Models);
  fields.option("cutoff", "P", options_.cutoff,
                "A word is there above this mean probability; 0: what each word's own file says.");
  using Confirm = engine::WakeConfirm;
  fields.choice("confirm", "HOW", confirm_,
                {{"auto", Confirm::Auto}, {"yes", Confirm::Yes}, {"no", Confirm::No}},
                "Have the recogniser hear once more what may be a word but is below its cutoff; "
                "auto: where one is here.");
  fields.time("refractory-s", options_.refractory_s,
              "So long after a word no other of its kind is told.");
  recording_.fields(fields);
  fields.section("Output");
  fields
      .flag("probabilities", probabilities_,
            "Add to --json each word's highest probability in each tenth of a second.")
      .once();
}

std::string WakeCommand::details() const {
  return "Prints the time at which each wake word was heard, in seconds, how sure it is, and the\n"
         "word, one a line. A model gives a probability (1: certain; 'confirmed': it is below the\n"
         "cutoff and the recogniser agrees), --phrase the distance of what was heard from the\n"
         "words (0: the same sounds); --json names them so, too.\n\n"
         "The words are microWakeWord's; 'mynah pull okay-nabu' brings one, 'mynah import\n"
         "FILE.tflite' takes in one of your own. Where a recogniser is here, it confirms what is\n"
         "below a word's cutoff. --phrase needs none of them: what the recogniser writes is\n"
         "compared by its sounds, and costs what transcribing costs.\n\n"
         "  arecord -q -t wav -r 16000 -f S16_LE | mynah wake -";
}

Status WakeCommand::check() const {
  if (recordings_.empty()) {
    return fail(ErrorCode::Usage,
                "wanted a recording, such as kitchen.wav, or - for standard input");
  }
  if (!phrases_.empty() && (!wish_.empty() || probabilities_)) {
    return fail(ErrorCode::Usage,
                "--phrase is heard by a recogniser: it goes neither with --word nor with "
                "--probabilities");
  }
  if (!(options_.cutoff >= 0 && options_.cutoff < 1)) {
    return fail(ErrorCode::Usage,
                fmt::format("--cutoff: wanted a probability below 1, found {}", options_.cutoff));
  }
  constexpr double kDay_s = 86400;
  if (!(options_.refractory_s >= 0 && options_.refractory_s <= kDay_s)) {
    return fail(ErrorCode::Usage, fmt::format("--refractory-s: wanted 0 to {} seconds, found {}",
                                              kDay_s, options_.refractory_s));
  }
  return {};
}

Result<double> WakeCommand::hear(Context& context, const std::string& file, const Words& words,
                                 WakeCheck* check, const AudioOpenOptions& audio) const {
  MYNAH_TRY(const auto source, open_audio(file, audio));
  WakeSpotter spotter(words, options_, check != nullptr);
  auto detections = nlohmann::ordered_json::array();
  auto looks = nlohmann::ordered_json::array();
  const auto looked = [&](const WakeLook& look, const WakeVerdict& verdict) {
    looks.push_back({{"time", to_thousandth(audio.start_s +
                                            in_seconds(static_cast<double>(look.maybe.sample)))},
                     {"word", look.maybe.name},
                     {"probability", to_thousandth(look.maybe.probability)},
                     {"heard", verdict.heard},
                     {"untold", verdict.untold},
                     {"distance", to_thousandth(verdict.distance)}});
  };
  std::vector<std::vector<double>> heights(words.size());
  std::array<float, kPieceSamples> piece;
  double samples = 0;
  while (true) {
    if (context.stop.stop_requested()) {
      return fail(ErrorCode::Cancelled, "stopped");
    }
    size_t count = 0;
    for (size_t more = 1; more > 0 && count < piece.size(); count += more) {
      MYNAH_TRY(more, source->read(std::span(piece).subspan(count)));
    }
    if (count == 0) {
      break;
    }
    samples += static_cast<double>(count);
    MYNAH_TRY(const std::vector<WakeDetection> words_found,
              spot(spotter, check, std::span(piece).first(count), context.stop, looked));
    for (const WakeDetection& found : words_found) {
      const double at = audio.start_s + in_seconds(static_cast<double>(found.sample));
      if (context.json) {
        detections.push_back({{"time", to_thousandth(at)},
                              {"word", found.name},
                              {"probability", to_thousandth(found.probability)},
                              {"confirmed", !found.sure}});
      } else {
        context.out.line(fmt::format("{:9.3f} probability {:.2f}{} {}{}", at, found.probability,
                                     found.sure ? "" : " confirmed", found.name,
                                     recordings_.size() > 1 ? " " + file : std::string()));
        context.out.flush();
      }
    }
    if (probabilities_) {
      const std::vector<double> highest = spotter.take_highest();
      for (size_t i = 0; i < words.size(); ++i) {
        heights[i].push_back(to_thousandth(highest[i]));
      }
    }
  }
  if (context.json) {
    nlohmann::ordered_json object = {{"file", file},
                                     {"duration", to_thousandth(in_seconds(samples))},
                                     {"detections", std::move(detections)}};
    if (probabilities_) {
      object["probabilities"] = nlohmann::ordered_json::object();
      for (size_t i = 0; i < words.size(); ++i) {
        object["probabilities"][words[i]->facts().name] = heights[i];
      }
      object["looks"] = std::move(looks);
    }
    context.out.line(wake_line(object));
  }
  return in_seconds(samples);
}

Result<int> WakeCommand::run(Context& context) {
  MYNAH_TRY_STATUS(check());
  MYNAH_TRY(const AudioOpenOptions audio, recording_.finish());
  if (phrases_.empty()) {
    MYNAH_TRY(const Words words, engine::open_wake_words(wish_, context.environment));
    MYNAH_TRY(const engine::OpenedWakeCheck opened,
              engine::open_wake_check(confirm_, recogniser_, surroundings_of(context)));
    return hear_all(context, [&](const std::string& file) {
      return hear(context, file, words, opened.check.get(), audio);
    });
  }
  MYNAH_TRY(const std::vector<WakePhrase> phrases, make_phrases(phrases_));
  MYNAH_TRY(const engine::OpenedRecognizer opened,
            engine::open_recognizer(recogniser_, surroundings_of(context)));
  return hear_all(context, [&](const std::string& file) {
    return hear_phrases_of(context, file, *opened.recognizer, phrases, audio);
  });
}

Result<double> WakeCommand::hear_phrases_of(Context& context, const std::string& file,
                                            const Recognizer& recognizer,
                                            const std::vector<WakePhrase>& phrases,
                                            const AudioOpenOptions& audio) const {
  auto detections = nlohmann::ordered_json::array();
  const auto tell = [&](const PhraseDetection& found) {
    if (context.json) {
      detections.push_back({{"time", to_thousandth(found.time_s)},
                            {"word", found.phrase},
                            {"distance", to_thousandth(found.distance)},
                            {"heard", found.heard}});
    } else {
      context.out.line(fmt::format("{:9.3f} distance {:.2f} {}{}", found.time_s, found.distance,
                                   found.phrase,
                                   recordings_.size() > 1 ? " " + file : std::string()));
      context.out.flush();
    }
  };
  MYNAH_TRY(const double heard_s,
            hear_phrases(recognizer, phrases, file, audio, tell, context.stop));
  if (context.json) {
    context.out.line(wake_line({{"file", file},
                                {"duration", to_thousandth(heard_s)},
                                {"detections", std::move(detections)}}));
  }
  return heard_s;
}

Result<int> WakeCommand::hear_all(
    Context& context, const std::function<Result<double>(const std::string&)>& hear_one) const {
  const Inputs inputs = expand_inputs(
      recordings_, recording_.raw.empty() ? FolderTakes::Recordings : FolderTakes::Headerless);
  tell_passed_over(context, inputs.passed_over, false);
  std::vector<ErrorCode> failures;
  for (const Input& input : inputs.found) {
    const Result<double> heard =
        input.status ? hear_one(input.name) : std::unexpected(input.status.error());
    if (heard) {
      continue;
    }
    if (context.stop.stop_requested()) {
      return context.stopped_exit_code();
    }
    failures.push_back(heard.error().code);
    context.say_of(input.name, heard.error().message);
    if (context.json) {
      context.out.line(wake_line({{"file", input.name}, {"error", error_json(heard.error())}}));
    }
  }
  return exit_code_of(failures, inputs.found.size());
}

}  // namespace mynah::cli
