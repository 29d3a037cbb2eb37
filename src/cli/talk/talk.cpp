#include "cli/talk/talk.h"

#include <filesystem>
#include <memory>
#include <random>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "audio/device/open_device.h"
#include "audio/open.h"
#include "base/machine_sleep.h"
#include "chat/choice_ranges.h"
#include "cli/command/signals.h"
#include "cli/files/named_output.h"
#include "cli/placement/engine_fields.h"
#include "cli/placement/placement_answer.h"
#include "cli/speak/sound_output.h"
#include "cli/speak/speak_options.h"
#include "cli/talk/desk_talk.h"
#include "cli/talk/file_talk.h"
#include "cli/talk/talk_printer.h"
#include "cli/talk/talk_prompt.h"
#include "cli/talk/talk_screen.h"
#include "speech/hearing.h"

namespace mynah::cli {

namespace {

// Shorter, and people are cut off between two words.
constexpr double kLeastPause_s = 0.2;
constexpr double kMostPause_s = 10;

// The smallest models of all organs: docs/talk.md says the same.
constexpr std::string_view kEnglishPull = "mynah pull tiny.en silero hibari smollm2 smart-turn";

// By the name of what is written; none: AAC in MP4, which is written as a whole.
Result<std::optional<SoundFormat>> format_of(const std::string& out) {
  SoundOptions sound;
  sound.out = out;
  if (sound.is_m4b()) {
    return std::nullopt;
  }
  return sound.format_of("");
}

Result<std::unique_ptr<SoundOutput>> open_out(const std::string& out, OutputStream& standard,
                                              int rate_hz) {
  if (out.empty()) {
    return nullptr;
  }
  MYNAH_TRY(const auto format, format_of(out));
  return format ? open_sound_output(out, standard, {.format = *format, .rate_hz = rate_hz})
                : open_book_output(out, rate_hz);
}

bool has_screen(const Context& context) {
  return !context.json && context.in.is_terminal() && context.out.is_terminal();
}

talk::TalkParts parts_of(TalkModels& models, const TalkMind& mind, talk::Workers& workers) {
  return {.voice = models.voice,
          .ear = *models.ear,
          .mind = mind.mind(),
          .mouth = *models.mouth,
          .end = *models.end,
          .workers = workers};
}

}  // namespace

void TalkCommand::fields(Fields& fields) {
  fields.section("Sound");
  fields
      .option("wav", "FILE", wav_,
              "A recording that is heard in place of the microphone, of any kind that transcribe "
              "takes; - is standard input.")
      .completes(Complete::Files)
      .once();
  fields
      .option("out", "FILE", out_,
              "With --wav: what would have been played, from the recording's beginning on, as a "
              "sound file; - is standard output.")
      .shorter('o')
      .completes(Complete::Files)
      .once();
  fields.flag(
      "real-time", real_time_,
      "With --wav: let every second of it take a second; else none does in which nothing is "
      "computed.");
  fields.option("microphone", "DEVICE", microphone_,
                "What is heard, such as pulse:NAME or alsa:hw:0 (`mynah devices --sound` lists "
                "them); empty: the usual one.");
  fields.option("loudspeaker", "DEVICE", loudspeaker_,
                "Where replies are played, of the same sound system; empty: the usual one.");
  fields.flag("push-to-talk", push_to_talk_,
              "At a terminal: hear only between two presses of the space bar.");
  wake_.fields(fields);
  fields
      .option(
          "keep-audio", "FOLDER", keep_audio_,
          "Keep both sides of the conversation there, as heard.wav and said.wav; empty: nothing "
          "is kept.")
      .completes(Complete::Files)
      .once();
  satellite_.fields(fields);
  fields.section("Conversation");
  fields.option("system", "TEXT", system_, "What the model is told before all else.").shorter('s');
  memory_.fields(fields);
  tools_.fields(fields);
  fields
      .option("lang", "LANGUAGE", wish_.language,
              "The language that is spoken, such as en, or en-GB, of which the first part counts; "
              "empty: each turn's own.")
      .also("language")
      .shorter('l');
  fields.choice("eagerness", "HOW", wish_.eagerness,
                {{"auto", Eagerness::Auto},
                 {"low", Eagerness::Low},
                 {"medium", Eagerness::Medium},
                 {"high", Eagerness::High}},
                "How soon a pause is taken for the end of a turn, by how it sounds and what was "
                "said (mynah pull smart-turn).");
  fields
      .option("pause", "SECONDS", wish_.pause_s,
              "Silence that ends a turn, however it sounds; none: as --eagerness has it.")
      .within(kLeastPause_s, kMostPause_s);
  fields.option("max-tokens", "N", most_tokens_, "Tokens of a reply at most.")
      .within(1, choice::kTokens.most);
  fields
      .option("temperature", "X", sampling_.temperature,
              "How freely words are chosen; 0: always the likeliest.")
      .within(choice::kTemperature.least, choice::kTemperature.most);
  fields.option("seed", "N", seed_, "Same seed, same text; none: another each time.");
  fields.section("Voice");
  fields
      .option(
          "voice", "NAME", wish_.spoken.voice.voice,
          "The voice of replies; empty: the best. Where it does not speak the language that was "
          "heard, one of its model's that does takes its place.")
      .shorter('v')
      .completes(Complete::Voices);
  fields.option("speed", "X", wish_.spoken.voice.speed, "0.25 to 4.").within(0.25, 4);
  wish_.fields(fields);
  fields.flag("timings", timings_, "Say on stderr how long each reply took.");
  wish_.services.fields(fields);
}

std::string TalkCommand::details() const {
  return "What is heard and said is printed; with --json a line an event: organs, voice, draft, "
         "heard,\n"
         "replies (with times), said, held, went_on, fault, moved, woke, sleeps, tool, rings, "
         "remark,\nrecalled. at_s counts what was captured.\n\n"
         "--llm, --stt and --tts ask servers with OpenAI's API (another mynah, llama.cpp's, "
         "Ollama,\n"
         "vLLM, LM Studio, speaches, Kokoro-FastAPI, OpenAI): what is said or written goes there,\n"
         "which is told. --model, --asr-model and --voice-model name models of these servers "
         "then.\n\n" +
         device_details();
}

Result<std::vector<std::string>> TalkCommand::translate(std::vector<std::string> arguments,
                                                        const Fields& fields) {
  fields_ = &fields;
  return arguments;
}

std::vector<std::string> TalkCommand::given() const {
  std::vector<std::string> names;
  for (const Field& field : fields_->all()) {
    if (field.origin == Origin::Flag) {
      names.push_back(field.name);
    }
  }
  return names;
}

Status TalkCommand::check(const Context& context) const {
  MYNAH_TRY_STATUS(wish_.services.check());
  const bool at_desk =
      !microphone_.empty() || !loudspeaker_.empty() || push_to_talk_ || !keep_audio_.empty();
  if (!wav_.empty() && at_desk) {
    return fail(ErrorCode::Usage,
                "--wav is heard in place of a microphone: wanted none of --microphone, "
                "--loudspeaker, --push-to-talk and --keep-audio beside it");
  }
  MYNAH_TRY_STATUS(satellite_.check(given(), !wake_.word.empty()));
  if (push_to_talk_ && !wake_.word.empty()) {
    return fail(ErrorCode::Usage,
                "--push-to-talk and --wake both say when it listens: wanted one of them");
  }
  if (push_to_talk_ && !has_screen(context)) {
    return fail(ErrorCode::Usage,
                "--push-to-talk wants a terminal whose space bar is pressed: standard input or "
                "output is none, or --json is given");
  }
  if (satellite_.wanted && wake_.word.contains(' ')) {
    return fail(ErrorCode::Usage,
                fmt::format("--satellite waits for a model's word, such as okay-nabu, found '{}'",
                            wake_.word));
  }
  if (wav_.empty() && (!out_.empty() || real_time_)) {
    return fail(ErrorCode::Usage, "--out and --real-time are for --wav, which is not given");
  }
  if (out_ == "-" && context.json) {
    return fail(ErrorCode::Usage, "--out - and --json both want standard output: give one");
  }
  if (!out_.empty()) {
    MYNAH_TRY_STATUS(check_distinct({{"--wav", wav_}}, {{"--out", out_}}));
    MYNAH_TRY_STATUS(format_of(out_));
  }
  return {};
}

talk::TalkSettings TalkCommand::settings(const std::string& language) const {
  talk::TalkSettings settings{.system = system_, .request = {}, .language = language};
  settings.request.choice = {.sampling = sampling_,
                             .remembered = 64,
                             .seed = seed_.value_or(std::random_device{}()),
                             .most_tokens = most_tokens_,
                             .stops = {}};
  settings.request.thinking.effort = Thinking::Effort::None;
  settings.request.too_long = TooLong::LeaveOut;
  settings.request.owner = "talk";
  settings.request.conversation = "talk";
  return settings;
}

Result<std::unique_ptr<TalkMind>> TalkCommand::open_mind(Context& context, const TalkModels& models,
                                                         talk::Confirm& confirm) const {
  engine::PlacementWish placement = wish_.placement;
  placement.beside = models.placer;
  MYNAH_TRY(auto mind,
            TalkMind::open(
                context,
                {.tools = tools_, .file = tools_file_, .memory = memory_, .placement = placement},
                *models.mind, confirm));
  if (models.writes != nullptr) {
    MYNAH_TRY(const auto notes, check_talk_prompt(*models.writes, system_, mind->offered_tools()));
    say_each(context, notes);
  }
  return mind;
}

Result<int> TalkCommand::talk_to_file(Context& context, AudioSource& source,
                                      TalkModels& models) const {
  MYNAH_TRY(const auto output, open_out(out_, context.out, models.mouth->rate_hz()));
  TalkPrinter printer(context, {.timings = timings_, .sound_on_output = out_ == "-"});
  printer.print_organs(models.ear->facts(), models.mind->facts(), models.mouth->facts());
  talk::NobodyConfirms nobody;
  MYNAH_TRY(const auto mind, open_mind(context, models, nobody));
  talk::ThreadWorkers workers;
  MYNAH_TRY(auto wakes, open_wake_ear(context, wake_, models, workers));
  if (const std::string note = own_words_note(context, wake_); !note.empty()) {
    context.say(note);
  }
  talk::Conversation conversation(parts_of(models, *mind, workers), settings(models.language));
  talk::WakeGate gate(conversation, std::move(wakes), wake_.settings(models.mouth->rate_hz()));
  conversation.warm_up();
  BesideTalk beside(*mind, conversation);
  FileTalk talk{.conversation = conversation,
                .gate = gate,
                .source = source,
                .output = output.get(),
                .tell =
                    [&](const talk::TalkEvent& event) {
                      beside.take(event);
                      printer.print(event);
                    },
                .pace = real_time_ ? TalkPace::RealTime : TalkPace::AsNeeded};
  const Status talked = talk.run(context.stop);
  if (!talked) {
    if (output) {
      MYNAH_TRY(const auto kept, output->keep_part());
      if (kept) {
        context.say(fmt::format("it ended early: what was said is kept as {}", *kept));
      }
    }
    return context.stop.stop_requested() ? Result<int>(context.stopped_exit_code())
                                         : std::unexpected(talked.error());
  }
  if (output) {
    MYNAH_TRY_STATUS(output->finish());
  }
  if (!printer.any_words() && !context.json) {
    context.say_of(wav_, wake_.word.empty()
                             ? std::string("no speech found")
                             : fmt::format("nothing was heard behind '{}'", wake_.word));
  }
  return printer.any_fault() ? 1 : 0;
}

Result<int> TalkCommand::talk_at_desk(Context& context, TalkModels& models) const {
  const int rate_hz = models.mouth->rate_hz();
  MYNAH_TRY(const auto device, open_sound_device({.microphone = microphone_,
                                                  .loudspeaker = loudspeaker_,
                                                  .playback_hz = rate_hz,
                                                  .server = {}}));
  std::unique_ptr<SoundOutput> heard;
  std::unique_ptr<SoundOutput> said;
  if (!keep_audio_.empty()) {
    std::error_code refused;
    std::filesystem::create_directories(keep_audio_, refused);
    if (refused) {
      return fail(ErrorCode::Io,
                  fmt::format("cannot make the folder {}: {}", keep_audio_, refused.message()));
    }
    MYNAH_TRY(heard, open_sound_output(keep_audio_ + "/heard.wav", context.out,
                                       {.format = SoundFormat::Wav, .rate_hz = kHeardHz}));
    MYNAH_TRY(said, open_sound_output(keep_audio_ + "/said.wav", context.out,
                                      {.format = SoundFormat::Wav, .rate_hz = rate_hz}));
  }
  TalkPrinter printer(context, {.timings = timings_});
  printer.print_organs(models.ear->facts(), models.mind->facts(), models.mouth->facts());
  KeyConfirm keys;
  talk::NobodyConfirms nobody;
  MYNAH_TRY(
      const auto mind,
      open_mind(context, models, has_screen(context) ? static_cast<talk::Confirm&>(keys) : nobody));
  talk::ThreadWorkers workers;
  MYNAH_TRY(auto wakes, open_wake_ear(context, wake_, models, workers));
  MYNAH_TRY(const auto stage, talk::EchoStage::create(kHeardHz, models.voice));
  talk::TalkParts parts = parts_of(models, *mind, workers);
  parts.voice = stage->voice();
  talk::TalkSettings desk_settings = settings(models.language);
  desk_settings.interruption.hold = samples_of(parts.voice->frame_s());  // the stage has waited
  talk::Conversation conversation(parts, std::move(desk_settings));
  talk::WakeGate gate(conversation, std::move(wakes), wake_.settings(models.mouth->rate_hz()));
  conversation.warm_up();
  BesideTalk beside(*mind, conversation);
  std::unique_ptr<TalkScreen> screen;
  if (has_screen(context)) {
    MYNAH_TRY(screen, TalkScreen::open(STDIN_FILENO, context.out.descriptor()));
  }
  const bool shown = screen != nullptr;  // the screen has it all
  std::vector<std::string> first_notes =
      leaving_words(models.ear->facts(), models.mind->facts(), models.mouth->facts());
  if (const std::string note = own_words_note(context, wake_); !note.empty()) {
    first_notes.push_back(note);
    if (!shown) {
      context.say(note);
    }
  }
  DeskTalk desk({.first_notes = std::move(first_notes),
                 .conversation = conversation,
                 .gate = gate,
                 .device = *device,
                 .stage = *stage,
                 .screen = screen.get(),
                 .confirm = &keys,
                 .keeps = mind->memory() != nullptr,
                 .heard = heard.get(),
                 .said = said.get(),
                 .tell =
                     [&](const talk::TalkEvent& event) {
                       beside.take(event);
                       if (!shown) {
                         printer.print(event);
                       }
                     },
                 .note =
                     [&](std::string_view kind, const std::string& note) {
                       if (!shown) {
                         printer.print_device(kind, note);
                       }
                     },
                 .asleep_s = asleep_s},
                push_to_talk_);
  const Status talked = desk.run(context.stop);
  if (shown) {
    // The other screen takes what it showed with it: here it can be read and copied.
    screen.reset();
    for (const TalkView::Line& line : desk.lines()) {
      context.out.line(plain_line(line));
    }
    context.out.flush();
  }
  MYNAH_TRY_STATUS(talked);
  if (heard) {
    MYNAH_TRY_STATUS(heard->finish());
    MYNAH_TRY_STATUS(said->finish());
  }
  return context.stop.stop_requested() ? context.stopped_exit_code() : 0;
}

Result<int> TalkCommand::run(Context& context) {
  MYNAH_TRY_STATUS(check(context));
  if (satellite_.wanted) {
    return talk_as_satellite(
        context, satellite_, wake_.word, wish_.hear,
        {.microphone = microphone_, .loudspeaker = loudspeaker_, .server = {}});
  }
  // Before any model: a file that cannot be read is told at once.
  MYNAH_TRY(tools_file_, tools_.read());
  std::unique_ptr<AudioSource> source;
  if (!wav_.empty()) {
    AudioOpenOptions audio;
    audio.note = [&](const std::string& note) { context.say_of(wav_, note); };
    audio.stop = context.stop;
    auto recording = open_audio(wav_, audio);
    if (!recording && recording.error().message.contains("--raw")) {
      Error error = std::move(recording).error();
      error.message += "; talk has no --raw: make a WAV of it first (SoX or ffmpeg do)";
      return std::unexpected(std::move(error));
    }
    MYNAH_TRY(source, std::move(recording));
  }
  if (context.err.is_terminal()) {
    context.say("loading the models; Ctrl-C leaves");
  }
  // Nothing is said or kept yet that would have to end in order.
  leave_at_first_signal(true);
  auto opened = open_talk_models(context, wish_);
  leave_at_first_signal(false);
  if (!opened && opened.error().code == ErrorCode::Environment && !wish_.services.any()) {
    Error error = std::move(opened).error();
    error.message += "; a conversation in English wants: " + std::string(kEnglishPull);
    return std::unexpected(std::move(error));
  }
  MYNAH_TRY(TalkModels models, std::move(opened));
  MYNAH_TRY(const int code, source == nullptr ? talk_at_desk(context, models)
                                              : talk_to_file(context, *source, models));
  if (models.engine) {
    MYNAH_TRY_STATUS(models.engine->placer().settle());
  }
  return code;
}

}  // namespace mynah::cli
