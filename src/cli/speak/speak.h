// `mynah speak`: text to sound.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/command/verb.h"
#include "cli/speak/sound_output.h"
#include "cli/speak/speak_options.h"
#include "cli/speak/text_input.h"
#include "engine/synthesizer.h"
#include "text/documents/document.h"

namespace mynah::cli {

class SpeakObserver;

class LineSpeaker;

class SpeakCommand : public Command {
 public:
  // `open` gives the synthesizer: engine::open_synthesizer, or a test's.
  explicit SpeakCommand(engine::SynthesizerOpener open = engine::open_synthesizer)
      : open_(std::move(open)) {}

  void fields(Fields& fields) override;
  Result<int> run(Context& context) override;
  Result<std::vector<std::string>> translate(std::vector<std::string> arguments,
                                             const Fields& fields) override;
  [[nodiscard]] std::string details() const override;

 private:
  [[nodiscard]] Status check(const Context& context) const;
  [[nodiscard]] Status check_cues() const;
  [[nodiscard]] Status check_paths(const Context& context) const;
  // True where the sound goes to standard output.
  [[nodiscard]] bool streams(const Context& context) const;
  [[nodiscard]] bool plays(const Context& context) const;

  // A file for each line.
  [[nodiscard]] bool writes_lines() const { return !sound_.folder.empty() || sound_.json_lines; }

  // A long text to a file or a folder, which can be taken up; m4b always.
  [[nodiscard]] bool writes_book() const;
  // The document that is to be said; none where the text is none.
  [[nodiscard]] Result<std::optional<Document>> read_document_of(const Context& context) const;
  // Everything that comes, as a document of one chapter; its kind is told in `options` where it
  // shows.
  Result<Document> whole_text(const Context& context, SpeakOptions& options) const;
  // Makes a code of a language that is asked for by its name. A document's own language counts
  // where nobody asks for another and a voice here speaks it.
  void follow_language(const std::optional<Document>& document, const Context& context);
  // What there is to say of the voice before it speaks.
  void tell_voice(const std::optional<Document>& document, const engine::OpenedSynthesizer& engine,
                  const VoiceFacts& voice, const Context& context) const;
  // Says where a document and the voice that reads it are of two languages.
  void tell_language(const Document& document, const VoiceFacts& voice,
                     const Context& context) const;
  Result<int> speak_document(Context& context, const engine::OpenedSynthesizer& engine,
                             const std::optional<Document>& document, SpeakOptions options,
                             const VoiceFacts& voice) const;
  Result<int> speak_lines(Context& context, const engine::OpenedSynthesizer& engine,
                          const SpeakOptions& options, SoundFormat format) const;
  // Speaks the text as it comes.
  Status speak_text(const Synthesizer& synthesizer, const std::optional<Document>& document,
                    SpeakOptions options, SpeakObserver& observer, const Context& context) const;
  // The subtitles that are to be said at their times; none where --keep-times does not ask for it.
  [[nodiscard]] Result<std::optional<Subtitles>> read_cues(const Context& context) const;
  Result<std::unique_ptr<SpeakObserver>> open_outputs(Context& context,
                                                      const SoundWriterOptions& writer) const;
  Result<std::vector<std::string>> keep_part(Context& context, SpeakObserver& observer) const;
  // All was said: outputs end, captions are written. An error: there was nothing to say, too.
  Status finish(Context& context, SpeakObserver& observer) const;
  // Vouches for what was given out, however it ended: an error where a device was wrong and no
  // other is allowed. Said here where another error ends the run (`spoken` is false).
  static Status look_last(const Context& context, const place::Placer* placer, bool spoken);
  // The same where each line has printed its JSON already: what is found only now is one more.
  static Status look_last_of_lines(Context& context, const LineSpeaker& lines, bool spoken);
  // How long each stage took, where --explain asks.
  void explain_times(const Context& context, const engine::OpenedSynthesizer& engine) const;
  // What was said before a stop is kept.
  Result<int> end_stopped(Context& context, SpeakObserver& observer) const;
  // The device failed and nothing else is allowed: what was said is kept, and where to go on is
  // told.
  Result<int> end_failed(Context& context, SpeakObserver& observer,
                         const engine::OpenedSynthesizer& engine, Error error) const;
  // The same of a book, whose parts lie there.
  static Result<int> end_failed_book(Context& context, const engine::OpenedSynthesizer& engine,
                                     const Error& error);
  // All was said, and the last look doubts it: that is no success, so that the error alone tells
  // what was spoken, and where it is.
  static Result<int> end_doubted(Error error, double duration_s, const std::string& names);
  static int list_speakers(Context& context, const VoiceModel& model);

  engine::SynthesizerOpener open_;
  TextInput input_;
  engine::SynthesizerWish engine_;
  VoiceOptions voice_;
  SoundOptions sound_;
  bool keep_times_ = false;
  bool explain_ = false;
  bool list_speakers_ = false;
};

}  // namespace mynah::cli
