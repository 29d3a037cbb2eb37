// `mynah speak`: text to sound.
#pragma once

#include <string>

#include "cli/speak_options.h"
#include "cli/speech_engine.h"
#include "cli/text_input.h"
#include "cli/verb.h"

namespace mynah::cli {

class SpeakObserver;

class SpeakCommand : public Command {
 public:
  // `open` gives the synthesizer: open_speech_engine, or a test's.
  explicit SpeakCommand(SpeechEngineOpener open = open_speech_engine) : open_(std::move(open)) {}

  void fields(Fields& fields) override;
  Result<int> run(Context& context) override;
  [[nodiscard]] std::string details() const override;

 private:
  [[nodiscard]] Status check(const Context& context) const;
  // True where the sound goes to standard output.
  [[nodiscard]] bool streams(const Context& context) const;
  [[nodiscard]] bool plays(const Context& context) const;
  // The document that is named in place of a text; empty: none is.
  [[nodiscard]] std::string document_path() const;
  Result<int> speak_document(Context& context, const SpeechEngine& engine,
                             const SpeakOptions& options, const VoiceFacts& voice);
  Result<int> speak_lines(Context& context, const SpeechEngine& engine, const SpeakOptions& options,
                          SoundFormat format) const;
  // Speaks the text as it comes.
  Status speak_text(const Synthesizer& synthesizer, SpeakOptions options, SpeakObserver& observer,
                    const Context& context) const;

  SpeechEngineOpener open_;
  TextInput input_;
  SpeechEngineOptions engine_;
  VoiceOptions voice_;
  SoundOptions sound_;
  bool explain_ = false;
};

}  // namespace mynah::cli
