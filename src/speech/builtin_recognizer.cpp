// The built-in recogniser: the built-in voice detector finds utterances, PocketSphinx reads them.
#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <utility>

#include "models/builtin/sphinx.h"
#include "models/builtin/voice_scorer.h"
#include "speech/recognizer.h"

namespace mynah {

namespace {

constexpr double kRate = kVoiceScorerRateHz;

// Utterances: a decoder with a word lattice wants whole phrases and some air around them.
constexpr int kLeastSilenceMs = 500;
constexpr size_t kLead = 4800;  // samples before the first frame of speech: 0.3 s
constexpr double kLongestUtteranceS = 20;

constexpr std::string_view kModelName = "pocketsphinx en-us";
constexpr std::string_view kNote =
    "recognised by the built-in recogniser (PocketSphinx, US English), which makes far more errors "
    "than Whisper; for better text: mynah pull tiny.en";

using Samples = std::span<const float>;

VadOptions utterance_options(VadOptions options) {
  options.min_silence_ms = std::max(options.min_silence_ms, kLeastSilenceMs);
  return options;
}

bool inside(const std::vector<ClipRange>& clips, double time_s) {
  return clips.empty() || std::ranges::any_of(clips, [&](const ClipRange& clip) {
           return time_s >= clip.start_s && time_s < clip.end_s;
         });
}

enum class Partials : uint8_t { No, Yes };

class BuiltinRecognizerSession final : public Recognizer::Session {
 public:
  BuiltinRecognizerSession(const RecognizerOptions& options, Partials partials)
      : options_(options),
        partials_(partials),
        voice_(with_automatic_level(builtin_voice_detector())->session()),
        segmenter_(utterance_options(options.cutting.vad_options),
                   static_cast<double>(kVoiceScorerFrame) / kRate) {}

  Result<LiveText> push(Samples samples, const std::stop_token& stop) override {
    LiveText live;
    if (stop.stop_requested()) {
      return fail(ErrorCode::Cancelled, "stopped while audio was still coming");
    }
    while (!samples.empty()) {
      const size_t count = std::min(samples.size(), kVoiceScorerFrame - frame_.size());
      for (const float sample : samples.first(count)) {
        const double now_s = static_cast<double>(heard_ + frame_.size()) / kRate;
        frame_.push_back(inside(options_.cutting.clips, now_s) ? sample : 0.0F);
      }
      samples = samples.subspan(count);
      if (frame_.size() == kVoiceScorerFrame) {
        MYNAH_TRY_STATUS(hear_frame(live));
      }
    }
    if (in_utterance_ && partials_ == Partials::Yes) {
      live.partial = decoder_->partial();
    }
    return live;
  }

  Result<LiveText> wait(const std::stop_token& stop) override { return push({}, stop); }

  Result<LiveText> commit(const std::stop_token& /*stop*/) override {
    LiveText live;
    MYNAH_TRY_STATUS(end_utterance(live));
    return live;
  }

  Result<LiveText> idle(const SenderSilence& silence, const std::stop_token& stop) override {
    const bool over = segmenter_.pausing() ? silence.since_last_s >= kSenderPause_s
                                           : silence.since_played_s >= kSenderStall_s;
    return over ? commit(stop) : Result<LiveText>(LiveText{});
  }

  Result<LiveText> flush(const std::stop_token& /*stop*/) override {
    LiveText live;
    if (in_utterance_) {
      utterance_.insert(utterance_.end(), frame_.begin(), frame_.end());
      heard_ += frame_.size();
      MYNAH_TRY_STATUS(end_utterance(live));
    }
    reset();
    return live;
  }

  void reset() override {
    voice_->reset();
    segmenter_.reset();
    frame_.clear();
    utterance_.clear();
    heard_ = 0;
    next_id_ = 0;
    if (std::exchange(in_utterance_, false) && partials_ == Partials::Yes) {
      decoder_.reset();  // an utterance begun cannot be taken back
    }
  }

 private:
  Status hear_frame(LiveText& live) {
    MYNAH_TRY(const std::vector<float> probabilities, voice_->push(frame_));
    (void)segmenter_.push(probabilities);
    const bool speaking = segmenter_.speaking() || !options_.cutting.vad;
    utterance_.insert(utterance_.end(), frame_.begin(), frame_.end());
    heard_ += frame_.size();
    const std::vector<float> heard = std::exchange(frame_, {});
    if (speaking && !in_utterance_) {
      MYNAH_TRY_STATUS(begin_utterance());
    } else if (in_utterance_ && partials_ == Partials::Yes) {
      MYNAH_TRY_STATUS(decoder_->push(heard));
    }
    const bool long_enough = static_cast<double>(utterance_.size()) >= kLongestUtteranceS * kRate;
    if (in_utterance_ && (!speaking || long_enough)) {
      return end_utterance(live);
    }
    if (!in_utterance_ && utterance_.size() > kLead) {
      utterance_.erase(utterance_.begin(), utterance_.end() - static_cast<ptrdiff_t>(kLead));
    }
    return {};
  }

  Status begin_utterance() {
    if (!decoder_) {
      MYNAH_TRY(decoder_, SphinxDecoder::open());
    }
    in_utterance_ = true;
    if (partials_ == Partials::Yes) {
      MYNAH_TRY_STATUS(decoder_->begin());
      return decoder_->push(utterance_);
    }
    return {};
  }

  Status end_utterance(LiveText& live) {
    if (!std::exchange(in_utterance_, false)) {
      return {};
    }
    if (partials_ == Partials::Yes) {
      MYNAH_TRY_STATUS(decoder_->end());
    }
    MYNAH_TRY(const std::vector<SphinxWord> words, decoder_->decode(utterance_));
    if (!words.empty()) {
      live.committed.push_back(make_segment(words));
    }
    utterance_.clear();
    return {};
  }

  Segment make_segment(std::span<const SphinxWord> words) {
    const double end_s = static_cast<double>(heard_) / kRate;
    const double begin_s = end_s - static_cast<double>(utterance_.size()) / kRate;
    Segment segment;
    segment.id = next_id_++;
    segment.start_s = begin_s + words.front().start_s;
    segment.end_s = std::min(end_s, begin_s + words.back().end_s);
    double log_probability = 0;
    for (const SphinxWord& word : words) {
      segment.text += " " + word.text;
      log_probability += std::log(std::max(word.probability, 1e-10F));
      if (options_.decoding.words) {
        segment.words.push_back({.text = " " + word.text,
                                 .start_s = begin_s + word.start_s,
                                 .end_s = std::min(end_s, begin_s + word.end_s),
                                 .probability = word.probability});
      }
    }
    segment.mean_log_probability =
        static_cast<float>(log_probability / static_cast<double>(words.size()));
    return segment;
  }

  RecognizerOptions options_;
  Partials partials_;
  std::unique_ptr<VoiceDetector::Session> voice_;
  SpeechSegmenter segmenter_;
  std::optional<SphinxDecoder> decoder_;  // opened at the first utterance
  std::vector<float> frame_;              // samples of a frame that is not complete
  std::vector<float> utterance_;          // complete frames: the utterance's, or those before it
  size_t heard_ = 0;                      // samples of complete frames
  bool in_utterance_ = false;
  int64_t next_id_ = 0;
};

class BuiltinRecognizer final : public Recognizer {
 public:
  [[nodiscard]] Result<std::unique_ptr<Session>> session(
      const RecognizerOptions& options) const override {
    return std::make_unique<BuiltinRecognizerSession>(options, Partials::Yes);
  }

  void run(std::span<const RecognizerJob> jobs, const RecognizerOptions& options,
           RecognizerObserver& observer, const std::stop_token& stop) const override {
    BuiltinRecognizerSession session(options, Partials::No);
    for (size_t job = 0; job < jobs.size(); ++job) {
      session.reset();
      observer.on_done(job, recognize(job, jobs[job], session, options, observer, stop));
    }
  }

  [[nodiscard]] std::string model_name() const override { return std::string(kModelName); }

  [[nodiscard]] bool multilingual() const override { return false; }

  [[nodiscard]] Status check(const RecognizerOptions& options) const override {
    if (options.decoding.task == Task::Translate) {
      return fail(ErrorCode::Unsupported,
                  "the built-in recogniser cannot translate; a model that can: mynah pull tiny");
    }
    for (const std::string_view known :
         {"", "auto", "en", "English", "english", "en-us", "en-US"}) {
      if (options.decoding.language == known) {
        return {};
      }
    }
    return fail(ErrorCode::Unsupported, "the built-in recogniser knows English only, not \"" +
                                            options.decoding.language +
                                            "\"; a model for 99 languages: mynah pull tiny");
  }

 private:
  static Result<Transcript> recognize(size_t job, const RecognizerJob& work,
                                      BuiltinRecognizerSession& session,
                                      const RecognizerOptions& options,
                                      RecognizerObserver& observer, const std::stop_token& stop) {
    using Clock = std::chrono::steady_clock;
    const Clock::time_point began = Clock::now();
    MYNAH_TRY(const std::unique_ptr<AudioSource> source, work.open());
    Transcript transcript{
        .language = "en",
        .language_probability = 1,
        .task = options.decoding.task == Task::Translate ? "translate" : "transcribe",
        .duration_s = 0,
        .segments = {},
        .model = std::string(kModelName),
        .device = "cpu",
        .timings = {},
        .notes = {std::string(kNote)}};
    const auto keep = [&](LiveText live) {
      for (Segment& segment : live.committed) {
        observer.on_segment(job, segment);
        transcript.segments.push_back(std::move(segment));
      }
    };
    std::array<float, 4096> piece;
    size_t heard = 0;
    while (true) {
      if (stop.stop_requested()) {
        return fail(ErrorCode::Cancelled, work.name + ": stopped");
      }
      MYNAH_TRY(const size_t count, source->read(piece));
      if (count == 0) {
        break;
      }
      MYNAH_TRY(LiveText live, session.push(std::span(piece).first(count), {}));
      keep(std::move(live));
      heard += count;
      observer.on_progress(job, static_cast<double>(heard) / kRate, source->duration_s());
    }
    MYNAH_TRY(LiveText rest, session.flush({}));
    keep(std::move(rest));
    transcript.duration_s = static_cast<double>(heard) / kRate;
    const std::chrono::duration<double, std::milli> spent = Clock::now() - began;
    transcript.timings.push_back({.stage = "stt", .device = "cpu", .milliseconds = spent.count()});
    return transcript;
  }
};

}  // namespace

Result<std::shared_ptr<const Recognizer>> builtin_recognizer() {
  MYNAH_TRY_STATUS(SphinxDecoder::check_installed());
  return std::make_shared<const BuiltinRecognizer>();
}

}  // namespace mynah
