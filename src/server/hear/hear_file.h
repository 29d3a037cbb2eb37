// A recording that a client sent, heard.
#pragma once

#include <memory>
#include <stop_token>
#include <string>

#include "audio/open.h"
#include "server/http/body.h"
#include "server/http/message.h"
#include "server/models/service.h"
#include "speech/recognizer.h"

namespace mynah::server {

// The form's recording: the part called so, else the only file. Null: there is none.
[[nodiscard]] const FormFile* recording_of(const Body& body, std::string_view field);

// What the recording is called in messages: never empty.
[[nodiscard]] std::string name_of(const FormFile& file);

// Opens it as `audio` says.
[[nodiscard]] Result<std::unique_ptr<AudioSource>> open_file(const FormFile& file,
                                                             const AudioOpenOptions& audio);

// Takes the text as a whole.
class WholeTranscript final : public RecognizerObserver {
 public:
  void on_done(size_t /*job*/, const Result<Transcript>& result) override { result_ = result; }

  [[nodiscard]] Result<Transcript> take() { return std::move(result_); }

 private:
  Result<Transcript> result_ = fail(ErrorCode::Cancelled, "nothing was heard");
};

// Its seconds; 0: not known before it was read.
[[nodiscard]] Result<double> length_of(const FormFile& file, const AudioOpenOptions& audio);

// Words of the server's lexicon are expected besides those that the options have.
void expect_words(const Hearing& hearing, RecognizerOptions& options);

// Hears a recording from this thread as `options` say, and counts it. Words of the server's lexicon
// are expected besides.
void hear(const RecognizerJob& recording, const RecognizerOptions& options, const Hearing& hearing,
          RecognizerObserver& observer, const std::stop_token& stop);

// Hears it from this thread; `audio` says how it is to be read. A short one goes before long ones.
void hear_file(const FormFile& file, const AudioOpenOptions& audio,
               const RecognizerOptions& options, const Hearing& hearing,
               RecognizerObserver& observer, const std::stop_token& stop);

// The field of a request that makes the model refuse those options; "": none alone.
[[nodiscard]] std::string refused_field(const Recognizer& recognizer, RecognizerOptions options);

// The transcript's text without the space that Whisper writes before every word.
[[nodiscard]] std::string text_of_whole(const Transcript& transcript);

// "english" of "en"; a code that nobody knows as it is.
[[nodiscard]] std::string language_name(const std::string& code);

// Names the model and where it computes.
void name_hearing(const Hearing& hearing, Response& response);

}  // namespace mynah::server
