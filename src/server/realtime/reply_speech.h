// ReplySpeech: the messages of a response of Realtime, spoken while they are written.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "audio/resampler.h"
#include "server/metrics/socket_turns.h"
#include "server/models/service.h"
#include "server/realtime/reply_items.h"
#include "server/realtime/settings.h"
#include "speech/synthesizer.h"

namespace mynah::server {

// How messages are spoken.
struct ReplySpeechWish {
  const SpeakingWish& wish;
  TextKind kind = TextKind::Markdown;  // what the texts are
  std::string language{};              // ISO 639-1, of the texts; "": the voice's
};

// One thread at a time. What is told of a message is what was spoken of it. Of a reply that is held
// its first piece of sound is made; what follows waits, and nothing is counted before.
class ReplySpeech final : public SpeechObserver {
 public:
  // All must outlive it, what is wished too.
  ReplySpeech(Service& service, SocketTurns& turns, ReplyItems& items, ReplySpeechWish wish,
              std::stop_token stop);

  // Has the voice ready. As Service::speaking() refuses.
  [[nodiscard]] Status open();

  // More of a message; a new one begins behind finish().
  [[nodiscard]] Status push(std::string_view text);
  // The message is over.
  [[nodiscard]] Status finish();

  // Nothing more is spoken; `status`: of the whole.
  void end(const Status& status);

  // Of all sound that was told.
  [[nodiscard]] int64_t ms() const { return samples_ * 1000 / wish_.format.rate_hz; }

  // Of it, what a client has still to play that plays it as it comes.
  [[nodiscard]] int64_t unplayed_ms() const;

  // Where another voice speaks than was asked for; none: it is that.
  [[nodiscard]] const std::optional<ReplyNote>& note() const { return note_; }

  Status on_clause(const SpokenClause& clause) override;

 private:
  // Who speaks, in which language.
  [[nodiscard]] Status choose_voice();
  // A session for a message, or for what follows its first clause.
  [[nodiscard]] Status begin_session();
  // Speaks what of the message is held back so that its first clause begins early.
  [[nodiscard]] Status push_first(std::string_view text);
  [[nodiscard]] Status speak(std::string_view text, bool finish);
  // What is said up to that byte of the message, and its words.
  void tell_text(const SpokenClause& clause);
  [[nodiscard]] Status tell_sound(std::span<const float> samples);

  Service& service_;
  SocketTurns& turns_;
  ReplyItems& items_;
  const SpeakingWish& wish_;
  const TextKind kind_;
  const std::string language_;
  const std::stop_token stop_;
  std::optional<Speaking> speaking_;
  SpeakOptions options_;
  std::optional<ReplyNote> note_;
  std::unique_ptr<SocketTurn> turn_;
  std::unique_ptr<Synthesizer::Session> session_;
  std::optional<Resampler> resampler_;  // where the client's rate is another
  std::string text_;                    // of the message
  size_t session_begin_ = 0;            // byte of it where the session's begins
  double session_begin_s_ = 0;          // of its sound
  size_t told_ = 0;                     // bytes of it
  bool early_;                          // its first clause is looked for
  std::vector<SaidWord> words_;
  double message_s_ = 0;  // of the message's sound
  double seconds_ = 0;    // of all
  double took_s_ = 0;
  double waited_s_ = 0;  // of it, until it was wanted
  int64_t samples_ = 0;
  std::optional<std::chrono::steady_clock::time_point> sounds_since_;
};

}  // namespace mynah::server
