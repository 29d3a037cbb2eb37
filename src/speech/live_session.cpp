#include "speech/live_session.h"

#include <algorithm>
#include <utility>

#include "base/turns.h"
#include "speech/word_times.h"

namespace mynah {
namespace {

constexpr int kRate_hz = kHearingRate_hz;

// A pause this long ends a turn; longer ones would only keep the user waiting.
constexpr double kTurnPause_s = 0.6;

ChunkOptions live_chunks(const CuttingOptions& options, const VadOptions& vad) {
  const double span_pad_s = vad.speech_pad_ms / 1000.0;
  return {.max_s = options.chunk_length_s,
          .max_gap_s = kTurnPause_s - span_pad_s,
          .pad_s = 0.3,
          .span_pad_s = span_pad_s,
          .live = true};
}

// Of a sender that stops in speech: whether that goes on is seen in the first frames that it sends
// again, and this long it is waited for at most where more had come than its time.
constexpr int64_t kFirstFrames = kRate_hz / 6;
constexpr double kMostPatience_s = 10;

// The first draft is made so long after somebody began, and one follows the other.
constexpr int64_t kFirstDraft = kRate_hz * 2 / 5;
constexpr int64_t kDraftEvery = kRate_hz * 3 / 10;
constexpr int64_t kLeastApart = kRate_hz / 10;
// A pause that lasts so long may be the end; most between words are shorter.
constexpr int64_t kMayBeEnd = kRate_hz / 10;
// A word is due when so much was spoken, of the first one and of one behind another: it is told
// then, a draft and a piece of sound later, a second after the first word, and 1.5 s after the last
// one. It may be less certain so long before.
constexpr int64_t kFirstWord = kRate_hz * 11 / 10;
constexpr int64_t kNextWord = kRate_hz * 13 / 10;
constexpr int64_t kSoon = kRate_hz * 3 / 10;
// Drafts take a third of the time at most, so that a slow machine keeps up with the speaker.
constexpr double kDraftRest = 3;

// Whoever sends faster than it is heard waits where so much is behind.
constexpr int64_t kMostBehind = int64_t{60} * kRate_hz;

}  // namespace

Result<std::unique_ptr<LiveSession>> LiveSession::create(std::shared_ptr<WindowQueue> queue,
                                                         std::shared_ptr<const VoiceDetector> voice,
                                                         const RecognizerOptions& options) {
  MYNAH_TRY(auto client, queue->client(options.decoding, {.urgency = Urgency::Interactive,
                                                          .together = options.cutting.batch,
                                                          .owner = options.owner}));
  return std::unique_ptr<LiveSession>(
      new LiveSession(std::move(queue), std::move(voice), options, std::move(client)));
}

LiveSession::LiveSession(std::shared_ptr<WindowQueue> queue,
                         std::shared_ptr<const VoiceDetector> voice,
                         const RecognizerOptions& options,
                         std::unique_ptr<WindowQueue::Client> client)
    : queue_(std::move(queue)),
      voice_(std::move(voice)),
      options_(options),
      agreement_(
          [header = queue_->model().header()](int32_t token) { return header->token_text(token); }),
      client_(std::move(client)) {
  reset();
}

void LiveSession::reset() {
  forget(text_);
  forget(draft_);
  const CuttingOptions& options = options_.cutting;
  VadOptions vad = knobs_for(queue_->model().header()->facts(), *voice_, options.vad_options);
  if (vad.negative_threshold < 0) {
    // The usual distance, but a pause must be found below a low threshold too.
    vad.negative_threshold = std::max(vad.threshold - 0.15F, vad.threshold / 2);
  }
  const ChunkOptions chunks = live_chunks(options, vad);
  vad.max_speech_s = std::min(vad.max_speech_s, chunks.max_s - 2 * chunks.pad_s);
  samples_ = {};
  turns_.emplace(*voice_, vad, chunks);
  parts_.clear();
  open_ = {};
  agreement_.reset();
  began_ = 0;
  word_due_ = 0;
  patience_ = 0;
  drafted_ = 0;
  draft_until_ = 0;
  draft_language_.clear();
  paused_at_.reset();
  draft_every_ = kDraftEvery;
  cut_at_.reset();
  patience_s_ = kSenderStall_s;
  next_id_ = 0;
  turns_ended_ = 0;
  last_speech_s_ = 0;
  language_.clear();
  language_probability_ = 0;
  previous_.clear();
  dead_.reset();
  begun_ = false;
  told_language_ = queue_->model().header()->facts().language_asked(options_.decoding.language);
}

void LiveSession::ask(Asked& asked, const WindowTask& task, bool draft) {
  asked.wanted = {};
  asked.is_open = true;
  asked.since = Clock::now();
  const auto answer = [this, &asked, wanted = asked.wanted.get_token()](
                          size_t /*window*/, WindowQueue::Outcome outcome) {
    {
      const std::lock_guard lock(mutex_);
      if (wanted.stop_requested()) {
        return;
      }
      asked.answer = std::move(outcome.heard);
      answered_.notify_all();
    }
    if (told_answer_) {
      told_answer_();
    }
  };
  client_->submit({&task, 1}, asked.wanted.get_token(), answer, draft);
}

std::optional<Result<HeardWindow>> LiveSession::answer_to(Asked& asked) {
  const std::lock_guard lock(mutex_);
  asked.is_open = asked.is_open && !asked.answer;
  return std::exchange(asked.answer, std::nullopt);
}

void LiveSession::forget(Asked& asked) {
  asked.wanted.request_stop();
  client_->drop_stopped();
  static_cast<void>(answer_to(asked));
  asked.is_open = false;
}

void LiveSession::take(const TurnDetector::Found& found, LiveText& live) {
  live.events.insert(live.events.end(), found.events.begin(), found.events.end());
  for (const Turn& turn : found.turns) {
    open_.turn = turn;
    end_part();
  }
  for (const VoiceEvent& event : found.events) {
    paused_at_ = event.kind == VoiceEvent::Kind::Paused ? std::optional(event.at) : std::nullopt;
    if (event.kind == VoiceEvent::Kind::Began) {
      began_ = event.at;
      word_due_ = turns_->spoken() + kFirstWord;
    } else if (event.kind == VoiceEvent::Kind::Ended && open_.begun.empty()) {
      forget_draft();
    } else if (event.kind == VoiceEvent::Kind::Ended) {
      end_part();  // it was nobody after all; yet what was said for good stays
    }
  }
}

void LiveSession::end_part() {
  open_.rest = agreement_.rest();
  open_.number = turns_ended_++;
  parts_.push_back(std::exchange(open_, {}));
  forget_draft();
}

void LiveSession::forget_draft() {
  agreement_.reset();
  draft_until_ = 0;
  draft_language_.clear();
  forget(draft_);
}

WindowTask LiveSession::task_of(const Part& part) const {
  const CuttingOptions& cutting = options_.cutting;
  const bool prompted =
      !cutting.initial_prompt.empty() && (!begun_ || cutting.condition_on_previous_text);
  return {.samples = samples_.slice(part.turn.range.begin, part.turn.range.end),
          .prompts = prompted ? std::vector{cutting.initial_prompt} : std::vector<std::string>{},
          .previous = previous_,
          .language = told_language_.empty() ? part.language : told_language_,
          .hotwords = cutting.hotwords,
          .begun = part.begun,
          .seed = options_.decoding.seed ^ static_cast<uint64_t>(part.turn.range.begin),
          .surely_speech = part.turn.surely_speech,
          .alone = true,
          .begin_s = seconds_of(part.turn.range.begin)};
}

std::vector<Segment> LiveSession::segments_of(const Part& part, const HeardWindow& heard) const {
  const SampleRange& range = part.turn.range;
  const double end_s = seconds_of(range.end);
  std::vector<Segment> segments = segments_at(heard, seconds_of(range.begin));
  if (heard.silent || !heard.text().starts_with(text_of(part.begun))) {
    segments = part.begun;  // what was said for good stays, whatever was heard last
    for (Segment& segment : segments) {
      segment.start_s = seconds_of(range.begin);
      segment.end_s = end_s;
    }
  } else {
    share_out_words(segments, heard.words, seconds_of(range.begin), last_speech_s_);
    give_words_length(segments, seconds_of(range.begin));
  }
  for (Segment& segment : segments) {
    segment.end_s = std::min(end_s, segment.end_s);
  }
  std::erase_if(segments, [](const Segment& segment) {
    return says_nothing(segment.text) || segment.start_s >= segment.end_s;
  });
  keep_to_speech(segments, seconds_of(part.turn.speech.begin), seconds_of(part.turn.speech.end));
  return segments;
}

void LiveSession::commit_first(const HeardWindow& heard, LiveText& live) {
  Part part = std::move(parts_.front());
  parts_.pop_front();
  if (heard.shorter) {
    Part rest = part;
    rest.begun.clear();
    rest.rest.clear();
    part.turn.range.end = rest.turn.range.begin = part.turn.range.begin + *heard.shorter;
    parts_.push_front(std::move(rest));
    parts_.push_front(std::move(part));
    return;
  }
  begun_ = true;
  if (told_language_.empty() && !heard.language.empty()) {
    told_language_ = heard.language;
    language_ = heard.language;
    language_probability_ = heard.language_probability;
  }
  if (!options_.cutting.condition_on_previous_text) {
    previous_.clear();
  }
  for (Segment& segment : segments_of(part, heard)) {
    segment.id = next_id_++;
    last_speech_s_ = segment.end_s;
    if (options_.cutting.condition_on_previous_text) {
      previous_.insert(previous_.end(), segment.tokens.begin(), segment.tokens.end());
    }
    live.committed.push_back(std::move(segment));
  }
}

bool LiveSession::draft_is_due() const {
  if (!options_.cutting.partial_text || !turns_->speaking() || !parts_.empty()) {
    return false;
  }
  if (hears_pauses_ && paused_at_) {
    return pause_is_due();
  }
  const bool word_is_due = patience_left() <= 0 && patience_ > 0;
  const int64_t due = word_is_due ? drafted_ + kLeastApart : drafted_ + draft_every_;
  return samples_.end() >= std::max(due, began_ + kFirstDraft);
}

bool LiveSession::pause_is_due() const {
  return hears_pauses_ && paused_at_ && drafted_ < *paused_at_ + kMayBeEnd &&
         samples_.end() >= *paused_at_ + kMayBeEnd;
}

int64_t LiveSession::patience_left() const {
  return word_due_ - turns_->spoken();
}

Hurry LiveSession::hurry() const {
  if (turns_->pausing() || patience_ > kSoon) {
    return Hurry::No;
  }
  return patience_ > 0 ? Hurry::Some : Hurry::Most;
}

void LiveSession::take_draft(const HeardWindow& draft) {
  const std::chrono::duration<double> took = Clock::now() - draft_.since;
  draft_every_ = std::max(kDraftEvery, static_cast<int64_t>(took.count() * kDraftRest * kRate_hz));
  if (draft.silent || says_nothing(draft.text())) {
    return;
  }
  draft_until_ = drafted_;
  draft_language_ = draft.language;
  if (agreement_.add(draft.segments, hurry())) {
    word_due_ = word_due_ - patience_ + kNextWord;
    open_.begun = agreement_.agreed();
    open_.language = draft.language;
  }
}

Status LiveSession::go_on(LiveText& live) {
  while (true) {
    if (const auto heard = answer_to(text_)) {
      if (!*heard) {
        return std::unexpected(heard->error());
      }
      commit_first(**heard, live);
    }
    if (const auto heard = answer_to(draft_)) {
      if (!*heard) {
        return std::unexpected(heard->error());
      }
      take_draft(**heard);
    }
    if (parts_.empty() || text_.is_open) {
      break;
    }
    ask(text_, task_of(parts_.front()), false);
  }
  if (draft_is_due() && !draft_.is_open) {
    const bool as_at_its_end = pause_is_due();
    drafted_ = samples_.end();
    patience_ = patience_left();
    open_.turn.range = {turns_->begin(), samples_.end()};
    open_.turn.surely_speech = turns_->is_sure();
    ask(draft_, task_of(open_), !as_at_its_end);
  }
  return {};
}

int64_t LiveSession::samples_left() const {
  int64_t left = 0;
  for (const Part& part : parts_) {
    left += part.turn.range.end - part.turn.range.begin;
  }
  return left;
}

Status LiveSession::wait_until(FunctionRef<bool()> done, const std::stop_token& stop,
                               LiveText& live) {
  while (!done()) {
    std::unique_lock lock(mutex_);
    if (!answered_.wait(lock, stop, [this] { return text_.answer || draft_.answer; })) {
      return fail(ErrorCode::Cancelled, "stopped while what was said was being heard");
    }
    lock.unlock();
    MYNAH_TRY_STATUS(go_on(live));
  }
  return {};
}

LiveText LiveSession::told(LiveText live) const {
  // While a turn waits for its text no drafts are made of what is said behind it.
  live.agreed = text_of(parts_.empty() ? open_.begun : parts_.front().begun);
  live.partial = parts_.empty() ? agreement_.rest() : parts_.front().rest;
  live.turns_ended = turns_ended_;
  live.turns_heard = parts_.empty() ? turns_ended_ : parts_.front().number;
  live.language = language_;
  live.language_probability = language_probability_;
  return live;
}

PauseDraft LiveSession::pause_draft() const {
  if (!parts_.empty() || draft_until_ == 0) {
    return {};
  }
  return {.text = text_of(open_.begun) + agreement_.rest(),
          .until = draft_until_,
          .language = draft_language_};
}

std::unexpected<Error> LiveSession::end_with(Error error) {
  forget(text_);
  forget(draft_);
  dead_ = std::move(error);
  return std::unexpected(*dead_);
}

template <class Step>
Result<LiveText> LiveSession::listen(const std::stop_token& stop, Call call, Step step) {
  if (dead_) {
    return std::unexpected(*dead_);
  }
  const UrgencyScope somebody_speaks(Urgency::Interactive);
  LiveText live;
  Status status = step(live);
  if (status && stop.stop_requested()) {
    status = fail(ErrorCode::Cancelled, "stopped while audio was still coming");
  }
  if (!status) {
    auto ended = end_with(status.error());
    if (call == Call::Last || live.committed.empty()) {
      return ended;
    }
  }
  return told(std::move(live));
}

Result<LiveText> LiveSession::push(std::span<const float> samples, const std::stop_token& stop) {
  return listen(stop, Call::OneOfMany, [&](LiveText& live) -> Status {
    samples_.append(samples);
    MYNAH_TRY(const TurnDetector::Found found, turns_->push(samples, stop));
    take(found, live);
    if (cut_at_ && turns_->heard() >= *cut_at_ + kFirstFrames) {
      // Speech at once: it was cut, and the sender sends pieces of what goes on.
      const bool goes_on = began_ > *cut_at_ && began_ <= *cut_at_ + kFirstFrames;
      patience_s_ = goes_on ? std::min(2 * patience_s_, kMostPatience_s) : kSenderStall_s;
      cut_at_.reset();
    }
    MYNAH_TRY_STATUS(go_on(live));
    MYNAH_TRY_STATUS(wait_until([this] { return samples_left() <= kMostBehind; }, stop, live));
    samples_.discard_before(parts_.empty() ? turns_->earliest_begin()
                                           : parts_.front().turn.range.begin);
    return {};
  });
}

void LiveSession::on_answer(std::function<void()> told) {
  told_answer_ = std::move(told);
}

Result<LiveText> LiveSession::end_turn(const std::stop_token& stop) {
  return listen(stop, Call::OneOfMany, [&](LiveText& live) -> Status {
    MYNAH_TRY(const TurnDetector::Found found, turns_->end(stop));
    take(found, live);
    return go_on(live);
  });
}

Result<LiveText> LiveSession::commit(const std::stop_token& stop) {
  return listen(stop, Call::Last, [&](LiveText& live) -> Status {
    MYNAH_TRY(const TurnDetector::Found found, turns_->end(stop));
    take(found, live);
    MYNAH_TRY_STATUS(go_on(live));
    return wait_until([this] { return parts_.empty(); }, stop, live);
  });
}

Result<LiveText> LiveSession::wait(const std::stop_token& stop) {
  return listen(stop, Call::OneOfMany, [&](LiveText& live) -> Status {
    MYNAH_TRY_STATUS(go_on(live));
    return wait_until([this] { return !text_.is_open && !draft_.is_open; }, stop, live);
  });
}

Result<LiveText> LiveSession::idle(const SenderSilence& silence, const std::stop_token& stop) {
  return listen(stop, Call::OneOfMany, [&](LiveText& live) -> Status {
    const bool stalled =
        silence.since_last_s >= kSenderStall_s &&
        (silence.since_played_s >= kSenderStall_s || silence.since_last_s >= patience_s_);
    const bool pause = turns_->pausing();
    if ((pause ? silence.since_last_s >= kSenderPause_s : stalled) && turns_->holds_speech()) {
      cut_at_ = pause ? std::nullopt : std::optional(turns_->heard());
      MYNAH_TRY(const TurnDetector::Found found, turns_->end(stop));
      take(found, live);
    }
    return go_on(live);
  });
}

Result<LiveText> LiveSession::flush(const std::stop_token& stop) {
  return commit(stop);
}

}  // namespace mynah
