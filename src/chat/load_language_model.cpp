// Opens what writes, by its architecture: the one place of chat/ that names families.
#include <algorithm>
#include <utility>

#include "chat/language_model.h"
#include "chat/token_session.h"
#include "formats/open.h"
#include "models/llama/model.h"
#include "speech/weight_cache.h"
#include "tensor/device_error.h"

namespace mynah {
namespace {

class LlamaLanguage final : public LanguageModel {
 public:
  LlamaLanguage(std::shared_ptr<const llama::Model> model, int64_t context)
      : model_(std::move(model)),
        facts_({.architecture = model_->config().architecture,
                .vocabulary = model_->config().vocabulary,
                .trained_context = model_->config().context_length,
                .context = context,
                .position_bytes = model_->config().cache_bytes(model_->cache_dtype()),
                .rewinds = model_->config().states().empty(),
                .state_bytes = model_->config().state_bytes()}) {}

  [[nodiscard]] const LanguageFacts& facts() const override { return facts_; }

  [[nodiscard]] std::unique_ptr<Session> session() const override {
    // So many texts usually grow side by side: what the cache is sized by at first.
    constexpr int64_t kTexts = 4;
    return std::make_unique<TokenSession>(model_->backend(), *model_, model_->steps(),
                                          model_->new_cache(kTexts, facts_.context),
                                          facts_.vocabulary);
  }

 private:
  std::shared_ptr<const llama::Model> model_;
  LanguageFacts facts_;
};

}  // namespace

Result<std::shared_ptr<const LanguageModel>> load_language_model(const std::string& path,
                                                                 const LanguageLoadOptions& options,
                                                                 Backend& backend) {
  MYNAH_TRY(const TensorFile file, open_tensor_file(path));
  MYNAH_TRY(const llama::Config config, llama::Config::read(file));
  const int64_t context = options.context > 0 ? std::min(options.context, config.context_length)
                                              : config.context_length;
  return or_device_error([&]() -> Result<std::shared_ptr<const LanguageModel>> {
    MYNAH_TRY(
        auto model,
        llama::Model::load(file, config,
                           {.backend = &backend,
                            .storage = options.storage,
                            .precision = options.precision,
                            .cache = open_weight_cache(path, options.cache_folder, options.storage,
                                                       options.precision, backend)}));
    return std::make_shared<const LlamaLanguage>(std::move(model), context);
  });
}

}  // namespace mynah
