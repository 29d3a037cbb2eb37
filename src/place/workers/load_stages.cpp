#include "place/workers/load_stages.h"

#include <fmt/format.h>

#include "place/kinds/families.h"
#include "speech/voice_loading.h"
#include "tensor/device_error.h"

namespace mynah::place {

Result<std::shared_ptr<const VoiceDetector>> load_detector(const DetectorFile& file,
                                                           Backend& backend) {
  return load_silero(file.path, file.rate_hz, backend);
}

Result<std::shared_ptr<const WindowModel>> load_windows(const HearingFile& opened,
                                                        const WindowsFile& file,
                                                        const StageBackend& encoder,
                                                        const StageBackend& decoder) {
  return opened.load({.storage = encoder.storage,
                      .precision = file.precision,
                      .cache_folder = file.cache_folder,
                      .decoder = StagePlace{.backend = &decoder.backend,
                                            .storage = decoder.storage,
                                            .precision = file.precision}},
                     encoder.backend);
}

Result<std::unique_ptr<const VoiceModel>> load_voice(const VoiceModelFile& file,
                                                     const StageBackend& acoustic,
                                                     const StageBackend& vocoder) {
  const VoiceLoadOptions options{
      .name = file.name,
      .storage = acoustic.storage,
      .precision = file.precision,
      .cache_folder = file.cache_folder,
      .vocoder = StagePlace{
          .backend = &vocoder.backend, .storage = vocoder.storage, .precision = file.precision}};
  const FamilyLoader* const loader = find_loader(file.family);
  if (loader != nullptr && loader->voice != nullptr) {
    return loader->voice(file, options, acoustic.backend);
  }
  return fail(ErrorCode::Unsupported,
              fmt::format("no voices of the family '{}' are known", file.family));
}

}  // namespace mynah::place
