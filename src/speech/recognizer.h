// Recognizer: speech to text. Recordings in batches, or a live session that commits text as it
// goes.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "audio/source.h"
#include "base/result.h"
#include "speech/stage_place.h"
#include "speech/transcript.h"
#include "speech/voice_detector.h"
#include "tensor/backend.h"

namespace mynah {

enum class Task : uint8_t { Transcribe, Translate };

// Cached: cached silence (design.md), the encoder costs what the speech lasts. Full: 30-second
// windows.
enum class AudioContext : uint8_t { Cached, Full };

// Seconds of a recording.
struct ClipRange {
  double start_s = 0;
  double end_s = 0;
};

// Everything a user can say about decoding; the defaults are the product's. Names follow
// openai/whisper transcribe.py and faster-whisper, so that people find what they know.
struct RecognizerOptions {
  std::string language = "auto";  // ISO 639-1 code, English name, or auto
  Task task = Task::Transcribe;
  bool timestamps = true;
  bool words = false;  // word times from cross-attention
  AudioContext context = AudioContext::Cached;

  // Measured on the 96 English clips of shared/speech with tiny.en: 219 word errors with one, 203
  // with three and with five; three cost a quarter more time than one, five a half.
  int beam_size = 3;
  int best_of = 5;  // samples a try at temperature > 0
  float patience = 1.0F;
  float length_penalty = 1.0F;      // exponent; 0: none
  float repetition_penalty = 1.0F;  // above 0
  int no_repeat_ngram_size = 0;
  std::vector<float> temperatures = {0.0F, 0.2F, 0.4F, 0.6F,
                                     0.8F, 1.0F};  // tried in order while a result is doubtful
  std::optional<float> compression_ratio_threshold = 2.4F;
  std::optional<float> log_probability_threshold = -1.0F;
  std::optional<float> no_speech_threshold = 0.6F;
  std::optional<float> entropy_threshold;  // whisper.cpp's guard; none: compression ratio
  uint64_t seed = 0;

  std::string initial_prompt;
  bool carry_initial_prompt = false;
  std::string hotwords;
  bool condition_on_previous_text = false;
  int max_context_tokens = 223;
  std::vector<int32_t> suppress_tokens = {
      -1};  // -1: the symbols that are not speech (tokenizer.py non_speech_tokens)
  bool suppress_blank = true;
  std::string suppress_regex;
  float max_initial_timestamp_s = 1.0F;
  int max_new_tokens = 224;
  std::optional<double> hallucination_silence_s;

  std::vector<ClipRange> clips;  // empty: all
  bool vad = true;  // voice activity cuts long recordings and keeps silence from the decoder
  VadOptions vad_options{.min_speech_ms = 100};  // a short "no" has 200
  // Speech that voice activity found is heard in pieces of at most this. Measured with tiny.en and
  // three beams on the 96 clips, and on the same joined to 20 minutes: 204 and 298 word errors with
  // 30 s, 199 and 261 with 20, 204 and 297 with 15; attention costs less the shorter they are.
  double chunk_length_s = 20;
  int batch = 8;  // windows decoded together
  int language_detection_segments = 1;
  bool partial_text = true;  // of live sessions: drafts of what is being said
};

// One recording to recognise; opened when its turn comes.
struct RecognizerJob {
  std::string name;
  std::function<Result<std::unique_ptr<AudioSource>>()> open;  // 16 kHz mono
};

// Hears of results while recordings are recognised. Calls come one at a time, not all from one
// thread; job is the index into the jobs.
class RecognizerObserver {
 public:
  virtual ~RecognizerObserver() = default;

  // A segment that changes no more; within one job in order of time.
  virtual void on_segment(size_t /*job*/, const Segment& /*segment*/) {}

  // Seconds of the recording that are done, and its length where known.
  virtual void on_progress(size_t /*job*/, double /*done_s*/,
                           std::optional<double> /*duration_s*/) {}

  // A job is done whose turn to be reported has not come, with the segments that were reported:
  // what must not be lost can be kept at once.
  virtual void on_finished(size_t /*job*/, const Transcript& /*transcript*/) {}

  // The end of a job: in the order of the jobs.
  virtual void on_done(size_t job, const Result<Transcript>& result) = 0;
};

// What a live session knows so far. Committed text never changes; partial text may.
struct LiveText {
  std::vector<Segment> committed;  // new since the last call
  std::string partial;
  std::string language;  // that was heard; "" until then, and where it was given
  float language_probability = 0;
};

// By the clock: how long nothing has come of a live recording.
struct SenderSilence {
  double since_last_s = 0;    // since the last samples came
  double since_played_s = 0;  // since they, and what came before, would all have been played: less
                              // where they came faster than they were spoken
};

// How much of it ends what was said: as a pause of the recording does where the samples end in one,
// more where they end in speech, which a slow network may have cut.
inline constexpr double kSenderPause_s = 0.6;
inline constexpr double kSenderStall_s = 2.0;

// A model's sizes under the names that whisper.cpp's JSON has for them; 0 and "" where the family
// has no such thing.
struct ModelFacts {
  std::string type;  // "tiny", "base", ..., "large"
  int64_t n_vocab = 0;
  int64_t n_audio_ctx = 0;
  int64_t n_audio_state = 0;
  int64_t n_audio_head = 0;
  int64_t n_audio_layer = 0;
  int64_t n_text_ctx = 0;
  int64_t n_text_state = 0;
  int64_t n_text_head = 0;
  int64_t n_text_layer = 0;
  int64_t n_mels = 0;
  int64_t ftype = 0;  // ggml's number of the weights' storage type: 0 f32, 1 f16
};

// A model of speech to text. Const after load; one Recognizer serves many sessions.
class Recognizer {
 public:
  virtual ~Recognizer() = default;

  // One live recording: push 16 kHz mono samples as they come.
  class Session {
   public:
    virtual ~Session() = default;
    virtual Result<LiveText> push(std::span<const float> samples) = 0;
    // Recognises what is there now, without waiting for silence, and commits it.
    virtual Result<LiveText> commit() = 0;

    // Nothing comes: to be called now and then. Commits what was said where the silence is long
    // enough to end it. Times stay those of the samples.
    virtual Result<LiveText> idle(const SenderSilence& /*silence*/) { return LiveText{}; }

    // The recording is over: commits the rest.
    virtual Result<LiveText> flush() = 0;
    virtual void reset() = 0;
  };

  // Refused as check() refuses, or where the device that is to hear fails meanwhile.
  [[nodiscard]] virtual Result<std::unique_ptr<Session>> session(
      const RecognizerOptions& options) const = 0;

  // Recognises the jobs, windows of several in one batch; a bad one does not stop the others. After
  // stop is requested each unfinished job ends with ErrorCode::Cancelled, its segments so far
  // having been reported.
  virtual void run(std::span<const RecognizerJob> jobs, const RecognizerOptions& options,
                   RecognizerObserver& observer, const std::stop_token& stop) const = 0;

  [[nodiscard]] virtual std::string model_name() const = 0;
  [[nodiscard]] virtual bool multilingual() const = 0;

  [[nodiscard]] virtual ModelFacts facts() const { return {}; }

  // The bytes of one of Segment::tokens, which may be part of a character; empty where the family
  // has no tokens.
  [[nodiscard]] virtual std::string token_text(int32_t /*token*/) const { return {}; }

  // What options this model refuses, before any audio is opened: translation with an English model,
  // unknown languages.
  [[nodiscard]] virtual Status check(const RecognizerOptions& options) const = 0;
};

// Opens a Whisper model file (GGUF as `mynah pull` writes it, or any format that formats/ reads).
// `storage` is the type that its weights are computed with; `voice` cuts long recordings and may be
// null. The encoder is on `backend`, and the decoder too, unless it has a place of its own.
struct WhisperLoadOptions {
  std::optional<DType> storage;                      // none: the file's own
  Precision precision = Precision::Fast;             // Exact: f32 arithmetic whatever the storage
  std::string cache_folder;                          // for packed weights and silence; empty: none
  std::optional<StagePlace> decoder = std::nullopt;  // none: as the encoder
};

Result<std::shared_ptr<const Recognizer>> load_whisper(const std::string& path,
                                                       const WhisperLoadOptions& options,
                                                       Backend& backend,
                                                       std::shared_ptr<const VoiceDetector> voice);

// PocketSphinx's US-English model: needs no weights of ours; says what it is in Transcript::notes.
Result<std::shared_ptr<const Recognizer>> builtin_recognizer();

}  // namespace mynah
