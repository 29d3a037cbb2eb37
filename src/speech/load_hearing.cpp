// Opens what hears, by its family: the one place of speech/ that names families.
#include <utility>

#include "speech/automatic_level.h"
#include "speech/sphinx/sphinx_windows.h"
#include "speech/whisper/whisper_file.h"
#include "speech/window_model.h"
#include "speech/window_recognizer.h"

namespace mynah {

Result<std::shared_ptr<const HearingFile>> open_hearing(const std::string& path) {
  return open_whisper(path);
}

std::shared_ptr<const Recognizer> make_recognizer(std::shared_ptr<const WindowModel> model,
                                                  std::shared_ptr<const VoiceDetector> voice) {
  return std::make_shared<const WindowRecognizer>(
      std::move(model), voice == nullptr ? nullptr : with_automatic_level(std::move(voice)));
}

Result<std::shared_ptr<const Recognizer>> load_recognizer(
    const std::string& path, const HearingLoadOptions& options, Backend& backend,
    std::shared_ptr<const VoiceDetector> voice) {
  MYNAH_TRY(const auto file, open_hearing(path));
  MYNAH_TRY(auto model, file->load(options, backend));
  return make_recognizer(std::move(model), std::move(voice));
}

Result<std::shared_ptr<const Recognizer>> builtin_recognizer() {
  MYNAH_TRY(auto windows, SphinxWindows::create());
  return make_recognizer(std::move(windows), builtin_voice_detector());
}

}  // namespace mynah
