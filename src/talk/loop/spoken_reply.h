// SpokenReply: one reply under way: written by a Mind, cut into pieces, spoken by a Mouth, played
// sample by sample. Each begins as soon as it can.
#pragma once

#include <chrono>
#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "chat/repetition.h"
#include "talk/loop/clause_cutter.h"
#include "talk/loop/counted_work.h"
#include "talk/loop/spoken_sound.h"
#include "talk/organs/organs.h"

namespace mynah::talk {

// Milliseconds that the organs took until the first sound was there; 0: it is not.
struct ReplyTimes {
  double mind_ms = 0;   // from the question to the first piece that can be spoken
  double mouth_ms = 0;  // from there to its first sound
};

// Something that went wrong in an organ.
struct OrganFault {
  Organ organ = Organ::Mind;
  Error error;
};

// Thread-safe. Work under way holds it.
class SpokenReply final : public std::enable_shared_from_this<SpokenReply> {
 public:
  struct Ways {
    Mind& mind;
    Mouth& mouth;
    CountedWork& work;
  };

  // `language`: ISO 639-1, that it is to be spoken in; "": the voice's.
  static std::shared_ptr<SpokenReply> begin(const Ways& ways, ChatRequest request,
                                            std::string language);

  SpokenReply(const Ways& ways, ChatRequest request, std::string language);

  // Nothing more is written or spoken of it.
  void cancel();

  // It will be played: more of it is spoken beforehand.
  void release();

  // The next samples; silence where it is held or nothing is there. Asks for more where little is
  // left.
  void play(std::span<float> out);
  void hold();
  void go_on();

  // What it has come to.
  struct State {
    bool sounds = false;  // its first sound is there
    bool begun = false;   // some of it was played
    bool over = false;    // all of it was, or of what there is after a fault
    bool cut = false;     // it was stopped, or could not be spoken
    ReplyTimes times;
  };

  [[nodiscard]] State state() const;

  // What was written of it that was played, to the word; Markdown as it was written.
  [[nodiscard]] std::string played() const;

  // Its part of the conversation: the question as the mind was told it, what was called for it and
  // came of that, and what was played. Each call has an answer: one that was stopped says so.
  [[nodiscard]] ChatRequest::Json messages() const;

  // What went wrong since it was asked last.
  [[nodiscard]] std::optional<OrganFault> take_fault();

  // What became of tools since it was asked last.
  [[nodiscard]] std::vector<ToolNews> take_tools();

 private:
  class Teller;
  class Speaking;
  using Clock = std::chrono::steady_clock;

  void write();
  // Has it written, or written on; wants the lock where others have the reply.
  void ask_mind();
  Status take_text(std::string_view text);
  // It does not end: a fault, and what there is of it is spoken. The second wants the lock.
  Status break_off(std::string_view what, size_t most);
  Status break_off_locked(std::string_view what, size_t most);
  // Wants the lock.
  void take_pieces(std::vector<SpokenPiece> pieces);
  // Has the next piece spoken, where one is there and wanted; wants the lock.
  void speak_next();
  void speak(const SpokenPiece& piece, bool first);
  Status take_sound(const SpokenPiece& piece, const SpokenClause& clause);
  void end_piece(const SpokenPiece& piece, const Status& spoken);
  // Whether all of it was played; wants the lock.
  [[nodiscard]] bool is_over() const;
  // As played(); wants the lock.
  [[nodiscard]] std::string played_text() const;
  [[nodiscard]] double ms_since(Clock::time_point then) const;

  Mind& mind_;
  Mouth& mouth_;
  CountedWork& work_;
  const std::string language_;
  std::stop_source stop_;
  std::stop_source enough_;  // of what the mind writes

  mutable std::mutex mutex_;
  ChatRequest request_;             // with what was called so far
  const size_t question_at_;        // in its messages
  std::vector<size_t> said_until_;  // bytes of text_ before each message behind the question
  bool waits_ = false;              // what is called is not run before the turn is decided
  std::vector<ToolNews> tools_;
  std::string text_;
  ClauseCutter cutter_;
  // Out loud nothing is a table: some 15 s of the same are enough.
  RepetitionWatch repetition_{200};
  std::deque<SpokenPiece> pieces_;  // that are not spoken yet
  SpokenSound sound_;
  std::optional<SpokenPiece::Behind> behind_;  // the last piece, once it was spoken
  bool written_ = false;
  bool speaks_ = false;  // the mouth is at a piece
  bool spoke_ = false;   // it was at one
  bool released_ = false;
  Clock::time_point asked_{};
  Clock::time_point first_piece_{};
  ReplyTimes times_;
  std::optional<OrganFault> fault_;
};

}  // namespace mynah::talk
