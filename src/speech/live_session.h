// LiveSession: a recording that is still going on. Pauses end a piece of text, which is then
// committed; what is being said is shown as partial text. Where nobody pauses, a piece ends after
// chunk_length_s at the latest.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "speech/recognizer.h"
#include "speech/sample_buffer.h"
#include "speech/speech_chunker.h"
#include "speech/window_queue.h"

namespace mynah {

class LiveSession final : public Recognizer::Session {
 public:
  static Result<std::unique_ptr<LiveSession>> create(std::shared_ptr<WindowQueue> queue,
                                                     std::shared_ptr<const VoiceDetector> voice,
                                                     const RecognizerOptions& options);

  Result<LiveText> push(std::span<const float> samples) override;
  Result<LiveText> commit() override;
  Result<LiveText> idle(const SenderSilence& silence) override;
  Result<LiveText> flush() override;
  void reset() override;

 private:
  LiveSession(std::shared_ptr<WindowQueue> queue, std::shared_ptr<const VoiceDetector> voice,
              const RecognizerOptions& options, std::unique_ptr<WindowQueue::Client> client);

  struct Chunk {
    SampleRange range;
    SampleRange speech;
    bool surely_speech = true;
  };

  void listen_anew();
  // Feeds the detector and returns the chunks that are complete, in samples of the recording.
  [[nodiscard]] Result<std::vector<Chunk>> find_speech(std::span<const float> samples);
  // Ends the detector's recording here and returns what was still open.
  [[nodiscard]] Result<std::vector<Chunk>> end_speech();
  // Chunks of the detector's time as those of the recording.
  [[nodiscard]] std::vector<Chunk> chunks_of(std::span<const SpeechChunk> found);
  [[nodiscard]] Result<LiveText> commit_chunks(std::span<const Chunk> chunks);
  [[nodiscard]] WindowTask task_of(const SampleRange& range, bool surely_speech) const;
  Status show_draft();
  [[nodiscard]] std::vector<Segment> segments_of(const Chunk& chunk, const HeardWindow& heard);
  [[nodiscard]] bool partial_is_due() const;
  // The device failed: this session ends.
  [[nodiscard]] std::unexpected<Error> end_with(Error error);
  [[nodiscard]] Result<LiveText> push_now(std::span<const float> samples);
  [[nodiscard]] Result<LiveText> commit_now();

  std::shared_ptr<WindowQueue> queue_;
  std::shared_ptr<const VoiceDetector> voice_;
  RecognizerOptions options_;
  std::unique_ptr<WindowQueue::Client> client_;
  SampleBuffer samples_;
  std::unique_ptr<VoiceDetector::Session> detector_;
  std::optional<SpeechSegmenter> segmenter_;
  std::optional<SpeechChunker> chunker_;
  std::optional<LongSpeech> long_speech_;
  int64_t detector_begin_ = 0;   // where in the recording the detector began
  int64_t detected_frames_ = 0;  // since then
  int64_t speech_begin_ = 0;     // of what is being said
  bool speaking_ = false;
  bool cut_in_speech_ = false;  // what was committed last, as the sender stopped
  double patience_s_ = 0;       // with a sender that stops in speech and sent faster than it plays
  int64_t last_partial_ = 0;
  int64_t partial_every_ = 0;  // samples; more where the machine is slow
  int64_t next_id_ = 0;
  double last_speech_s_ = 0;   // where the committed text ends
  std::string told_language_;  // that windows are told: asked for or heard; "": neither
  std::string language_;       // that was heard, and how surely
  float language_probability_ = 0;
  bool begun_ = false;  // a piece was heard
  std::vector<int32_t> previous_;
  std::string partial_;
  std::optional<Error> dead_;  // the device failed: nothing more comes of this session
};

}  // namespace mynah
