#include "server/realtime/reply_speech.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <utility>

#include <fmt/format.h>

#include "base/ascii.h"
#include "base/turns.h"
#include "server/hear/hear_file.h"
#include "server/http/request_work.h"
#include "server/realtime/sound_input.h"
#include "server/speak/speech_request.h"
#include "speech/voice_choice.h"

namespace mynah::server {
namespace {

// A first clause that is spoken before its sentence was written: as many words as are as long as
// what follows takes to be there, and a mark behind which people pause.
constexpr size_t kLeastEarlyWords = 3;
constexpr std::string_view kPauses = ",;:";

// Bytes of a text up to such a mark that a space follows; 0: there is none.
size_t early_clause(std::string_view text) {
  size_t words = 0;
  for (size_t i = 0; i + 1 < text.size(); ++i) {
    if (!is_ascii_space(text[i + 1])) {
      continue;
    }
    words += is_ascii_space(text[i]) ? 0 : 1;
    if (words >= kLeastEarlyWords && kPauses.contains(text[i])) {
      return i + 1;
    }
  }
  return 0;
}

// Whether a sentence may end in it, or marks of Markdown stand in it: the synthesizer knows better
// where.
bool is_for_synthesizer(std::string_view text) {
  return text.find_first_of(".!?\n*_`#[<|~") != std::string_view::npos;
}

}  // namespace

ReplySpeech::ReplySpeech(Service& service, SocketTurns& turns, ReplyItems& items,
                         ReplySpeechWish wish, std::stop_token stop)
    : service_(service),
      turns_(turns),
      items_(items),
      wish_(wish.wish),
      kind_(wish.kind),
      language_(std::move(wish.language)),
      stop_(std::move(stop)),
      early_(kind_ == TextKind::Markdown) {}

Status ReplySpeech::open() {
  turn_ = turns_.begin(RequestWork::Does::Speak);
  const RequestScope scope(turn_->work());
  MYNAH_TRY(Speaking speaking,
            service_.speaking({.model = {}, .voice = wish_.voice, .language = {}}));
  speaking_.emplace(std::move(speaking));
  return choose_voice();
}

Status ReplySpeech::choose_voice() {
  options_ = client_speak_options();
  options_.voice.voice = speaking_->voice;
  options_.voice.speed = static_cast<float>(wish_.speed);
  options_.kind = kind_;
  const Synthesizer& synthesizer = *speaking_->lease->synthesizer;
  MYNAH_TRY(const VoiceFacts asked, synthesizer.check(options_));
  options_ = options_in(language_, synthesizer, asked, std::move(options_));
  if (options_.voice.voice != speaking_->voice) {
    note_ =
        ReplyNote{.code = "other_voice",
                  .text = fmt::format("{} speaks this reply: {} does not speak {}",
                                      options_.voice.voice, asked.name, language_name(language_))};
  }
  return {};
}

Status ReplySpeech::begin_session() {
  if (session_ != nullptr) {
    return {};
  }
  const Synthesizer& synthesizer = *speaking_->lease->synthesizer;
  SpeakOptions options = options_;
  const int rate_hz = synthesizer.model().rate_hz();
  if (session_begin_ > 0) {
    options.lead_silence_s = options.clause_silence_s;
  } else if (rate_hz != wish_.format.rate_hz) {
    MYNAH_TRY(resampler_, Resampler::create(rate_hz, wish_.format.rate_hz));
  }
  MYNAH_TRY(session_, synthesizer.session(options, *this, stop_));
  turn_->work()->begin();
  return {};
}

Status ReplySpeech::speak(std::string_view text, bool finish) {
  const RequestScope scope(turn_->work());
  const UrgencyScope somebody_listens(Urgency::Interactive);
  MYNAH_TRY_STATUS(begin_session());
  const auto begun_at = std::chrono::steady_clock::now();
  Status done = text.empty() ? Status() : session_->push(text);
  if (done && finish) {
    done = session_->finish();
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begun_at;
  took_s_ += took.count() - std::exchange(waited_s_, 0);
  return done;
}

Status ReplySpeech::push_first(std::string_view text) {
  if (is_for_synthesizer(text)) {
    early_ = false;
    return speak(text, false);
  }
  const size_t clause = early_clause(text);
  if (clause == 0) {
    return {};
  }
  early_ = false;
  MYNAH_TRY_STATUS(speak(text.substr(0, clause), true));
  session_.reset();
  session_begin_ = clause;
  session_begin_s_ = message_s_;
  return speak(text.substr(clause), false);
}

Status ReplySpeech::push(std::string_view text) {
  items_.begin_message();
  text_ += text;
  return early_ ? push_first(text_) : speak(text, false);
}

Status ReplySpeech::finish() {
  if (text_.empty()) {
    return {};
  }
  MYNAH_TRY_STATUS(speak(early_ ? std::string_view(text_) : std::string_view(), true));
  if (told_ < text_.size()) {
    items_.tell_text(std::string_view(text_).substr(told_), words_);
  }
  if (resampler_) {
    std::vector<float> rest;
    MYNAH_TRY_STATUS(resampler_->finish(rest));
    resampler_.reset();
    MYNAH_TRY_STATUS(tell_sound(rest));
  }
  session_.reset();
  text_.clear();
  session_begin_ = 0;
  session_begin_s_ = 0;
  told_ = 0;
  early_ = kind_ == TextKind::Markdown;
  words_.clear();
  message_s_ = 0;
  return {};
}

void ReplySpeech::end(const Status& status) {
  if (speaking_) {
    speaking_->metrics->count_spoken(seconds_, took_s_);
  }
  if (turn_ != nullptr) {
    turn_->end(status);
  }
}

int64_t ReplySpeech::unplayed_ms() const {
  if (!sounds_since_) {
    return 0;
  }
  const auto played = std::chrono::duration_cast<std::chrono::milliseconds>(
      std::chrono::steady_clock::now() - *sounds_since_);
  return std::max<int64_t>(0, ms() - played.count());
}

void ReplySpeech::tell_text(const SpokenClause& clause) {
  const size_t begin = std::min(session_begin_ + clause.begin, text_.size());
  const size_t end = std::min(session_begin_ + clause.end, text_.size());
  const std::string_view written = std::string_view(text_).substr(0, end);
  size_t at = begin;
  for (const SpokenWord& word : clause.words) {
    // Marks of Markdown may stand between them, and within.
    const size_t found = written.find(word.text, at);
    if (found == std::string_view::npos || word.text.empty()) {
      continue;
    }
    at = found + word.text.size();
    constexpr double kSecond_ms = 1000;
    const double middle_s = session_begin_s_ + (word.start_s + word.end_s) / 2;
    words_.push_back({.end = at, .middle_ms = static_cast<int64_t>(middle_s * kSecond_ms)});
  }
  if (end > told_) {
    items_.tell_text(written.substr(told_), words_);
    told_ = end;
  }
}

Status ReplySpeech::on_clause(const SpokenClause& clause) {
  const double clause_s =
      static_cast<double>(clause.samples.size()) / speaking_->lease->synthesizer->model().rate_hz();
  message_s_ += clause_s;
  const double before_s = std::exchange(seconds_, seconds_ + clause_s);
  tell_text(clause);
  if (!resampler_) {
    MYNAH_TRY_STATUS(tell_sound(clause.samples));
  } else {
    std::vector<float> samples;
    MYNAH_TRY_STATUS(resampler_->push(clause.samples, samples));
    MYNAH_TRY_STATUS(tell_sound(samples));
  }
  if (before_s == 0) {
    speaking_->metrics->count_first_sound(
        std::chrono::duration<double>(turn_->work()->age()).count());
  }
  turn_->work()->spend(clause_s);
  return {};
}

Status ReplySpeech::tell_sound(std::span<const float> samples) {
  std::string bytes;
  encode_samples(samples, wish_.format.encoding, bytes);
  items_.tell_sound(bytes);
  const auto told_at = std::chrono::steady_clock::now();
  MYNAH_TRY_STATUS(items_.wait_until_wanted(stop_));
  const auto wanted_at = std::chrono::steady_clock::now();
  waited_s_ += std::chrono::duration<double>(wanted_at - told_at).count();
  samples_ += static_cast<int64_t>(samples.size());
  sounds_since_ = sounds_since_.value_or(wanted_at);
  return {};
}

}  // namespace mynah::server
