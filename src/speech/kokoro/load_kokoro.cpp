#include "speech/kokoro/load_kokoro.h"

#include <utility>

#include <fmt/format.h>

#include "formats/open.h"
#include "models/kokoro/checkpoint.h"
#include "speech/kokoro/kokoro_voice.h"
#include "speech/weight_cache.h"
#include "tensor/device_error.h"

namespace mynah {

Result<std::unique_ptr<const VoiceModel>> load_kokoro(const std::string& path,
                                                      std::vector<VoiceFile> voices,
                                                      const VoiceLoadOptions& options,
                                                      Backend& backend) {
  MYNAH_TRY(const TensorFile file, open_tensor_file(path));
  MYNAH_TRY(kokoro::Checkpoint checkpoint, kokoro::read_checkpoint(file));
  const StagePlace acoustic{
      .backend = &backend, .storage = options.storage, .precision = options.precision};
  const StagePlace vocoder = options.vocoder.value_or(acoustic).beside(backend);
  const StageCaches caches = open_stage_caches(path, options.cache_folder, acoustic, vocoder);
  const auto weights = [&](const StageWeights& stage) {
    return Weights(checkpoint.tensors, checkpoint.owner, *stage.backend, stage.options);
  };
  return or_device_error([&]() -> Result<std::unique_ptr<const VoiceModel>> {
    MYNAH_TRY(auto model, kokoro::Kokoro::load(weights(acoustic.weights(caches.first.get())),
                                               weights(vocoder.weights(caches.second.get()))));
    if (model.sizes().style != kokoro::kStyle) {
      return fail(ErrorCode::Unsupported,
                  fmt::format("{}: wanted a Kokoro model whose styles have {} values, as voices "
                              "have, found {}",
                              path, kokoro::kStyle, model.sizes().style));
    }
    for (const auto& cache : {caches.first, caches.second}) {
      if (cache != nullptr) {
        (void)cache->commit();  // an unwritable cache costs time at the next start, no more
        cache->release_pages();
      }
    }
    release_idle_memory(acoustic, vocoder);
    for (const auto& mapped : file.mapped) {
      mapped->release_pages(mapped->bytes());
    }
    return std::make_unique<const KokoroVoice>(
        options.name, std::move(model),
        checkpoint.phonemes.value_or(kokoro::Phonemes::of_kokoro_82m()), std::move(voices));
  });
}

Status check_kokoro(const std::string& path, Backend& backend) {
  MYNAH_TRY(const TensorFile file, open_tensor_file(path));
  MYNAH_TRY(kokoro::Checkpoint checkpoint, kokoro::read_checkpoint(file));
  MYNAH_TRY_STATUS(kokoro::Kokoro::load(
      Weights(std::move(checkpoint.tensors), checkpoint.owner, backend,
              {.storage = DType::I8, .precision = Precision::Fast, .cache = nullptr})));
  return {};
}

}  // namespace mynah
