#include "talk/loop/spoken_reply.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/ascii.h"

namespace mynah::talk {

namespace {

// Seconds that are spoken before they are played: what an interruption throws away. Less of a reply
// that may not be played at all.
constexpr double kAhead_s = 8;
constexpr double kAheadUnreleased_s = 2;

// A reply that does not end: no more of it is written. Some eighteen minutes of speech, and of
// thoughts that nobody hears ten times what a long one has.
constexpr size_t kMostWritten = size_t{16} * 1024;
constexpr size_t kMostThought = size_t{256} * 1024;

// Silence behind a piece, as SpeakOptions has it between clauses, sentences and paragraphs.
double silence_behind(SpokenPiece::Behind behind) {
  const SpeakOptions usual;
  switch (behind) {
    case SpokenPiece::Behind::Clause:
      return usual.clause_silence_s;
    case SpokenPiece::Behind::Sentence:
      return usual.sentence_silence_s;
    case SpokenPiece::Behind::Paragraph:
      break;
  }
  return usual.paragraph_silence_s;
}

// What a model is told of a call whose end nobody waited for.
constexpr const char* kStoppedCall =
    "error: stopped, as the user spoke; it may be done, so ask before it is called again";

}  // namespace

// Takes what the mind writes. Of thoughts and calls nothing is spoken.
class SpokenReply::Teller final : public TurnObserver {
 public:
  explicit Teller(SpokenReply& reply) : reply_(reply) {}

  Status on_delta(const ChatDelta& delta) override {
    thought_ += delta.said.reasoning.size();
    MYNAH_TRY_STATUS(reply_.take_text(delta.said.content));
    return thought_ > kMostThought ? reply_.break_off("thoughts", kMostThought) : Status();
  }

  [[nodiscard]] bool is_decided() const override {
    const std::lock_guard lock(reply_.mutex_);
    return reply_.released_;
  }

  void on_question(const std::string& text) override {
    const std::lock_guard lock(reply_.mutex_);
    reply_.request_.messages[reply_.question_at_]["content"] = text;
  }

  void on_message(const ChatRequest::Json& message) override {
    const std::lock_guard lock(reply_.mutex_);
    reply_.request_.messages.push_back(message);
    reply_.said_until_.push_back(reply_.text_.size());
  }

  void on_tool(const ToolNews& news) override {
    const std::lock_guard lock(reply_.mutex_);
    reply_.tools_.push_back(news);
  }

 private:
  SpokenReply& reply_;
  size_t thought_ = 0;  // bytes
};

// Takes the sound of one piece.
class SpokenReply::Speaking final : public SpeechObserver {
 public:
  Speaking(SpokenReply& reply, const SpokenPiece& piece) : reply_(reply), piece_(piece) {}

  Status on_clause(const SpokenClause& clause) override {
    return reply_.take_sound(piece_, clause);
  }

 private:
  SpokenReply& reply_;
  const SpokenPiece& piece_;
};

SpokenReply::SpokenReply(const Ways& ways, ChatRequest request, std::string language)
    : mind_(ways.mind),
      mouth_(ways.mouth),
      work_(ways.work),
      language_(std::move(language)),
      request_(std::move(request)),
      question_at_(request_.messages.size() - 1),
      cutter_(language_),
      sound_(ways.mouth.rate_hz()),
      asked_(Clock::now()) {}

std::shared_ptr<SpokenReply> SpokenReply::begin(const Ways& ways, ChatRequest request,
                                                std::string language) {
  auto reply = std::make_shared<SpokenReply>(ways, std::move(request), std::move(language));
  reply->ask_mind();
  return reply;
}

void SpokenReply::ask_mind() {
  work_.run(Organ::Mind, [reply = shared_from_this()] { reply->write(); });
}

double SpokenReply::ms_since(Clock::time_point then) const {
  return std::chrono::duration<double, std::milli>(Clock::now() - then).count();
}

void SpokenReply::write() {
  if (stop_.stop_requested()) {
    return;
  }
  const std::stop_callback ends(stop_.get_token(), [this] { enough_.request_stop(); });
  ChatRequest request;
  {
    const std::lock_guard lock(mutex_);
    request = request_;
  }
  Teller teller(*this);
  const auto replied = mind_.reply_in_turn(request, teller, enough_.get_token());
  const std::lock_guard lock(mutex_);
  if (replied && request_.messages.back().contains("tool_calls")) {
    waits_ = !released_;
    if (released_) {
      ask_mind();
    }
    return;
  }
  written_ = true;
  if (!replied && !enough_.stop_requested()) {
    fault_ = OrganFault{.organ = Organ::Mind, .error = replied.error()};
  }
  take_pieces(cutter_.finish());
}

Status SpokenReply::take_text(std::string_view text) {
  const std::lock_guard lock(mutex_);
  if (enough_.stop_requested()) {
    return fail(ErrorCode::Cancelled, "the reply is not wanted any more");
  }
  if (text_.size() + text.size() > kMostWritten) {
    return break_off_locked("text", kMostWritten);
  }
  text_ += text;
  take_pieces(cutter_.push(text));
  if (repetition_.push(text)) {
    enough_.request_stop();
    return fail(ErrorCode::Cancelled, "the reply repeats itself");
  }
  return {};
}

Status SpokenReply::break_off(std::string_view what, size_t most) {
  const std::lock_guard lock(mutex_);
  return break_off_locked(what, most);
}

Status SpokenReply::break_off_locked(std::string_view what, size_t most) {
  Error endless{.code = ErrorCode::InvalidInput,
                .message = fmt::format("the reply does not end: it was broken off behind {} KiB of "
                                       "{}; --max-tokens bounds replies earlier",
                                       most / 1024, what)};
  fault_ = OrganFault{.organ = Organ::Mind, .error = endless};
  enough_.request_stop();
  return std::unexpected(std::move(endless));
}

void SpokenReply::take_pieces(std::vector<SpokenPiece> pieces) {
  if (!pieces.empty() && first_piece_ == Clock::time_point{}) {
    first_piece_ = Clock::now();
    times_.mind_ms = ms_since(asked_);
  }
  for (SpokenPiece& piece : pieces) {
    pieces_.push_back(std::move(piece));
  }
  speak_next();
}

void SpokenReply::speak_next() {
  const double ahead_s = released_ ? kAhead_s : kAheadUnreleased_s;
  if (speaks_ || pieces_.empty() || sound_.left_s() > ahead_s || stop_.stop_requested()) {
    return;
  }
  speaks_ = true;
  SpokenPiece piece = std::move(pieces_.front());
  pieces_.pop_front();
  work_.run(Organ::Mouth, [reply = shared_from_this(), piece = std::move(piece),
                           first = !std::exchange(spoke_, true)] { reply->speak(piece, first); });
}

void SpokenReply::speak(const SpokenPiece& piece, bool first) {
  Status spoken;
  if (!stop_.stop_requested()) {
    Speaking speaking(*this, piece);
    spoken = mouth_.speak(piece.text, {.language = language_, .first = first}, speaking,
                          stop_.get_token());
  }
  end_piece(piece, spoken);
}

Status SpokenReply::take_sound(const SpokenPiece& piece, const SpokenClause& clause) {
  const std::lock_guard lock(mutex_);
  if (stop_.stop_requested()) {
    return fail(ErrorCode::Cancelled, "the reply is not wanted any more");
  }
  if (behind_) {
    sound_.add_silence(silence_behind(*behind_));
    behind_.reset();
  }
  if (times_.mouth_ms == 0) {
    times_.mouth_ms = ms_since(first_piece_);
  }
  sound_.add(clause, piece.begin);
  return {};
}

void SpokenReply::end_piece(const SpokenPiece& piece, const Status& spoken) {
  const bool failed = !spoken && !stop_.stop_requested();
  {
    const std::lock_guard lock(mutex_);
    speaks_ = false;
    behind_ = piece.behind;
    if (!failed) {
      speak_next();
      return;
    }
    fault_ = OrganFault{.organ = Organ::Mouth, .error = spoken.error()};
    pieces_.clear();
  }
  cancel();
}

void SpokenReply::cancel() {
  stop_.request_stop();
}

void SpokenReply::release() {
  const std::lock_guard lock(mutex_);
  released_ = true;
  if (std::exchange(waits_, false)) {
    ask_mind();
  }
  speak_next();
}

void SpokenReply::play(std::span<float> out) {
  const std::lock_guard lock(mutex_);
  sound_.play(out);
  speak_next();
}

void SpokenReply::hold() {
  const std::lock_guard lock(mutex_);
  sound_.hold();
}

void SpokenReply::go_on() {
  const std::lock_guard lock(mutex_);
  sound_.go_on();
}

bool SpokenReply::is_over() const {
  const bool complete = written_ && pieces_.empty() && !speaks_;
  return (complete || stop_.stop_requested()) && sound_.at_end();
}

SpokenReply::State SpokenReply::state() const {
  const std::lock_guard lock(mutex_);
  return {.sounds = times_.mouth_ms > 0,
          .begun = sound_.begun(),
          .over = is_over(),
          .cut = stop_.stop_requested(),
          .times = times_};
}

std::string SpokenReply::played() const {
  const std::lock_guard lock(mutex_);
  return played_text();
}

std::string SpokenReply::played_text() const {
  if (is_over() && !stop_.stop_requested()) {
    return text_;
  }
  return text_.substr(0, cutter_.reply_bytes(sound_.text_played()));
}

ChatRequest::Json SpokenReply::messages() const {
  using Json = ChatRequest::Json;
  const std::lock_guard lock(mutex_);
  const std::string played = played_text();
  size_t told = 0;  // bytes of what was played
  const auto said_until = [&](size_t end) {
    const size_t from = std::exchange(told, std::max(told, std::min(end, played.size())));
    return played.substr(from, told - from);
  };
  Json messages = Json::array({request_.messages[question_at_]});
  std::vector<Json> unanswered;
  for (size_t i = 0; i < said_until_.size(); ++i) {
    Json message = request_.messages[question_at_ + 1 + i];
    if (message.contains("tool_calls")) {
      message["content"] = trimmed(said_until(said_until_[i]));
      unanswered.assign(message["tool_calls"].begin(), message["tool_calls"].end());
    } else if (!unanswered.empty()) {
      unanswered.erase(unanswered.begin());
    }
    messages.push_back(std::move(message));
  }
  for (const Json& call : unanswered) {
    messages.push_back({{"role", "tool"},
                        {"tool_call_id", call["id"]},
                        {"name", call["function"]["name"]},
                        {"content", kStoppedCall}});
  }
  if (std::string said = said_until(played.size()); !said.empty()) {
    messages.push_back({{"role", "assistant"}, {"content", std::move(said)}});
  }
  return messages;
}

std::optional<OrganFault> SpokenReply::take_fault() {
  const std::lock_guard lock(mutex_);
  return std::exchange(fault_, std::nullopt);
}

std::vector<ToolNews> SpokenReply::take_tools() {
  const std::lock_guard lock(mutex_);
  return std::exchange(tools_, {});
}

}  // namespace mynah::talk
