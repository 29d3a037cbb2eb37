#include "server/hear/hear_file.h"

#include <utility>

#include "base/ascii.h"
#include "text/languages.h"

namespace mynah::server {
namespace {

class WholeTranscript final : public RecognizerObserver {
 public:
  void on_done(size_t /*job*/, const Result<Transcript>& result) override { result_ = result; }

  Result<Transcript> take() { return std::move(result_); }

 private:
  Result<Transcript> result_ = fail(ErrorCode::Cancelled, "nothing was heard");
};

}  // namespace

const FormFile* recording_of(const Body& body, std::string_view field) {
  for (const FormFile& file : body.files) {
    if (file.field == field) {
      return &file;
    }
  }
  return body.files.size() == 1 ? body.files.data() : nullptr;
}

std::string name_of(const FormFile& file) {
  return file.name.empty() ? "the file" : file.name;
}

void hear_file(const FormFile& file, const AudioOpenOptions& audio,
               const RecognizerOptions& options, const Hearing& hearing,
               RecognizerObserver& observer, const std::stop_token& stop) {
  const std::string name = name_of(file);
  const RecognizerJob job{.name = name, .open = [&]() -> Result<std::unique_ptr<AudioSource>> {
                            MYNAH_TRY(InputFile input, file.bytes.open(name));
                            AudioOpenOptions stoppable = audio;
                            stoppable.stop = stop;
                            return open_audio(std::move(input), stoppable);
                          }};
  hearing.lease->recognizer->run({&job, 1}, options, observer, stop);
}

Result<Transcript> hear_file(const FormFile& file, const AudioOpenOptions& audio,
                             const RecognizerOptions& options, const Hearing& hearing,
                             const std::stop_token& stop) {
  WholeTranscript whole;
  hear_file(file, audio, options, hearing, whole, stop);
  return whole.take();
}

std::string text_of_whole(const Transcript& transcript) {
  return std::string(trimmed(text_of(transcript.segments), " "));
}

std::string language_name(const std::string& code) {
  const auto index = find_language(code);
  return index ? std::string(languages()[*index].name) : code;
}

void name_hearing(const Hearing& hearing, Response& response) {
  response.headers.set("X-Mynah-Model", hearing.name);
  response.headers.set("X-Mynah-Device", "stt=" + hearing.lease->device());
}

}  // namespace mynah::server
