#include "speech/live_session.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <iterator>

#include "base/turns.h"
#include "speech/word_times.h"

namespace mynah {
namespace {

constexpr int kRate_hz = kHearingRate_hz;

// A pause this long ends a piece of text; longer ones would only keep the user waiting.
ChunkOptions live_chunks(const CuttingOptions& options, const VadOptions& vad) {
  return {.max_s = options.chunk_length_s,
          .max_gap_s = 0.6,
          .pad_s = 0.3,
          .span_pad_s = vad.speech_pad_ms / 1000.0};
}

// Of a sender that stops in speech: whether that goes on is seen in the first frames that it sends
// again, and this long it is waited for at most where more had come than its time.
constexpr int64_t kFirstFrames = 5;
constexpr double kMostPatience_s = 10;

// Speech is noticed this long after it begins, and one partial text follows another.
constexpr int64_t kOnset = kRate_hz / 2;
constexpr int64_t kPartialEvery = kRate_hz / 2;
// Drafts take a third of the time at most, so that a slow machine keeps up with the speaker.
constexpr double kDraftRest = 3;

bool blank(std::string_view text) {
  return text.find_first_not_of(" \t\n") == std::string_view::npos;
}

double seconds_of(int64_t samples) {
  return static_cast<double>(samples) / kRate_hz;
}

}  // namespace

Result<std::unique_ptr<LiveSession>> LiveSession::create(std::shared_ptr<WindowQueue> queue,
                                                         std::shared_ptr<const VoiceDetector> voice,
                                                         const RecognizerOptions& options) {
  MYNAH_TRY(auto client,
            queue->client(options.decoding, Urgency::Interactive, options.cutting.batch));
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
      client_(std::move(client)) {
  reset();
}

void LiveSession::listen_anew() {
  const CuttingOptions& options = options_.cutting;
  VadOptions vad = voice_->for_recogniser(options.vad_options);
  if (vad.negative_threshold < 0) {
    // The usual distance, but a pause must be found below a low threshold too.
    vad.negative_threshold = std::max(vad.threshold - 0.15F, vad.threshold / 2);
  }
  const ChunkOptions chunks = live_chunks(options, vad);
  vad.max_speech_s = std::min(vad.max_speech_s, chunks.max_s - 2 * chunks.pad_s);
  detector_ = voice_->session();
  segmenter_.emplace(vad, voice_->frame_s());
  chunker_.emplace(chunks, kRate_hz);
  long_speech_.emplace(kRate_hz);
  detector_begin_ = samples_.end();
  detected_frames_ = 0;
  speech_begin_ = samples_.end();
  speaking_ = false;
  partial_.clear();
}

void LiveSession::reset() {
  samples_ = {};
  listen_anew();
  cut_in_speech_ = false;
  patience_s_ = kSenderStall_s;
  last_partial_ = 0;
  partial_every_ = kPartialEvery;
  next_id_ = 0;
  last_speech_s_ = 0;
  language_.clear();
  language_probability_ = 0;
  previous_.clear();
  dead_.reset();
  begun_ = false;
  told_language_ = queue_->model().header()->facts().language_asked(options_.decoding.language);
}

Result<std::vector<LiveSession::Chunk>> LiveSession::find_speech(std::span<const float> samples) {
  samples_.append(samples);
  MYNAH_TRY(const auto probabilities, detector_->push(samples));
  // Frame by frame, so that where a chunk ends does not depend on how the samples come.
  std::vector<SpeechChunk> chunks;
  for (const float& probability : probabilities) {
    const double now_s = static_cast<double>(++detected_frames_) * voice_->frame_s();
    const std::vector<SpeechSpan> spans = segmenter_->push({&probability, 1});
    if (cut_in_speech_ && detected_frames_ == kFirstFrames) {
      // Speech at once: it was cut, and the sender sends pieces of what goes on.
      patience_s_ =
          segmenter_->speaking() ? std::min(2 * patience_s_, kMostPatience_s) : kSenderStall_s;
      cut_in_speech_ = false;
    }
    const double heard_s = segmenter_->speaking() ? 0.0 : now_s;
    long_speech_->add(spans);
    std::ranges::move(chunker_->push(spans, heard_s), std::back_inserter(chunks));
    if (const auto since_s = segmenter_->speaking_since()) {
      // What cannot share a window with it need not wait for its end.
      std::ranges::move(chunker_->make_room({*since_s, now_s}), std::back_inserter(chunks));
    }
  }
  std::vector<Chunk> found = chunks_of(chunks);
  for (const Chunk& chunk : found) {
    speech_begin_ = std::max(speech_begin_, chunk.range.end);
  }
  const bool speaking = segmenter_->speaking() || chunker_->open();
  if (speaking && !speaking_) {
    const int64_t onset = samples_.end() - static_cast<int64_t>(samples.size()) - kOnset;
    speech_begin_ = std::max({samples_.begin(), speech_begin_, onset});
  } else if (!speaking) {
    partial_.clear();
  }
  speaking_ = speaking;
  return found;
}

std::vector<LiveSession::Chunk> LiveSession::chunks_of(std::span<const SpeechChunk> found) {
  const auto in_recording = [this](const SampleRange& range) {
    return SampleRange{range.begin + detector_begin_, range.end + detector_begin_};
  };
  std::vector<Chunk> chunks;
  for (const SpeechChunk& chunk : found) {
    chunks.push_back({.range = in_recording(chunk.range),
                      .speech = in_recording(chunk.speech),
                      .surely_speech = voice_->is_sure() && long_speech_->in(chunk.range)});
  }
  return chunks;
}

Result<std::vector<LiveSession::Chunk>> LiveSession::end_speech() {
  MYNAH_TRY(const auto probabilities, detector_->flush());
  const double duration_s = seconds_of(samples_.end() - detector_begin_);
  std::vector<SpeechSpan> spans = segmenter_->push(probabilities);
  std::ranges::copy(segmenter_->flush(duration_s), std::back_inserter(spans));
  long_speech_->add(spans);
  std::vector<SpeechChunk> chunks = chunker_->push(spans, 0.0);
  std::ranges::copy(chunker_->flush(duration_s), std::back_inserter(chunks));
  return chunks_of(chunks);
}

WindowTask LiveSession::task_of(const SampleRange& range, bool surely_speech) const {
  const CuttingOptions& cutting = options_.cutting;
  const bool prompted =
      !cutting.initial_prompt.empty() && (!begun_ || cutting.condition_on_previous_text);
  return {.samples = samples_.slice(range.begin, range.end),
          .prompts = prompted ? std::vector{cutting.initial_prompt} : std::vector<std::string>{},
          .previous = previous_,
          .language = told_language_,
          .seed = options_.decoding.seed ^ static_cast<uint64_t>(range.begin),
          .surely_speech = surely_speech,
          .begin_s = seconds_of(range.begin)};
}

std::vector<Segment> LiveSession::segments_of(const Chunk& chunk, const HeardWindow& heard) {
  const SampleRange& range = chunk.range;
  const double end_s = seconds_of(range.end);
  std::vector<Segment> segments = segments_at(heard, seconds_of(range.begin));
  share_out_words(segments, heard.words, seconds_of(range.begin), last_speech_s_);
  give_words_length(segments, seconds_of(range.begin));
  for (Segment& segment : segments) {
    segment.end_s = std::min(end_s, segment.end_s);
  }
  std::erase_if(segments, [&heard](const Segment& segment) {
    return blank(segment.text) || segment.start_s >= segment.end_s || heard.silent;
  });
  keep_to_speech(segments, seconds_of(chunk.speech.begin), seconds_of(chunk.speech.end));
  return segments;
}

Result<LiveText> LiveSession::commit_chunks(std::span<const Chunk> chunks) {
  LiveText live;
  std::vector<Chunk> waiting(chunks.rbegin(), chunks.rend());  // the first is last
  while (!waiting.empty()) {
    const Chunk chunk = waiting.back();
    const SampleRange& range = chunk.range;
    waiting.pop_back();
    const WindowTask task = task_of(range, chunk.surely_speech);
    const Result<HeardWindow> decoded = client_->hear(task, std::stop_token());
    if (!decoded) {
      return end_with(decoded.error());
    }
    const HeardWindow& heard = *decoded;
    if (const auto first = heard.shorter) {
      waiting.push_back({{range.begin + *first, range.end}, chunk.speech, chunk.surely_speech});
      waiting.push_back({{range.begin, range.begin + *first}, chunk.speech, chunk.surely_speech});
      continue;
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
    for (Segment& segment : segments_of(chunk, heard)) {
      segment.id = next_id_++;
      last_speech_s_ = segment.end_s;
      if (options_.cutting.condition_on_previous_text) {
        previous_.insert(previous_.end(), segment.tokens.begin(), segment.tokens.end());
      }
      live.committed.push_back(std::move(segment));
    }
    partial_.clear();
  }
  live.language = language_;
  live.language_probability = language_probability_;
  return live;
}

bool LiveSession::partial_is_due() const {
  return options_.cutting.partial_text && speaking_ &&
         samples_.end() - std::max(last_partial_, speech_begin_) >= partial_every_;
}

Status LiveSession::show_draft() {
  last_partial_ = samples_.end();
  const auto start = std::chrono::steady_clock::now();
  const auto longest = static_cast<int64_t>(options_.cutting.chunk_length_s * kRate_hz);
  const SampleRange said{std::max(speech_begin_, samples_.end() - longest), samples_.end()};
  const auto draft = client_->draft(task_of(said, voice_->is_sure()), std::stop_token());
  if (!draft) {
    return end_with(draft.error());
  }
  if (std::string text = draft->text(); !draft->silent && !blank(text)) {
    partial_ = std::move(text);
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  partial_every_ =
      std::max(kPartialEvery, static_cast<int64_t>(took.count() * kDraftRest * kRate_hz));
  return {};
}

std::unexpected<Error> LiveSession::end_with(Error error) {
  dead_ = std::move(error);
  return std::unexpected(*dead_);
}

Result<LiveText> LiveSession::push_now(std::span<const float> samples) {
  const UrgencyScope somebody_speaks(Urgency::Interactive);
  MYNAH_TRY(const std::vector<Chunk> chunks, find_speech(samples));
  MYNAH_TRY(LiveText live, commit_chunks(chunks));
  if (partial_is_due()) {
    MYNAH_TRY_STATUS(show_draft());
  }
  live.partial = partial_;
  // A span that is still open may have begun as long ago as a chunk lasts.
  samples_.discard_before(
      samples_.end() - static_cast<int64_t>((2 * options_.cutting.chunk_length_s + 5) * kRate_hz));
  return live;
}

Result<LiveText> LiveSession::commit_now() {
  const UrgencyScope somebody_waits(Urgency::Interactive);
  MYNAH_TRY(const std::vector<Chunk> chunks, end_speech());
  MYNAH_TRY(LiveText live, commit_chunks(chunks));
  listen_anew();
  return live;
}

Result<LiveText> LiveSession::push(std::span<const float> samples) {
  return dead_ ? std::unexpected(*dead_) : push_now(samples);
}

Result<LiveText> LiveSession::commit() {
  return dead_ ? std::unexpected(*dead_) : commit_now();
}

Result<LiveText> LiveSession::idle(const SenderSilence& silence) {
  const bool stalled =
      silence.since_last_s >= kSenderStall_s &&
      (silence.since_played_s >= kSenderStall_s || silence.since_last_s >= patience_s_);
  const bool pause = segmenter_->pausing();
  if (!(pause ? silence.since_last_s >= kSenderPause_s : stalled) ||
      !(segmenter_->holds_speech() || chunker_->open())) {
    LiveText nothing_new;
    nothing_new.partial = partial_;
    return nothing_new;
  }
  Result<LiveText> live = commit();
  cut_in_speech_ = !pause;
  return live;
}

Result<LiveText> LiveSession::flush() {
  return commit();
}

}  // namespace mynah
