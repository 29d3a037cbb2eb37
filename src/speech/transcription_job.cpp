#include "speech/transcription_job.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "audio/prompt_reads.h"
#include "base/check.h"
#include "speech/word_times.h"

namespace mynah {
namespace {

constexpr int kRate_hz = kHearingRate_hz;
constexpr size_t kPieceSamples = kRate_hz;  // read at a time
// A whole recording as short as this is of a word, where there is speech in it.
constexpr int64_t kOneWord = kRate_hz;
// Shorter than any word.
constexpr int64_t kLeastChunk = kRate_hz / 10;
// What is there is listened to together, up to so much: a device is asked once for all of it.
constexpr int64_t kHeardTogether = 30 * kRate_hz;
// Of a recording in which little is said, so much is read for a window to be heard with others: its
// text comes sooner, and what is under way stays small.
constexpr int64_t kMostReadAhead = int64_t{10} * 60 * kRate_hz;

// A span fits a window with its padding.
VadOptions window_sized(VadOptions options, double window_s) {
  options.max_speech_s = std::min(options.max_speech_s, window_s - 1.0);
  return options;
}

// In order of time; what several clips share is heard once.
std::vector<SampleRange> ranges_of(std::span<const ClipRange> clips) {
  std::vector<SampleRange> all;
  for (const ClipRange& clip : clips) {
    all.push_back({samples_of(clip.start_s), samples_of(clip.end_s)});
  }
  if (all.empty()) {
    all.push_back({0, std::numeric_limits<int64_t>::max()});
  }
  std::ranges::sort(all, {}, &SampleRange::begin);
  std::vector<SampleRange> apart;
  for (const SampleRange& range : all) {
    if (!apart.empty() && range.begin < apart.back().end) {
      apart.back().end = std::max(apart.back().end, range.end);
    } else {
      apart.push_back(range);
    }
  }
  return apart;
}

}  // namespace

TranscriptionJob::TranscriptionJob(std::shared_ptr<const HearingHeader> header,
                                   RecognizerOptions options, const VoiceDetector* voice,
                                   std::unique_ptr<AudioSource> source, uint64_t number)
    : header_(std::move(header)),
      options_(std::move(options)),
      window_samples_(samples_of(facts().longest_window_s)),
      source_(std::move(source)),
      number_(number),
      piece_(kPieceSamples),
      clips_(ranges_of(options_.cutting.clips)) {
  const CuttingOptions& cutting = options_.cutting;
  if (voice != nullptr && cutting.vad && facts().wants_vad) {
    const VadOptions vad = knobs_for(facts(), *voice, cutting.vad_options);
    turns_.emplace(
        *voice, window_sized(vad, cutting.chunk_length_s),
        ChunkOptions{.max_s = cutting.chunk_length_s, .span_pad_s = vad.speech_pad_ms / 1000.0});
  } else {
    std::ranges::for_each(clips_, [&](const SampleRange& clip) { add_stretch(clip, clip); });
  }
  // With voice activity a rest holds its padding only; else it may hold a short word.
  least_samples_ = turns_ ? kRate_hz / 2 : kLeastChunk;
  language_ = facts().language_asked(options_.decoding.language);
  language_probability_ =
      options_.decoding.language != "auto" || !facts().multilingual() ? 1.0F : 0.0F;
}

bool TranscriptionJob::sequential() const {
  const bool language_unknown = facts().multilingual() && language_.empty();
  return options_.cutting.condition_on_previous_text || language_unknown;
}

TranscriptionJob::Stretch& TranscriptionJob::add_stretch(const SampleRange& range,
                                                         const SampleRange& speech) {
  return stretches_.emplace_back(Stretch{.ticket = next_ticket_++,
                                         .range = range,
                                         .speech = speech,
                                         .samples = {},
                                         .seek = range.begin,
                                         .window = 0,
                                         .segments = {}});
}

// Turns, cut to the clips. Each has its samples: it may wait for others, hours apart, to be heard
// with.
void TranscriptionJob::add_turns(std::span<const Turn> turns) {
  for (const Turn& turn : turns) {
    const bool one_word = turns_->is_sure() && samples_.end() <= kOneWord;
    for (const SampleRange& clip : clips_) {
      const SampleRange both{std::max(turn.range.begin, clip.begin),
                             std::min({turn.range.end, clip.end, samples_.end()})};
      if (both.end - both.begin >= kLeastChunk) {
        const auto samples = samples_.slice(both.begin, both.end);
        Stretch& stretch = add_stretch(both, turn.speech);
        stretch.samples.assign(samples.begin(), samples.end());
        stretch.surely_speech = turn.surely_speech || one_word;
      }
    }
  }
}

// What was found is heard, however short; a rest of it may hold its padding only.
bool TranscriptionJob::done(const Stretch& stretch) const {
  const bool begun = stretch.seek > stretch.range.begin;
  return stretch.window == 0 &&
         stretch.range.end - stretch.seek < (begun ? least_samples_ : kLeastChunk);
}

bool TranscriptionJob::ready(const Stretch& stretch) const {
  const int64_t last = std::min(stretch.range.end - stretch.seek, window_samples_) + stretch.seek;
  return stretch.window == 0 && !done(stretch) && samples_.end() >= last;
}

std::span<const float> TranscriptionJob::window_of(const Stretch& stretch) const {
  if (stretch.samples.empty()) {
    return samples_.slice(stretch.seek, stretch.seek + stretch.window);
  }
  return std::span(stretch.samples)
      .subspan(static_cast<size_t>(stretch.seek - stretch.range.begin),
               static_cast<size_t>(stretch.window));
}

size_t TranscriptionJob::ready_windows() const {
  return static_cast<size_t>(
      std::ranges::count_if(stretches_, [&](const Stretch& s) { return ready(s); }));
}

std::optional<size_t> TranscriptionJob::windows_left() const {
  const std::optional<double> all_s = duration_s();
  if (!all_s) {
    return std::nullopt;
  }
  const double unread_s = std::max(0.0, *all_s - seconds_of(samples_.end()));
  const bool apart = turns_ && !sequential();
  return ready_windows() +
         (apart && !ended_
              ? static_cast<size_t>(std::ceil(unread_s / options_.cutting.chunk_length_s))
              : 0);
}

Status TranscriptionJob::read_ahead(size_t ahead, const std::stop_token& stop) {
  const auto busy = [&](const Stretch& s) { return s.window > 0 || ready(s); };
  while (!ended_ && ready_windows() < ahead && !stop.stop_requested()) {
    // Without voice activity more audio makes no more windows of a stretch that is being heard.
    if (!turns_ && std::ranges::any_of(stretches_, busy)) {
      break;
    }
    const auto first = std::ranges::find_if(stretches_, [&](const Stretch& s) { return ready(s); });
    if (first != stretches_.end() && samples_.end() - first->range.end > kMostReadAhead) {
      break;
    }
    if (samples_.end() >= clips_.back().end) {
      return end_recording();
    }
    MYNAH_TRY_STATUS(read_piece(stop));
  }
  return {};
}

Status TranscriptionJob::read_piece(const std::stop_token& stop) {
  const int64_t begin = samples_.end();
  PromptReads reads;
  Result<size_t> count = 0;
  do {
    count = reads.read(*source_, piece_);
    samples_.append(std::span<const float>(piece_).first(count.value_or(0)));
  } while (turns_ && reads.more() && samples_.end() < clips_.back().end &&
           samples_.end() - begin < kHeardTogether);
  if (turns_ && samples_.end() > begin) {
    if (Status found = find_speech(samples_.slice(begin, samples_.end()), stop); !found) {
      if (stop.stop_requested()) {
        return {};  // nobody wants the rest
      }
      stop_reading();
      return found;
    }
  }
  if (!count) {
    // The recording's error is the cause, whatever the detector says besides.
    static_cast<void>(end_recording());
    return std::unexpected(std::move(count).error());
  }
  if (*count == 0) {
    return end_recording();
  }
  retire_finished();
  return {};
}

Status TranscriptionJob::find_speech(std::span<const float> samples, const std::stop_token& stop) {
  const auto start = std::chrono::steady_clock::now();
  MYNAH_TRY(const TurnDetector::Found found, turns_->push(samples, stop));
  vad_ms_ +=
      std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  add_turns(found.turns);
  return {};
}

Status TranscriptionJob::end_recording() {
  Status told;
  if (turns_) {
    if (const auto found = turns_->end({})) {
      add_turns(found->turns);
    } else {
      told = std::unexpected(found.error());
    }
  }
  stop_reading();
  return told;
}

void TranscriptionJob::stop_reading() {
  ended_ = true;
  for (Stretch& stretch : stretches_) {
    stretch.range.end = std::min(stretch.range.end, samples_.end());
  }
  retire_finished();
}

std::vector<std::string> TranscriptionJob::prompts() const {
  const CuttingOptions& cutting = options_.cutting;
  std::vector<std::string> texts;
  if (!cutting.initial_prompt.empty() && (!begun_ || cutting.carry_initial_prompt)) {
    texts.push_back(cutting.initial_prompt);
  }
  return texts;
}

std::optional<WindowTask> TranscriptionJob::next_window(size_t& ticket) {
  const bool running =
      std::ranges::any_of(stretches_, [](const Stretch& s) { return s.window > 0; });
  if (sequential() && running) {
    return std::nullopt;
  }
  for (Stretch& stretch : stretches_) {
    if (sequential() && !done(stretch) && !ready(stretch)) {
      return std::nullopt;  // its turn comes first
    }
    if (!ready(stretch)) {
      continue;
    }
    stretch.window = std::min(stretch.range.end - stretch.seek, window_samples_);
    if (stretch.seek < stretch.loop_end) {
      stretch.window = std::min(stretch.window, stretch.most_window);
    }
    ticket = stretch.ticket;
    WindowTask task{
        .samples = window_of(stretch),
        .prompts = prompts(),
        .previous = previous_,
        .language = language_,
        .hotwords = options_.cutting.hotwords,
        .seed = options_.decoding.seed ^ (number_ << 40U) ^ static_cast<uint64_t>(stretch.seek),
        .surely_speech = stretch.surely_speech,
        .job = static_cast<size_t>(number_),
        .begin_s = seconds_of(stretch.seek)};
    begun_ = true;
    return task;
  }
  return std::nullopt;
}

// The language of a recording is what its first windows are likeliest in, together.
void TranscriptionJob::learn_language(const HeardWindow& heard) {
  if (!language_.empty() || heard.language.empty()) {
    return;
  }
  guesses_.push_back({heard.language, heard.language_probability});
  const auto wanted =
      static_cast<size_t>(std::max(1, options_.cutting.language_detection_segments));
  if (guesses_.size() < wanted) {
    return;
  }
  float best = 0;
  for (const LanguageGuess& guess : guesses_) {
    float sum = 0;
    for (const LanguageGuess& other : guesses_) {
      sum += other.language == guess.language ? other.probability : 0.0F;
    }
    if (sum > best) {
      best = sum;
      language_ = guess.language;
      language_probability_ = sum / static_cast<float>(guesses_.size());
    }
  }
}

int64_t TranscriptionJob::time_words(const Stretch& stretch, const HeardWindow& heard,
                                     std::vector<Segment>& segments) {
  const double offset_s = seconds_of(stretch.seek);
  const double before_s = last_speech_s_;
  last_speech_s_ = share_out_words(segments, heard.words, offset_s, last_speech_s_);
  int64_t after = stretch.seek + std::min(samples_of(heard.next_s), stretch.window);
  if (!heard.nothing_after && !heard.words.empty() && last_speech_s_ > offset_s) {
    after = samples_of(last_speech_s_);
  }
  if (options_.cutting.hallucination_silence_s) {
    const WindowExtent extent{
        .start_s = offset_s,
        .end_s = seconds_of(stretch.seek + stretch.window),
        .recording_end_s = seconds_of(std::min(stretch.range.end, samples_.end())),
        .last_speech_s = before_s};
    const double from_s =
        drop_hallucinations(segments, extent, *options_.cutting.hallucination_silence_s);
    if (from_s >= 0) {
      after = samples_of(from_s);
    }
    last_speech_s_ = segments.empty() ? before_s : segments.back().end_s;
  }
  give_words_length(segments, offset_s);
  return after;
}

void TranscriptionJob::remember_text(const HeardWindow& heard, std::span<const Segment> segments) {
  constexpr size_t kMostTokens = 1024;  // more than a model takes
  if (!options_.cutting.condition_on_previous_text || !facts().takes_prompt || !heard.reliable) {
    previous_.clear();
    return;
  }
  for (const Segment& segment : segments) {
    previous_.insert(previous_.end(), segment.tokens.begin(), segment.tokens.end());
  }
  if (previous_.size() > kMostTokens) {
    previous_.erase(previous_.begin(), previous_.end() - static_cast<ptrdiff_t>(kMostTokens));
  }
}

void TranscriptionJob::accept(size_t ticket, const HeardWindow& heard) {
  const auto found = std::ranges::find(stretches_, ticket, &Stretch::ticket);
  MYNAH_CHECK(found != stretches_.end() && found->window > 0, "a text that nobody asked for");
  Stretch& stretch = *found;
  learn_language(heard);
  decoded_again_ += heard.decoded_again ? 1 : 0;
  if (heard.shorter) {
    stretch.loop_end = std::max(stretch.loop_end, stretch.seek + stretch.window);
    stretch.most_window = *heard.shorter;
    stretch.window = 0;
    return;
  }
  int64_t after = stretch.seek + stretch.window;
  if (!heard.silent) {
    std::vector<Segment> segments = segments_at(heard, seconds_of(stretch.seek));
    after = options_.decoding.words
                ? time_words(stretch, heard, segments)
                : stretch.seek + std::min(samples_of(heard.next_s), stretch.window);
    const double end_s = seconds_of(stretch.seek + stretch.window);
    const double speech_s = std::min(seconds_of(stretch.speech.end), end_s);
    if (turns_ && stretch.surely_speech && options_.decoding.timestamps &&
        ends_early(segments, seconds_of(stretch.seek), speech_s)) {
      after = std::clamp(samples_of(segments.back().end_s), stretch.seek, after);
    }
    std::erase_if(segments, [&](const Segment& s) {
      return says_nothing(s.text) || s.start_s >= std::min(s.end_s, end_s);
    });
    for (Segment& segment : segments) {
      segment.end_s = std::min(segment.end_s, end_s);
    }
    keep_to_speech(segments, seconds_of(stretch.speech.begin), seconds_of(stretch.speech.end));
    remember_text(heard, segments);
    std::ranges::move(segments, std::back_inserter(stretch.segments));
  }
  // A window always moves on.
  stretch.seek = after > stretch.seek ? std::min(after, stretch.seek + stretch.window)
                                      : stretch.seek + stretch.window;
  stretch.window = 0;
  retire_finished();
}

void TranscriptionJob::retire_finished() {
  while (!stretches_.empty()) {
    Stretch& front = stretches_.front();
    for (Segment& segment : front.segments) {
      segment.id = next_id_++;
      ready_segments_.push_back(std::move(segment));
    }
    front.segments.clear();
    done_samples_ = std::max(done_samples_, std::min(front.seek, samples_.end()));
    if (!done(front)) {
      break;
    }
    stretches_.pop_front();
  }
  int64_t needed = samples_.end();
  if (turns_ && !ended_) {
    needed = turns_->earliest_begin();
  }
  for (const Stretch& stretch : stretches_) {
    needed = stretch.samples.empty() ? std::min(needed, stretch.seek) : needed;
  }
  samples_.discard_before(needed);
  if (stretches_.empty()) {
    done_samples_ = std::max(done_samples_, turns_ ? turns_->known_until() : 0);
  }
}

std::vector<Segment> TranscriptionJob::take_segments() {
  return std::exchange(ready_segments_, {});
}

bool TranscriptionJob::finished() const {
  return ended_ && stretches_.empty();
}

double TranscriptionJob::done_s() const {
  return seconds_of(finished() ? samples_.end() : done_samples_);
}

Transcript TranscriptionJob::summary() const {
  Transcript transcript;
  transcript.language = facts().multilingual() ? language_ : facts().languages.front();
  transcript.language_probability = language_probability_;
  transcript.task = options_.decoding.task == Task::Translate ? "translate" : "transcribe";
  transcript.duration_s = seconds_of(samples_.end());
  transcript.model = facts().model;
  if (!facts().note.empty()) {
    transcript.notes.push_back(facts().note);
  }
  if (!options_.cutting.hotwords.empty() && !facts().takes_hotwords) {
    transcript.notes.push_back(fmt::format(
        "{} hears without hotwords: no word was made likelier; a model that can: mynah pull tiny",
        facts().model));
  }
  if (decoded_again_ > 0) {
    transcript.explanations.push_back(
        fmt::format("{} {} decoded again with full context", decoded_again_,
                    decoded_again_ == 1 ? "window was" : "windows were"));
  }
  return transcript;
}

}  // namespace mynah
