#include "talk/loop/conversation.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "speech/hearing.h"
#include "speech/own_words.h"

namespace mynah::talk {

namespace {

// A voice that goes on for less than this behind a pause may be a breath: what was begun on the
// words before it is kept until it is heard what it says.
constexpr double kGoesOn_s = 0.25;
// Of who speaks over the assistant a text is asked for so soon, and again so much later.
constexpr double kFirstOver_s = 0.32;
constexpr double kNextOver_s = 0.2;
// What a detector hears for less than this may be a knock.
constexpr double kSurely_s = 0.6;
constexpr double kScoreEvery_s = 0.1;
// What was played so many bytes ago may still be heard, and as words of a while ago be meant by
// whoever takes them up: 15 s, more or less.
constexpr size_t kPlayedOfLate = 240;

// Whether what was heard is what was played of late.
bool is_own(const HeardText& heard, std::string_view played) {
  played.remove_prefix(played.size() - std::min(played.size(), kPlayedOfLate));
  return own_words(heard.text, played, heard.language).is_own;
}

}  // namespace

Conversation::Conversation(const TalkParts& parts, TalkSettings settings)
    : parts_(parts),
      settings_(std::move(settings)),
      watch_(parts.voice),
      record_(settings_.request, spoken_system(settings_.system)),
      places_(parts.ear, parts.mind, parts.mouth),
      work_(parts.workers, [this](Organ organ) { look_where(organ); }) {}

Conversation::~Conversation() {
  close();
  work_.wait_for_all();
}

void Conversation::close() {
  ends_.request_stop();
  const std::lock_guard lock(mutex_);
  closed_ = true;
  if (turn_) {
    if (turn_->hearing) {
      turn_->hearing->stop.request_stop();
    }
    turn_->scores.request_stop();
  }
  forget_prepared();
  if (speaking_) {
    speaking_->cancel();
  }
}

void Conversation::warm_up() {
  ChatRequest request = record_.with_user("Hello.");
  request.choice.most_tokens = 1;
  work_.run(Organ::Mind, [this, request = std::move(request)] {
    ChatObserver nobody;
    const auto replied = parts_.mind.reply(request, nobody, ends_.get_token());
    if (!replied && replied.error().code != ErrorCode::Cancelled) {
      const std::lock_guard lock(mutex_);
      fail_organ({.organ = Organ::Mind, .error = replied.error()});
    }
  });
}

void Conversation::step(std::span<const float> captured, std::vector<float>& played) {
  const std::lock_guard lock(mutex_);
  const Status heard = watch_.push(captured);
  if (!heard && !std::exchange(voice_failed_, true)) {
    fail_organ({.organ = Organ::Ear, .error = heard.error()});
  }
  voice_failed_ = !heard;
  follow_turn();
  follow_rings();
  play(captured.size(), played);
  follow_reply();
}

std::vector<TalkEvent> Conversation::take_events() {
  const std::lock_guard lock(mutex_);
  return std::exchange(events_, {});
}

void Conversation::stop_speaking() {
  const std::lock_guard lock(mutex_);
  if (speaking_) {
    stop_reply();
  }
}

bool Conversation::is_at_rest() const {
  const std::lock_guard lock(mutex_);
  return !turn_ && !watch_.has_turn() && !speaking_ && rings_.empty() && !work_.any();
}

ChatRequest::Json Conversation::messages() const {
  const std::lock_guard lock(mutex_);
  return record_.messages();
}

void Conversation::tell(TalkEvent event) {
  events_.push_back(std::move(event));
}

double Conversation::ms_since(int64_t sample) const {
  return 1000 * seconds_of(watch_.now() - sample);
}

void Conversation::follow_turn() {
  if (!watch_.has_turn()) {
    if (turn_) {  // it was a knock
      drop_turn();
    }
    return;
  }
  if (!turn_) {
    turn_.emplace();
    turn_->went_on_seen = watch_.went_on();
    if (speaking_) {
      turn_->over.emplace(settings_.interruption);
    }
    tell({.kind = TalkEvent::Kind::Voice, .at = watch_.voice_began()});
  }
  if (watch_.is_voice()) {
    follow_voice();
  } else {
    follow_pause();
  }
  if (turn_ && turn_->over) {
    follow_interruption();
  }
}

void Conversation::follow_voice() {
  if (turn_->cut) {
    return;
  }
  const int64_t now = watch_.now();
  turn_->decided.reset();
  turn_->score.reset();
  const bool goes_on =
      watch_.went_on() != turn_->went_on_seen && now - watch_.went_on() >= samples_of(kGoesOn_s);
  if (goes_on) {
    turn_->went_on_seen = watch_.went_on();
    turn_->scores.request_stop();
    turn_->scores = {};
    forget_prepared();
  }
  const int64_t asked = std::max(turn_->asked_until, watch_.voice_began());
  const double every_s = turn_->asked_until == 0 ? kFirstOver_s : kNextOver_s;
  if (turn_->over && !turn_->hearing && now - asked >= samples_of(every_s)) {
    hear(now);
  }
  const double faint_s = watch_.faint_s();
  if (now - watch_.begin() >= samples_of(settings_.longest_turn_s)) {
    turn_->cut = now;
    hear(now);
  } else if (!turn_->over && faint_s >= parts_.end.longest_faint_s()) {
    turn_->another_voice = true;
    turn_->cut = now - samples_of(faint_s);
    turn_->times.decided_ms = ms_since(*turn_->cut);
    hear(*turn_->cut);
  }
}

int64_t Conversation::voice_end() const {
  return turn_->cut.value_or(watch_.voice_ended());
}

void Conversation::follow_pause() {
  if (turn_->cut) {
    return;
  }
  const int64_t now = watch_.now();
  const int64_t silence = now - watch_.voice_ended();
  if (!watch_.may_be_knock() && !heard_all() && turn_->asked_until <= watch_.voice_ended() &&
      silence >= samples_of(settings_.hear_after_s)) {
    hear(now);
  }
  if (parts_.end.scores()) {
    ask_score();
  }
  TurnPause pause{.silence_s = seconds_of(silence),
                  .spoken_s = seconds_of(watch_.voiced()),
                  .score = turn_->score,
                  .fall_db = watch_.fall_db()};
  if (heard_all()) {
    pause.clause = turn_->clause;
  }
  if (!turn_->decided && parts_.end.is_over(pause)) {
    turn_->decided = now;
    turn_->times.decided_ms = ms_since(watch_.voice_ended());
  }
  if (turn_->decided && heard_all() && !turn_->over) {
    end_turn();
  }
}

bool Conversation::heard_all() const {
  if (turn_->cut) {
    return turn_->heard && turn_->heard_until >= *turn_->cut;
  }
  return turn_->heard && turn_->heard_until > watch_.voice_ended() && !watch_.is_voice();
}

void Conversation::hear(int64_t until) {
  if (closed_) {
    return;
  }
  if (turn_->hearing) {
    turn_->hearing->stop.request_stop();
  }
  turn_->hearing.emplace();
  turn_->hearing->number = ++hearings_;
  turn_->hearing->until = until;
  turn_->hearing->voiced = watch_.voiced();
  turn_->asked_until = until;
  const auto samples = watch_.samples(watch_.begin(), until);
  HearWish wish{.language = settings_.language,
                .prompts = settings_.prompts,
                .draft = watch_.is_voice() && !turn_->cut,
                .surely_speech = watch_.voiced() >= samples_of(kSurely_s)};
  work_.run(Organ::Ear, [this, wish = std::move(wish), number = hearings_,
                         stop = turn_->hearing->stop.get_token(),
                         heard = std::vector<float>(samples.begin(), samples.end())] {
    const auto begun = Clock::now();
    auto text = stop.stop_requested() ? Result<HeardText>(fail(ErrorCode::Cancelled, "not wanted"))
                                      : parts_.ear.hear(heard, wish, stop);
    const std::chrono::duration<double, std::milli> took = Clock::now() - begun;
    const std::lock_guard lock(mutex_);
    take_heard(number, std::move(text), took.count());
  });
}

void Conversation::take_heard(uint64_t number, Result<HeardText> heard, double ear_ms) {
  if (closed_ || !turn_ || !turn_->hearing || turn_->hearing->number != number) {
    return;  // nobody waits for it any more
  }
  const int64_t until = turn_->hearing->until;
  const int64_t voiced = turn_->hearing->voiced;
  turn_->hearing.reset();
  if (!heard) {
    fail_organ({.organ = Organ::Ear, .error = heard.error()});
    drop_turn(watch_.begin());  // its words are heard with those that come next
    return;
  }
  turn_->heard = std::move(*heard);
  turn_->heard_until = until;
  turn_->heard_voiced = voiced;
  turn_->clause = clause_state(turn_->heard->text, turn_->heard->language);
  turn_->is_echo = speaking_ && is_own(*turn_->heard, speaking_->played());
  turn_->times.ear_ms = ear_ms;
  turn_->times.heard_ms = ms_since(voice_end());
  tell({.kind = TalkEvent::Kind::Draft,
        .at = until,
        .text = turn_->heard->text,
        .language = turn_->heard->language});
  if (turn_->over) {
    follow_interruption();
  }
  if (turn_ && !turn_->over && heard_all()) {
    prepare_reply();
    if (turn_->cut || turn_->decided) {
      end_turn();
    }
  }
}

void Conversation::ask_score() {
  const int64_t now = watch_.now();
  if (closed_ || turn_->scoring || now - turn_->scored_at < samples_of(kScoreEvery_s)) {
    return;
  }
  turn_->scoring = true;
  turn_->scored_at = now;
  const auto samples = watch_.samples(watch_.begin(), now);
  work_.run(Organ::EndRule, [this, now, stop = turn_->scores.get_token(),
                             heard = std::vector<float>(samples.begin(), samples.end())] {
    const Result<float> score = stop.stop_requested()
                                    ? Result<float>(fail(ErrorCode::Cancelled, "not wanted"))
                                    : parts_.end.score(heard, stop);
    const std::lock_guard lock(mutex_);
    take_score(now, score);
  });
}

void Conversation::take_score(int64_t at, const Result<float>& score) {
  if (closed_ || !turn_ || turn_->scored_at != at) {
    return;
  }
  turn_->scoring = false;
  if (score && !watch_.is_voice() && at > watch_.voice_ended()) {
    turn_->score = std::min(*score, turn_->score.value_or(*score));
  } else if (!score && score.error().code != ErrorCode::Cancelled) {
    fail_organ({.organ = Organ::EndRule, .error = score.error()});
  }
}

void Conversation::prepare_reply() {
  const std::string& text = turn_->heard->text;
  if (prepared_ && says_the_same(prepared_for_, text)) {
    return;
  }
  forget_prepared();
  if (text.empty() || only_stops()) {
    return;
  }
  prepared_for_ = text;
  const std::string& language =
      settings_.language.empty() ? turn_->heard->language : settings_.language;
  prepared_ = SpokenReply::begin({.mind = parts_.mind, .mouth = parts_.mouth, .work = work_},
                                 record_.with_user(text), language);
}

bool Conversation::only_stops() const {
  return turn_->stopped_reply &&
         said_over(turn_->heard->text, turn_->heard->language) == SaidOver::Stop;
}

void Conversation::forget_prepared() {
  if (prepared_) {
    prepared_->cancel();
    prepared_.reset();
  }
}

void Conversation::end_turn() {
  tell({.kind = TalkEvent::Kind::Heard,
        .at = watch_.now(),
        .text = turn_->heard->text,
        .language = turn_->heard->language,
        .times = turn_->times});
  if (prepared_) {
    record_.add_user(prepared_for_);
    speaking_ = std::exchange(prepared_, nullptr);
    speaking_told_ = false;
    speaking_times_ = turn_->times;
    speaking_since_ = voice_end();
    speaking_->release();
  }
  drop_turn(turn_->another_voice ? std::nullopt : turn_->cut);
}

void Conversation::drop_turn(std::optional<int64_t> unheard) {
  if (turn_->hearing) {
    turn_->hearing->stop.request_stop();
  }
  turn_->scores.request_stop();
  forget_prepared();
  if (speaking_ && turn_->over && turn_->over->holds()) {
    speaking_->go_on();
    tell({.kind = TalkEvent::Kind::WentOn, .at = watch_.now()});
  }
  const bool another_voice = turn_->another_voice && !unheard;
  turn_.reset();
  if (!watch_.has_turn()) {
    return;
  }
  if (another_voice) {
    watch_.end_turn_behind_voice();
    return;
  }
  if (const Status ended = watch_.end_turn(unheard); !ended) {
    fail_organ({.organ = Organ::Ear, .error = ended.error()});
  }
}

bool Conversation::voice_may_interrupt() const {
  return settings_.echo_settles_s == 0 ||
         (first_sound_ && watch_.now() - *first_sound_ >= samples_of(settings_.echo_settles_s));
}

void Conversation::follow_interruption() {
  if (!speaking_) {
    turn_->over.reset();  // what it began over is over itself
    if (turn_->is_echo && heard_all()) {
      drop_turn();
      return;
    }
    if (heard_all()) {
      prepare_reply();
    }
    return;
  }
  OverSpeech speech{.now = watch_.now(),
                    .voiced = watch_.voiced(),
                    .is_voice = watch_.is_voice(),
                    .said = std::nullopt,
                    .said_all = heard_all(),
                    .listened = 0,
                    .voice_counts = voice_may_interrupt() && !turn_->is_echo};
  if (turn_->heard) {
    speech.said =
        turn_->is_echo ? SaidOver::Nothing : said_over(turn_->heard->text, turn_->heard->language);
    speech.listened = speech.said == SaidOver::Listening ? turn_->heard_voiced : 0;
  }
  switch (turn_->over->look(speech)) {
    case Interruption::Act::None:
      break;
    case Interruption::Act::Hold:
      speaking_->hold();
      tell({.kind = TalkEvent::Kind::Held, .at = watch_.now()});
      break;
    case Interruption::Act::GoOn:
      speaking_->go_on();
      tell({.kind = TalkEvent::Kind::WentOn, .at = watch_.now()});
      if (speech.said_all) {
        drop_turn();
      }
      break;
    case Interruption::Act::Forget:
      drop_turn();
      break;
    case Interruption::Act::Stop:
      stop_reply();
      turn_->over.reset();
      turn_->stopped_reply = true;
      if (heard_all()) {
        prepare_reply();
      }
      break;
  }
}

void Conversation::stop_reply() {
  speaking_->cancel();
  if (ringing_ && !speaking_->state().begun) {
    rings_.push_front(*std::exchange(ringing_, std::nullopt));  // nobody has heard of it
    speaking_.reset();
    return;
  }
  end_reply(true);
}

void Conversation::end_reply(bool interrupted) {
  tell_tools();
  const std::string said = speaking_->played();
  if (std::exchange(ringing_, std::nullopt)) {
    record_.add_assistant(said);
  } else {
    record_.end_turn(speaking_->messages());
  }
  tell({.kind = TalkEvent::Kind::Said,
        .at = watch_.now(),
        .text = said,
        .interrupted = interrupted});
  speaking_.reset();
}

void Conversation::play(size_t captured, std::vector<float>& played) {
  owed_ += static_cast<int64_t>(captured) * parts_.mouth.rate_hz();
  const auto count = static_cast<size_t>(owed_ / kHearingRate_hz);
  owed_ %= kHearingRate_hz;
  played.resize(played.size() + count);
  if (speaking_) {
    speaking_->play(std::span(played).last(count));
  }
}

void Conversation::follow_reply() {
  if (prepared_) {
    if (auto fault = prepared_->take_fault()) {
      fail_organ(*std::move(fault));
    }
  }
  if (!speaking_) {
    return;
  }
  if (auto fault = speaking_->take_fault()) {
    fail_organ(*std::move(fault));
  }
  tell_tools();
  const SpokenReply::State state = speaking_->state();
  if (state.begun && !std::exchange(speaking_told_, true)) {
    first_sound_ = first_sound_.value_or(watch_.now());
    if (ringing_) {
      tell({.kind = TalkEvent::Kind::Rings, .at = watch_.now(), .text = ringing_->text});
      return;
    }
    speaking_times_.sound_ms = ms_since(speaking_since_);
    speaking_times_.reply = state.times;
    tell({.kind = TalkEvent::Kind::Replies, .at = watch_.now(), .times = speaking_times_});
  }
  if (state.over && !(turn_ && turn_->over && turn_->over->holds())) {
    end_reply(state.cut);
  }
}

}  // namespace mynah::talk
