#include "server/realtime/settings.h"

#include <algorithm>
#include <array>
#include <span>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "server/http/json_members.h"
#include "server/http/json_text.h"
#include "server/realtime/known_names.h"
#include "server/realtime/reply_wish.h"

namespace mynah::server {
namespace {

using Json = nlohmann::ordered_json;
using Done = std::expected<void, FieldError>;

struct FormatName {
  std::string_view name;
  std::string_view beta;
  SoundEncoding encoding;
  int rate_hz;
};

constexpr std::array<FormatName, 3> kFormats = {
    {{"audio/pcm", "pcm16", SoundEncoding::Pcm16, 24000},
     {"audio/pcmu", "g711_ulaw", SoundEncoding::Mulaw, 8000},
     {"audio/pcma", "g711_alaw", SoundEncoding::Alaw, 8000}}};

constexpr int kLeastRate_hz = 8000;
constexpr int kMostRate_hz = 48000;
constexpr double kLeastSpeed = 0.25;
constexpr double kMostSpeed = 1.5;
constexpr int kMostMilliseconds = 60'000;

// What replies are written by, and what does nothing here, as the client has it; up to so many
// bytes.
constexpr std::array<const char*, 12> kKept = {"instructions", "tools",
                                               "tool_choice",  "parallel_tool_calls",
                                               "reasoning",    "max_output_tokens",
                                               "truncation",   "temperature",
                                               "tracing",      "prompt",
                                               "include",      "output_modalities"};
constexpr size_t kMostKept = 256U << 10U;

// What is known of a session and of the objects in it; what a client tells again of what it was
// told is among it.
constexpr std::string_view kSessionNames =
    "type object id model audio note expires_at client_secret instructions tools tool_choice "
    "parallel_tool_calls reasoning max_output_tokens truncation tracing prompt include "
    "output_modalities";
// Besides them in the beta.
constexpr std::string_view kFlatNames =
    "input_audio_format input_audio_transcription input_audio_noise_reduction turn_detection "
    "output_audio_format voice speed modalities max_response_output_tokens temperature";
constexpr std::string_view kInputNames = "format transcription noise_reduction turn_detection";
constexpr std::string_view kTranscriptionNames = "model language languages prompt keywords delay";
constexpr std::string_view kTurnNames =
    "type threshold prefix_padding_ms silence_duration_ms interrupt_response idle_timeout_ms "
    "create_response eagerness note";
constexpr std::string_view kOutputNames = "format voice speed";

// Silence that ends turns where no model hears their ends: who is eager to answer waits less.
int silence_ms_of(Eagerness eagerness) {
  switch (eagerness) {
    case Eagerness::Low:
      return 800;
    case Eagerness::High:
      return 300;
    default:
      return 500;
  }
}

const FormatName& name_of(const SoundFormatWish& format) {
  return *std::ranges::find(kFormats, format.encoding, &FormatName::encoding);
}

Json told_format(const SoundFormatWish& format) {
  Json told = {{"type", name_of(format).name}};
  if (format.encoding == SoundEncoding::Pcm16) {
    told["rate"] = format.rate_hz;
  }
  return told;
}

// {"type": "audio/pcm", "rate": 24000}, or the beta's "pcm16".
Done take_format(const Members& members, SoundFormatWish& format) {
  const Json* const found = members.find("format");
  if (found == nullptr) {
    return {};
  }
  const Members inner(*found, members.called("format."));
  std::string type;
  if (found->is_object()) {
    MYNAH_TRY(type, inner.text("type"));
  } else if (found->is_string()) {
    type = found->get<std::string>();
  }
  const auto known = std::ranges::find_if(
      kFormats, [&type](const FormatName& one) { return type == one.name || type == one.beta; });
  if (known == kFormats.end()) {
    return wrong_field(members.called("format"),
                       fmt::format("{}: wanted a type of audio/pcm, audio/pcmu or audio/pcma",
                                   members.called("format")));
  }
  format = {.encoding = known->encoding, .rate_hz = known->rate_hz};
  if (found->is_object() && known->encoding == SoundEncoding::Pcm16) {
    MYNAH_TRY(const double rate, inner.number("rate", kLeastRate_hz, kMostRate_hz, known->rate_hz));
    format.rate_hz = static_cast<int>(rate);
  }
  return {};
}

// A name, or an object with an id.
Done take_voice(const Members& members, std::string& voice) {
  const Json* const found = members.find("voice");
  if (found == nullptr) {
    return {};
  }
  if (found->is_object()) {
    MYNAH_TRY(voice, Members(*found, members.called("voice.")).text("id"));
    return {};
  }
  MYNAH_TRY(voice, members.text("voice"));
  return {};
}

Done take_modalities(const Members& members, bool& sound) {
  const Json* const found = members.find("output_modalities");
  if (found == nullptr) {
    return {};
  }
  const bool texts = found->is_array() && std::ranges::all_of(*found, [](const Json& one) {
                       return one == "audio" || one == "text";
                     });
  if (!texts || found->empty()) {
    return wrong_field(members.called("output_modalities"),
                       "output_modalities: wanted [\"audio\"] or [\"text\"]");
  }
  sound = std::ranges::find(*found, "audio") != found->end();
  return {};
}

Done take_output(const Json& output, const std::string& within, SpeakingWish& speaking) {
  const Members members(output, within);
  MYNAH_TRY_STATUS(take_format(members, speaking.format));
  MYNAH_TRY_STATUS(take_voice(members, speaking.voice));
  MYNAH_TRY(speaking.speed, members.number("speed", kLeastSpeed, kMostSpeed, speaking.speed));
  return {};
}

// The beta's flat names in the places that they have today. What is null stays.
Json nested(const Json& flat) {
  struct Move {
    const char* from;
    std::array<const char*, 3> to;
  };

  static constexpr std::array<Move, 8> kMoves = {
      {{"input_audio_format", {"audio", "input", "format"}},
       {"input_audio_transcription", {"audio", "input", "transcription"}},
       {"input_audio_noise_reduction", {"audio", "input", "noise_reduction"}},
       {"turn_detection", {"audio", "input", "turn_detection"}},
       {"output_audio_format", {"audio", "output", "format"}},
       {"voice", {"audio", "output", "voice"}},
       {"speed", {"audio", "output", "speed"}},
       {"modalities", {"output_modalities", nullptr, nullptr}}}};
  Json session = flat;
  for (const Move& move : kMoves) {
    const auto found = flat.find(move.from);
    if (found == flat.end()) {
      continue;
    }
    Json* place = &session;
    for (const char* const name : move.to) {
      if (name != nullptr) {
        Json& inner = (*place)[name];
        inner = inner.is_object() || name == move.to.back() ? inner : Json::object();
        place = &inner;
      }
    }
    *place = *found;
  }
  if (const auto most = flat.find("max_response_output_tokens"); most != flat.end()) {
    session["max_output_tokens"] = *most;
  }
  return session;
}

}  // namespace

Settings::Settings(bool transcription, std::string model)
    : transcription_(transcription), model_(std::move(model)) {
  if (transcription) {
    hearing_.model = model_;
  }
  transcription_told_ = {{"model", hearing_.model.empty() ? "whisper-1" : hearing_.model}};
}

Done Settings::take_turns(const Json& input) {
  const Json& asked = input["turn_detection"];
  if (asked.is_null()) {
    hearing_.turns.reset();
    return {};
  }
  const std::string within = "session.audio.input.turn_detection.";
  if (!asked.is_object()) {
    return wrong_field("session.audio.input.turn_detection",
                       "session.audio.input.turn_detection: wanted an object or null");
  }
  static_cast<void>(known_part(asked, kTurnNames, within, unknown_));
  const Members members(asked, within);
  MYNAH_TRY(const std::string type, members.text("type"));
  if (!type.empty() && type != "server_vad" && type != "semantic_vad") {
    return wrong_field(
        within + "type",
        fmt::format("{}type: wanted server_vad or semantic_vad, found '{}'", within, type));
  }
  TurnWish turns;
  if (hearing_.turns && type != "semantic_vad") {
    turns = *hearing_.turns;
  }
  turns.eagerness.reset();
  if (type == "semantic_vad") {
    MYNAH_TRY(const std::string asked_for, members.text("eagerness"));
    turns.eagerness = parse_eagerness(asked_for.empty() ? "auto" : asked_for);
    if (!turns.eagerness) {
      return wrong_field(within + "eagerness",
                         fmt::format("{}eagerness: wanted auto, low, medium or high, found '{}'",
                                     within, asked_for));
    }
    turns.silence_duration_ms = silence_ms_of(*turns.eagerness);
  }
  MYNAH_TRY(turns.threshold, members.number("threshold", 0, 1, turns.threshold));
  MYNAH_TRY(const double prefix,
            members.number("prefix_padding_ms", 0, kMostMilliseconds, turns.prefix_padding_ms));
  turns.prefix_padding_ms = static_cast<int>(prefix);
  MYNAH_TRY(const double silence,
            members.number("silence_duration_ms", 0, kMostMilliseconds, turns.silence_duration_ms));
  turns.silence_duration_ms = static_cast<int>(silence);
  MYNAH_TRY(turns.interrupts, members.flag("interrupt_response", turns.interrupts));
  MYNAH_TRY(replies_, members.flag("create_response", replies_));
  constexpr double kNone = 0;
  MYNAH_TRY(const double idle, members.number("idle_timeout_ms", kNone, kMostMilliseconds, kNone));
  turns.idle_timeout_ms = idle > kNone ? std::optional(static_cast<int>(idle)) : std::nullopt;
  hearing_.turns = turns;
  return {};
}

Done Settings::take_transcription(const Json& input) {
  const Json& asked = input["transcription"];
  tells_transcripts_ = !asked.is_null();
  transcription_told_ =
      known_part(asked, kTranscriptionNames, "session.audio.input.transcription.", unknown_);
  if (asked.is_null()) {
    return {};
  }
  if (!asked.is_object()) {
    return wrong_field("session.audio.input.transcription",
                       "session.audio.input.transcription: wanted an object or null");
  }
  const Members members(asked, "session.audio.input.transcription.");
  MYNAH_TRY(hearing_.model, members.text("model"));
  MYNAH_TRY(hearing_.language, members.text("language"));
  MYNAH_TRY(hearing_.prompt, members.text("prompt"));
  const auto texts_of = [&members](const char* name) {
    std::vector<std::string> texts;
    const Json* const found = members.find(name);
    for (const Json& one : found == nullptr ? Json::array() : *found) {
      if (one.is_string()) {
        texts.push_back(one.get<std::string>());
      }
    }
    return texts;
  };
  if (const auto languages = texts_of("languages");
      hearing_.language.empty() && languages.size() == 1) {
    hearing_.language = languages.front();
  }
  hearing_.hotwords = texts_of("keywords");
  if (hearing_.model.empty()) {
    hearing_.model = transcription_ ? model_ : "";
  }
  return {};
}

Done Settings::take_input(const Json& input) {
  static_cast<void>(known_part(input, kInputNames, "session.audio.input.", unknown_));
  const Members members(input, "session.audio.input.");
  MYNAH_TRY_STATUS(take_format(members, hearing_.format));
  if (input.contains("transcription")) {
    MYNAH_TRY_STATUS(take_transcription(input));
  }
  return input.contains("turn_detection") ? take_turns(input) : Done();
}

Done Settings::update(const Json& session) {
  const Json whole = nested(session);
  Settings changed = *this;
  changed.unknown_.clear();
  static_cast<void>(known_part(session, fmt::format("{} {}", kSessionNames, kFlatNames), "session.",
                               changed.unknown_));
  const Members members(whole, "session.");
  MYNAH_TRY(const std::string type, members.text("type"));
  if (!type.empty() && type != "realtime" && type != "transcription") {
    return wrong_field(
        "session.type",
        fmt::format("session.type: wanted realtime or transcription, found '{}'", type));
  }
  changed.transcription_ = type.empty() ? transcription_ : type == "transcription";
  MYNAH_TRY(const std::string model, members.text("model"));
  changed.model_ = model.empty() ? model_ : model;
  MYNAH_TRY_STATUS(members.text("instructions"));
  MYNAH_TRY(const Json* const audio, members.object("audio"));
  if (audio != nullptr) {
    const Members parts(*audio, "session.audio.");
    MYNAH_TRY(const Json* const input, parts.object("input"));
    if (input != nullptr) {
      MYNAH_TRY_STATUS(changed.take_input(*input));
    }
    MYNAH_TRY(const Json* const output, parts.object("output"));
    static_cast<void>(known_part(*audio, "input output", "session.audio.", changed.unknown_));
    if (output != nullptr) {
      static_cast<void>(
          known_part(*output, kOutputNames, "session.audio.output.", changed.unknown_));
      MYNAH_TRY_STATUS(take_output(*output, "session.audio.output.", changed.speaking_));
    }
  }
  MYNAH_TRY_STATUS(take_modalities(members, changed.speaking_.sound));
  for (const char* const name : kKept) {
    if (whole.contains(name)) {
      changed.kept_[name] = whole[name];
    }
  }
  if (json_text(changed.kept_).size() > kMostKept) {
    return wrong_field("session",
                       fmt::format("session: wanted at most {} KB of instructions, tools "
                                   "and the like",
                                   kMostKept >> 10U));
  }
  if (!changed.transcription_) {
    MYNAH_TRY_STATUS(written_wish(changed.kept_, "session."));
  }
  *this = std::move(changed);
  return {};
}

bool Settings::tells_log_probabilities() const {
  const auto include = kept_.find("include");
  return include != kept_.end() && include->is_array() &&
         std::ranges::find(*include, "item.input_audio_transcription.logprobs") != include->end();
}

std::expected<SpeakingWish, FieldError> Settings::speaking_for(const Json& response) const {
  SpeakingWish wish = speaking_;
  const Json whole = nested(response);
  const Members members(whole, "response.");
  MYNAH_TRY_STATUS(take_modalities(members, wish.sound));
  MYNAH_TRY(const Json* const audio, members.object("audio"));
  if (audio != nullptr) {
    MYNAH_TRY(const Json* const output, Members(*audio, "response.audio.").object("output"));
    if (output != nullptr) {
      MYNAH_TRY_STATUS(take_output(*output, "response.audio.output.", wish));
    }
  }
  return wish;
}

Json Settings::writing_for(const Json& response) const {
  Json fields = kept_;
  const Json own = nested(response);
  for (const char* const name : kKept) {
    if (own.contains(name) && !own[name].is_null()) {
      fields[name] = own[name];
    }
  }
  if (!fields.contains("instructions") || !fields["instructions"].is_string()) {
    fields["instructions"] = kUsualInstructions;
  }
  return fields;
}

Json Settings::told_turns() const {
  if (!hearing_.turns) {
    return nullptr;
  }
  const TurnWish& turns = *hearing_.turns;
  Json told = {{"type", "server_vad"},
               {"threshold", turns.threshold},
               {"prefix_padding_ms", turns.prefix_padding_ms},
               {"silence_duration_ms", turns.silence_duration_ms}};
  if (!transcription_) {
    told["idle_timeout_ms"] = nullptr;
    if (turns.idle_timeout_ms) {
      told["idle_timeout_ms"] = *turns.idle_timeout_ms;
    }
    told["create_response"] = writes_ && replies_;
    told["interrupt_response"] = turns.interrupts;
  }
  if (turns.eagerness && hears_ends_) {
    told["type"] = "semantic_vad";
    told["eagerness"] = name_of(*turns.eagerness);
    told.erase("silence_duration_ms");
  } else if (turns.eagerness) {
    told["note"] =
        "semantic_vad wants a model that hears the ends of turns, and none is here (mynah pull "
        "smart-turn): server_vad with a silence by its eagerness";
  }
  return told;
}

Json Settings::told_output(const SpeakingWish& wish) {
  return {{"format", told_format(wish.format)},
          {"voice", wish.voice.empty() ? "alloy" : wish.voice}};
}

Json Settings::told(const std::string& id, bool beta) const {
  Json told = {{"type", transcription_ ? "transcription" : "realtime"},
               {"object", transcription_ ? "realtime.transcription_session" : "realtime.session"},
               {"id", id}};
  if (!model_.empty()) {
    told["model"] = model_;
  }
  if (beta) {
    told.erase("type");
    told["input_audio_format"] = name_of(hearing_.format).beta;
    told["input_audio_transcription"] = transcription_told_;
    told["input_audio_noise_reduction"] = nullptr;
    told["turn_detection"] = told_turns();
    if (!transcription_) {
      told["modalities"] = speaking_.sound ? Json::array({"text", "audio"}) : Json::array({"text"});
      told["output_audio_format"] = name_of(speaking_.format).beta;
      told["voice"] = speaking_.voice.empty() ? "alloy" : speaking_.voice;
      told["speed"] = speaking_.speed;
    }
  } else {
    told["audio"]["input"] = {{"format", told_format(hearing_.format)},
                              {"transcription", transcription_told_},
                              {"noise_reduction", nullptr},
                              {"turn_detection", told_turns()}};
    if (!transcription_) {
      told["output_modalities"] = Json::array({speaking_.sound ? "audio" : "text"});
      told["audio"]["output"] = told_output(speaking_);
      told["audio"]["output"]["speed"] = speaking_.speed;
    }
  }
  if (writes_ && !transcription_) {
    told["instructions"] = kUsualInstructions;
    told["tools"] = Json::array();
    told["tool_choice"] = "auto";
    told["max_output_tokens"] = "inf";
    told["truncation"] = "auto";
  }
  for (const auto& [name, value] : kept_.items()) {
    if (name != "output_modalities" && (!transcription_ || name == "include")) {
      told[name] = value;
    }
  }
  std::vector<std::string> notes;
  if (!unknown_.empty()) {
    constexpr size_t kMostNamed = 20;
    const std::span all(unknown_);
    notes.push_back(fmt::format("nothing here is called {}",
                                fmt::join(all.first(std::min(all.size(), kMostNamed)), ", ")));
  }
  if (!transcription_ && foreign_tools(kept_) > 0) {
    notes.emplace_back("session.tools: those that are no functions do nothing here");
  }
  if (!notes.empty()) {
    told["note"] = fmt::format("{}", fmt::join(notes, "; "));
  }
  return told;
}

}  // namespace mynah::server
