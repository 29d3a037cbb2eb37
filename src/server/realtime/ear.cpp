#include "server/realtime/ear.h"

#include <algorithm>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "base/ascii.h"
#include "server/hear/hear_file.h"
#include "speech/hearing.h"

namespace mynah::server {
namespace {

// Sound without a commit.
constexpr int64_t kMostUncommitted = int64_t{600} * kHearingRate_hz;
constexpr int64_t kLeastCommit = kHearingRate_hz / 10;
// As the recogniser's own knobs have it: what is shorter is no speech.
constexpr int64_t kLeastSpeech = kHearingRate_hz / 10;
// A voice that goes on for less than this behind a pause may be a breath.
constexpr int64_t kGoesOn = kHearingRate_hz / 4;
// Turns are looked for so often: a frame of the detector.
constexpr size_t kPiece = 512;
// Recordings that are heard to their end beside the one that goes on.
constexpr size_t kMostRetired = 4;
// A client that sends nothing more in the middle of a word.
constexpr std::chrono::milliseconds kStall{2'000};
// One that sends nothing holds no model.
constexpr std::chrono::seconds kIdle{20};

int64_t ms_of(int64_t samples) {
  return samples * 1000 / kHearingRate_hz;
}

int64_t samples_of_ms(int64_t ms) {
  return ms * kHearingRate_hz / 1000;
}

TurnTimes times_of(const HearingWish& wish) {
  TurnTimes times{.least_speech = kLeastSpeech, .silence = 0, .waiting = {}};
  if (wish.turns) {
    times.silence = samples_of_ms(wish.turns->silence_duration_ms);
    if (wish.turns->idle_timeout_ms) {
      times.waiting = samples_of_ms(*wish.turns->idle_timeout_ms);
    }
  }
  return times;
}

}  // namespace

Ear::Ear(Service& service, SocketTurns& turns, EarObserver& observer,
         std::function<std::string()> new_id, std::function<void()> wake, std::stop_token stop)
    : service_(service),
      turns_(turns),
      observer_(observer),
      new_id_(std::move(new_id)),
      wake_(std::move(wake)),
      stop_(std::move(stop)),
      input_(wish_.format),
      rule_(times_of(wish_)),
      hearer_(std::make_unique<Hearer>(0)) {}

int64_t Ear::ms_at(int64_t sample) const {
  return hearer_->begin_ms + ms_of(sample);
}

bool Ear::has_open_item() const {
  return !hearer_->items.empty() && !hearer_->items.back().until;
}

Result<Hearing> Ear::model_for(const HearingWish& wish, RecognizerOptions& options) const {
  MYNAH_TRY(Hearing hearing, service_.hearing(wish.model));
  // "en" of "en-GB".
  const std::string language = wish.language.substr(0, wish.language.find_first_of("-_"));
  options.decoding.language = language.empty() ? "auto" : language;
  options.cutting.initial_prompt = wish.prompt;
  options.cutting.hotwords = wish.hotwords;
  expect_words(hearing, options);
  options.owner = turns_.owner();
  if (wish.turns) {
    options.cutting.vad_options.threshold = static_cast<float>(wish.turns->threshold);
  }
  MYNAH_TRY_STATUS(hearing.lease->recognizer->check(options));
  return hearing;
}

Status Ear::configure(const HearingWish& wish) {
  if (wish == wish_) {
    return {};
  }
  RecognizerOptions options;
  MYNAH_TRY(const Hearing opened, model_for(wish, options));
  if (has_open_item()) {
    MYNAH_TRY_STATUS(commit());
  }
  begin_anew();
  wish_ = wish;
  input_ = SoundInput(wish_.format);
  rule_ = TurnRule(times_of(wish_));
  return {};
}

Status Ear::open() {
  if (hearer_->session != nullptr) {
    return {};
  }
  RecognizerOptions options;
  MYNAH_TRY(Hearing hearing, model_for(wish_, options));
  hearer_->hearing.emplace(std::move(hearing));
  MYNAH_TRY(hearer_->session, hearer_->hearing->lease->recognizer->session(options));
  if (wish_.turns && wish_.turns->eagerness) {
    if (auto scorer = service_.turns().scorer()) {
      hearer_->ends.emplace(std::move(scorer), end_of_turn_rule(*wish_.turns->eagerness));
      rule_.set_silence(std::numeric_limits<int64_t>::max());
    }
  }
  hearer_->pauses = dynamic_cast<PauseHearing*>(hearer_->session.get());
  if (hearer_->pauses != nullptr && observer_.wants_provisional()) {
    hearer_->pauses->hear_pauses();
  }
  hearer_->session->on_answer(wake_);
  return {};
}

void Ear::begin_anew() {
  const int64_t begin_ms = ms_at(hearer_->samples);
  if (has_open_item()) {
    hearer_->items.pop_back();
  }
  if (!hearer_->items.empty()) {
    retired_.push_back(std::move(hearer_));
  }
  hearer_ = std::make_unique<Hearer>(begin_ms);
  rule_ = TurnRule(times_of(wish_));
  input_ = SoundInput(wish_.format);
  uncommitted_ = 0;
  voice_ = false;
  quiet_since_.reset();
  provisional_.reset();
  if (retired_.size() > kMostRetired) {
    fail_all(*retired_.front(), {ErrorCode::Busy, "too much came while this was being heard"});
    retired_.pop_front();
  }
}

Status Ear::append(std::string_view bytes) {
  last_came_ = Clock::now();
  if (!wish_.turns && uncommitted_ > kMostUncommitted) {
    return fail(ErrorCode::InvalidInput,
                fmt::format("input_audio_buffer.append: {} minutes came without a commit, which is "
                            "the most; commit or clear them",
                            kMostUncommitted / kHearingRate_hz / 60));
  }
  std::vector<float> samples;
  MYNAH_TRY_STATUS(input_.push(bytes, samples));
  MYNAH_TRY_STATUS(open());
  // It counts as it comes, whatever becomes of it.
  const double came_s = static_cast<double>(samples.size()) / kHearingRate_hz;
  turns_.spend(came_s);
  hearer_->hearing->metrics->count_heard(came_s, 0);
  hear(samples);
  return {};
}

void Ear::hear(std::span<const float> samples) {
  while (!samples.empty() && hearer_->session != nullptr) {
    const auto piece = samples.first(std::min(samples.size(), kPiece));
    samples = samples.subspan(piece.size());
    if (!wish_.turns && !has_open_item()) {
      begin_item(*hearer_, ms_at(hearer_->samples));
    }
    hearer_->samples += static_cast<int64_t>(piece.size());
    uncommitted_ += static_cast<int64_t>(piece.size());
    Result<LiveText> live = hearer_->session->push(piece, stop_);
    const auto end = end_in(piece, live);
    take(*hearer_, std::move(live));
    if (end && rule_.is_open()) {
      rule_.end(hearer_->samples);
      end_item(end->at);
    }
  }
}

std::optional<EndOfTurn::End> Ear::end_in(std::span<const float> piece,
                                          const Result<LiveText>& live) {
  if (!live || !hearer_->ends) {
    return std::nullopt;
  }
  if (hearer_->ends->is_open()) {
    hearer_->ends->hear(live->agreed + live->partial, live->language);
  }
  const auto end = hearer_->ends->push(piece, live->events);
  if (!end) {
    // Silence by the eagerness ends this turn and those to come.
    hearer_->ends.reset();
    rule_.set_silence(times_of(wish_).silence);
    return std::nullopt;
  }
  return *end;
}

Status Ear::commit() {
  std::vector<float> rest;
  MYNAH_TRY_STATUS(input_.finish(rest));
  hear(rest);
  if (!has_open_item() && (uncommitted_ < kLeastCommit || hearer_->session == nullptr)) {
    return fail(ErrorCode::InvalidInput,
                fmt::format("input_audio_buffer.commit: wanted {} ms of sound at least, found {}",
                            ms_of(kLeastCommit), ms_of(uncommitted_)));
  }
  if (!has_open_item()) {
    begin_item(*hearer_, ms_at(hearer_->samples - uncommitted_));
  }
  rule_.end(hearer_->samples);
  if (hearer_->ends) {
    hearer_->ends->end();
  }
  voice_ = true;  // whatever of one there is ends
  end_item(hearer_->samples);
  return {};
}

void Ear::clear() {
  begin_anew();
}

void Ear::go_on() {
  for (const auto& hearer : retired_) {
    take(*hearer, hearer->session->idle({}, stop_));
  }
  std::erase_if(retired_, [](const auto& hearer) { return hearer->items.empty(); });
  if (hearer_->session != nullptr) {
    take(*hearer_, hearer_->session->idle({}, stop_));
  }
}

void Ear::wait_for_turn(int64_t unplayed_ms) {
  if (!rule_.is_open()) {
    rule_.wait_from(hearer_->samples + samples_of_ms(unplayed_ms));
  }
}

std::optional<Ear::Clock::time_point> Ear::due() const {
  if (hearer_->session == nullptr) {
    return std::nullopt;
  }
  if (wish_.turns && has_open_item()) {
    return last_came_ + kStall;
  }
  return hearer_->items.empty() ? std::optional(last_came_ + kIdle) : std::nullopt;
}

void Ear::on_time(Clock::time_point now) {
  const auto due_at = due();
  if (!due_at || now < *due_at) {
    return;
  }
  if (has_open_item()) {
    rule_.end(hearer_->samples);
    end_item(hearer_->samples);
  } else {
    begin_anew();
  }
}

Ear::Item& Ear::begin_item(Hearer& hearer, int64_t begin_ms) {
  Item& item = hearer.items.emplace_back();
  item.heard.id = new_id_();
  item.heard.begin_ms = begin_ms;
  item.turn = turns_.begin(RequestWork::Does::Hear);
  item.turn->work()->begin();  // drafts are made of it while it is spoken
  return item;
}

void Ear::end_item(int64_t at) {
  Item& item = hearer_->items.back();
  item.heard.end_ms = std::max(ms_at(at), item.heard.begin_ms);
  item.until = at + (hearer_->samples - at) / 2;
  item.ended_at = Clock::now();
  uncommitted_ = 0;
  provisional_.reset();
  if (item.started) {
    observer_.on_stopped(item.heard);
  }
  observer_.on_committed(item.heard);
  item.last_turn = hearer_->turns_ended;
  if (std::exchange(voice_, false)) {
    // A pause that is long enough for the client may be too short for the recogniser.
    Result<LiveText> ended = hearer_->session->end_turn(stop_);
    if (ended) {
      item.last_turn = ended->turns_ended;
    }
    take(*hearer_, std::move(ended));
  } else {
    tell(*hearer_);
  }
}

void Ear::take_turns(std::span<const VoiceEvent> events) {
  for (const VoiceEvent& event : events) {
    if (event.kind == VoiceEvent::Kind::Began || event.kind == VoiceEvent::Kind::Ended) {
      voice_ = event.kind == VoiceEvent::Kind::Began;
    }
    if (event.kind == VoiceEvent::Kind::Paused || event.kind == VoiceEvent::Kind::Ended) {
      quiet_since_ = quiet_since_.value_or(event.at);
    } else {
      quiet_since_.reset();
      went_on_ = event.at;
    }
  }
  if (!wish_.turns) {
    return;
  }
  for (const TurnStep& step : rule_.take(events, hearer_->samples)) {
    if (hearer_->session == nullptr) {
      return;  // it failed meanwhile
    }
    switch (step.kind) {
      case TurnStep::Kind::Started: {
        const int64_t padded = ms_at(step.at) - wish_.turns->prefix_padding_ms;
        Item& item = begin_item(*hearer_, std::max<int64_t>(0, padded));
        item.started = true;
        observer_.on_started(item.heard);
        break;
      }
      case TurnStep::Kind::Stopped:
        end_item(step.at);
        break;
      case TurnStep::Kind::WaitedInVain: {
        HeardItem nothing;
        nothing.id = new_id_();
        nothing.begin_ms = ms_at(step.at);
        nothing.end_ms = ms_at(hearer_->samples);
        observer_.on_waited_in_vain(nothing);
        break;
      }
    }
  }
}

Ear::Item& Ear::item_at(Hearer& hearer, int64_t at) {
  const auto found = std::ranges::find_if(
      hearer.items, [at](const Item& item) { return !item.until || at < *item.until; });
  if (found != hearer.items.end()) {
    return *found;
  }
  if (!hearer.items.empty()) {
    return hearer.items.back();
  }
  // The recogniser heard what the rule took for a knock.
  Item& item = begin_item(hearer, hearer.begin_ms + ms_of(at));
  item.ended_at = Clock::now();
  item.heard.end_ms = item.heard.begin_ms;
  item.until = at;
  item.last_turn = hearer.turns_heard;
  observer_.on_started(item.heard);
  observer_.on_stopped(item.heard);
  observer_.on_committed(item.heard);
  return item;
}

void Ear::take_text(Hearer& hearer, LiveText live) {
  hearer.turns_ended = live.turns_ended;
  hearer.turns_heard = live.turns_heard;
  hearer.agreed = std::move(live.agreed);
  for (Segment& segment : live.committed) {
    HeardItem& heard = item_at(hearer, samples_of(segment.start_s)).heard;
    heard.text += segment.text;
    heard.language = live.language;
    heard.segments.push_back(std::move(segment));
  }
  tell(hearer);
}

void Ear::tell(Hearer& hearer) {
  while (!hearer.items.empty()) {
    Item& item = hearer.items.front();
    const bool done = item.until && hearer.turns_heard >= item.last_turn;
    std::string text = item.heard.text + (done ? std::string() : hearer.agreed);
    text.erase(0, text.find_first_not_of(' '));
    if (text.size() > item.told.size() && text.starts_with(item.told)) {
      observer_.on_delta(item.heard, std::string_view(text).substr(item.told.size()));
      item.told = text;
    }
    if (!done) {
      return;
    }
    item.heard.text = std::move(text);
    complete(hearer, item);
    hearer.items.pop_front();
  }
}

void Ear::complete(Hearer& hearer, Item& item) {
  // Its sound was counted as it came; what it took is what its text took from its end on.
  const std::chrono::duration<double> took = Clock::now() - item.ended_at;
  hearer.hearing->metrics->count_heard(0, took.count());
  item.turn->end({});
  observer_.on_completed(item.heard, *hearer.hearing->lease->recognizer);
}

void Ear::take(Hearer& hearer, Result<LiveText> live) {
  const bool goes_on = &hearer == hearer_.get();
  if (!live) {
    if (!stop_.stop_requested()) {
      fail_all(hearer, live.error());
    }
    hearer.items.clear();
    if (goes_on) {
      begin_anew();
    }
    return;
  }
  const std::vector<VoiceEvent> events = std::move(live->events);
  take_text(hearer, *std::move(live));
  if (goes_on) {
    take_turns(events);
    tell_provisional();
  }
}

void Ear::tell_provisional() {
  const Hearer& hearer = *hearer_;
  if (!wish_.turns || !has_open_item() || hearer.items.size() > 1 || hearer.pauses == nullptr ||
      !observer_.wants_provisional()) {
    return;
  }
  HeardItem so_far = hearer.items.front().heard;
  if (!quiet_since_) {
    if (provisional_ && hearer.samples - went_on_ >= kGoesOn) {
      provisional_.reset();
      observer_.on_went_on();
    }
    return;
  }
  if (voice_) {
    const PauseDraft draft = hearer.pauses->pause_draft();
    if (draft.until <= *quiet_since_) {
      return;
    }
    so_far.text += draft.text;
    so_far.language = so_far.language.empty() ? draft.language : so_far.language;
  } else if (hearer.turns_heard < hearer.turns_ended) {
    return;
  }
  so_far.text.erase(0, so_far.text.find_first_not_of(' '));
  if (provisional_ != so_far.text) {
    provisional_ = so_far.text;
    observer_.on_provisional(so_far, *hearer.hearing->lease->recognizer);
  }
}

void Ear::fail_all(Hearer& hearer, const Error& error) {
  for (Item& item : hearer.items) {
    if (!item.until) {
      if (item.started) {
        observer_.on_stopped(item.heard);
      }
      observer_.on_committed(item.heard);
    }
    item.turn->end(std::unexpected(error));
    observer_.on_failed(item.heard, error);
  }
}

}  // namespace mynah::server
