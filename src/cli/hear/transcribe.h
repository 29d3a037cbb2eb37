// `mynah transcribe`: recordings to text.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "audio/inputs.h"
#include "cli/command/verb.h"
#include "cli/hear/transcribe_options.h"
#include "cli/hear/transcript_sink.h"
#include "engine/recognizer.h"

namespace mynah::cli {

class TranscribeCommand : public Command {
 public:
  // `open` gives the recogniser: engine::open_recognizer, or a test's.
  explicit TranscribeCommand(engine::RecognizerOpener open = engine::open_recognizer)
      : open_(std::move(open)) {}

  void fields(Fields& fields) override;
  Result<std::vector<std::string>> translate(std::vector<std::string> arguments,
                                             const Fields& fields) override;
  Result<int> run(Context& context) override;
  [[nodiscard]] std::string details() const override;

 private:
  // Options that follow from others: formats that need word times turn them on.
  void settle();
  Status check_recordings() const;
  // Folders and patterns become the recordings in them.
  void expand_recordings();
  // A recording named twice is heard once.
  void leave_out_repeats(const Context& context);
  // What opens a recording when its turn comes.
  [[nodiscard]] std::function<Result<std::unique_ptr<AudioSource>>()> opener(
      const std::string& name, const AudioOpenOptions& options) const;
  Result<OutputPlans> plan(const Context& context);
  // The options that shape the text, in words: those that are not as they are by default.
  [[nodiscard]] std::string shaping_options();
  // Takes out of `plans` what runs before did as it is wanted now, and says so.
  void leave_out_done(const Context& context, OutputPlans& plans);
  // What is said of a live recording that no recogniser reports on.
  [[nodiscard]] Transcript known_before(const engine::OpenedRecognizer& engine,
                                        const RecognizerOptions& options) const;
  Result<int> transcribe(Context& context, const engine::OpenedRecognizer& engine,
                         const RecognizerOptions& options, OutputPlans plans);
  // Files together, in batches; each stream alone, as the others would wait for it.
  void recognise(const engine::OpenedRecognizer& engine, const RecognizerOptions& options,
                 const AudioOpenOptions& audio, TranscriptSink& sink) const;
  // A recording whose speakers are to be named: each channel by itself where that can be.
  void recognise_speakers(const engine::OpenedRecognizer& engine, const RecognizerOptions& options,
                          const AudioOpenOptions& audio, TranscriptSink& sink, size_t at) const;
  Result<int> detect_languages(Context& context, const engine::OpenedRecognizer& engine,
                               RecognizerOptions options);
  [[nodiscard]] SinkOptions sink_options(const Context& context,
                                         const engine::OpenedRecognizer& engine,
                                         const RecognizerOptions& options,
                                         const OutputPlans& plans) const;
  [[nodiscard]] ProgressStyle progress_style(const Context& context) const;

  engine::RecognizerOpener open_;
  std::vector<std::string> recordings_;
  std::map<std::string, Error> missing_;  // words that stand for no recording, folders not listed
  std::vector<PassedOver> passed_over_;
  // What hears speech on a track, and who is told of a recording: set where one is opened.
  std::shared_ptr<const VoiceDetector> voice_;
  std::function<void(const std::string& name, const std::string& text)> note_;
  engine::RecognizerWish engine_;
  RecognizerFlags flags_;
  RecordingOptions recording_;
  OutputOptions output_;
  bool detect_language_ = false;
  bool words_for_cues_ = false;  // nobody asked for the times of words but readable subtitles
  std::string shaping_;          // shaping_options() as the user gave them
  OutputRecords records_;
};

}  // namespace mynah::cli
