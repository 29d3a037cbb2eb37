// Settings: what a client of Realtime asked for, in the names of today or those of the beta.
#pragma once

#include <expected>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "server/http/field_error.h"
#include "server/realtime/sound_input.h"
#include "speech/end_of_turn_rule.h"

namespace mynah::server {

// How the ends of turns are found (server_vad, semantic_vad).
struct TurnWish {
  double threshold = 0.5;
  int prefix_padding_ms = 300;
  int silence_duration_ms = 500;
  std::optional<Eagerness> eagerness;  // semantic_vad: how a turn sounds ends it, where a model is
                                       // here that hears it, and else the silence
  bool interrupts = true;              // what is being spoken
  std::optional<int> idle_timeout_ms;

  bool operator==(const TurnWish&) const = default;
};

// What hearing hangs on.
struct HearingWish {
  SoundFormatWish format;
  std::optional<TurnWish> turns = TurnWish();  // none: the client commits
  std::string model;
  std::string language;
  std::string prompt;
  std::vector<std::string> hotwords;
  bool operator==(const HearingWish&) const = default;
};

struct SpeakingWish {
  SoundFormatWish format;
  std::string voice;
  double speed = 1;
  bool sound = true;  // and not text alone

  bool operator==(const SpeakingWish&) const = default;
};

class Settings {
 public:
  // `transcription`: a session that hears and says nothing. `model`: that the client's address
  // names.
  Settings(bool transcription, std::string model);

  // Takes what `session` says of a session.update. Nothing is changed where something in it is
  // wrong. What nobody knows is passed over, and told by name.
  std::expected<void, FieldError> update(const nlohmann::ordered_json& session);

  // Whether a model is here that hears the ends of turns: semantic_vad is told as it is.
  void set_hears_ends(bool hears_ends) { hears_ends_ = hears_ends; }

  // As they are in effect. `beta`: in the flat names of the beta.
  [[nodiscard]] nlohmann::ordered_json told(const std::string& id, bool beta) const;

  // How sound is sent: {"format", "voice"}.
  [[nodiscard]] static nlohmann::ordered_json told_output(const SpeakingWish& wish);

  [[nodiscard]] bool is_transcription() const { return transcription_; }

  [[nodiscard]] const HearingWish& hearing() const { return hearing_; }

  [[nodiscard]] const SpeakingWish& speaking() const { return speaking_; }

  // Whether a language model is here that writes replies: else none begins by itself, and the
  // client is told so.
  void set_writes(bool writes) { writes_ = writes; }

  [[nodiscard]] bool writes() const { return writes_; }

  // The end of a turn has a reply begin. A session of transcription has none.
  [[nodiscard]] bool replies_to_turns() const {
    return !transcription_ && writes_ && replies_ && hearing_.turns;
  }

  // That talks, as the client names it; "": it does not.
  [[nodiscard]] const std::string& model() const { return model_; }

  // What a response wants of a language model, the session's fields with its own in their place
  // (reply_wish.h).
  [[nodiscard]] nlohmann::ordered_json writing_for(const nlohmann::ordered_json& response) const;

  // Whether the client wants to be told what it said.
  [[nodiscard]] bool tells_transcripts() const { return tells_transcripts_; }

  [[nodiscard]] bool tells_log_probabilities() const;

  // What a response wants otherwise than the session (response.create).
  [[nodiscard]] std::expected<SpeakingWish, FieldError> speaking_for(
      const nlohmann::ordered_json& response) const;

 private:
  using Json = nlohmann::ordered_json;

  std::expected<void, FieldError> take_input(const Json& input);
  std::expected<void, FieldError> take_turns(const Json& input);
  std::expected<void, FieldError> take_transcription(const Json& input);
  [[nodiscard]] Json told_turns() const;

  bool transcription_;
  std::string model_;
  HearingWish hearing_;
  SpeakingWish speaking_;
  bool tells_transcripts_ = true;
  bool writes_ = false;
  bool replies_ = true;  // create_response
  bool hears_ends_ = false;
  std::vector<std::string> unknown_;              // of the last update, by their names
  Json transcription_told_;                       // as the client has it
  Json kept_ = nlohmann::ordered_json::object();  // of replies, and what says nothing here
};

}  // namespace mynah::server
