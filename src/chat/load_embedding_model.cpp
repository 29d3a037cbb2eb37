// Opens what makes vectors, by its architecture, and has it make some.
#include <algorithm>
#include <cmath>
#include <utility>

#include "chat/embedding_model.h"
#include "models/bert/checkpoint.h"
#include "models/bert/model.h"
#include "speech/weight_cache.h"
#include "tensor/device_error.h"

namespace mynah {
namespace {

class BertEmbeddings final : public EmbeddingModel {
 public:
  explicit BertEmbeddings(std::shared_ptr<const bert::Model> model)
      : model_(std::move(model)),
        facts_({.architecture = std::string(bert::kArchitecture),
                .vocabulary = model_->config().vocabulary,
                .longest = model_->config().longest,
                .width = model_->config().width,
                .normalized = model_->config().normalized}) {}

  [[nodiscard]] const EmbeddingFacts& facts() const override { return facts_; }

  [[nodiscard]] Result<std::vector<float>> embed(const TokenTexts& texts) const override {
    return or_device_error([&]() -> Result<std::vector<float>> {
      std::vector<int32_t> tokens;
      Lengths lengths;
      for (const auto& text : texts) {
        tokens.insert(tokens.end(), text.begin(), text.end());
        lengths.add(std::ssize(text));
      }
      std::vector<float> vectors = model_->pool(model_->forward(tokens, lengths), lengths);
      if (!std::ranges::all_of(vectors, [](float value) { return std::isfinite(value); })) {
        return fail(ErrorCode::Device, "it computed vectors that are no numbers (NaN)");
      }
      return vectors;
    });
  }

 private:
  std::shared_ptr<const bert::Model> model_;
  EmbeddingFacts facts_;
};

// What weights are kept in where nobody said: int16 of a file of floats, where the device does it.
// With all-MiniLM-L6-v2 that leaves cosines within 5e-6 in half of f32's time; bf16 would leave
// 3e-5, int8 0.004.
std::optional<DType> storage_for(const TensorFile& file, const EmbeddingLoadOptions& options,
                                 const Backend& backend) {
  const bool quantised = std::ranges::any_of(
      file.tensors, [](const StoredTensor& tensor) { return is_block_type(tensor.dtype); });
  const bool rounds = options.precision == Precision::Fast && !options.storage && !quantised;
  return rounds && backend.supports_weight(DType::I16) ? DType::I16 : options.storage;
}

Result<bert::Config> config_of(const TensorFile& file) {
  auto config = bert::Config::read(file);
  return config ? std::move(config)
                : std::unexpected(std::move(config).error().while_doing(file.path));
}

}  // namespace

Result<std::shared_ptr<const TensorFile>> open_embedding_file(const std::string& path) {
  MYNAH_TRY(TensorFile file, bert::open_checkpoint(path));
  return std::make_shared<const TensorFile>(std::move(file));
}

Status check_embedding_file(const std::string& path) {
  MYNAH_TRY(const auto file, open_embedding_file(path));
  MYNAH_TRY_STATUS(config_of(*file));
  return {};
}

Result<std::shared_ptr<const EmbeddingModel>> load_embedding_model(
    const std::string& path, const EmbeddingLoadOptions& options, Backend& backend) {
  MYNAH_TRY(const auto file, open_embedding_file(path));
  return load_embedding_model(*file, options, backend);
}

Result<std::shared_ptr<const EmbeddingModel>> load_embedding_model(
    const TensorFile& file, const EmbeddingLoadOptions& options, Backend& backend) {
  MYNAH_TRY(const bert::Config config, config_of(file));
  const std::optional<DType> storage = storage_for(file, options, backend);
  return or_device_error([&]() -> Result<std::shared_ptr<const EmbeddingModel>> {
    MYNAH_TRY(auto model,
              bert::Model::load(file, config,
                                {.backend = &backend,
                                 .storage = storage,
                                 .precision = options.precision,
                                 .cache = open_weight_cache(file.path, options.cache_folder,
                                                            storage, options.precision, backend)}));
    return std::make_shared<const BertEmbeddings>(std::move(model));
  });
}

// Two texts of unlike lengths, or as many as the model's longest one needs, of tokens all over the
// vocabulary.
Result<Probe> probe_embedding_model(const EmbeddingModel& model) {
  constexpr int64_t kTextTokens = 40;
  constexpr int64_t kStride = 7919;  // a prime: no vocabulary is a multiple of it
  const EmbeddingFacts& facts = model.facts();
  TokenTexts texts;
  for (int64_t i = 0; i < kProbeTokens; ++i) {
    if (i % std::min(kTextTokens, facts.longest) == 0) {
      texts.emplace_back();
    }
    texts.back().push_back(static_cast<int32_t>((i + 1) * kStride % facts.vocabulary));
  }
  MYNAH_TRY(std::vector<float> vectors, model.embed(texts));
  return Probe{.stages = {{.stage = "embed", .values = std::move(vectors)}},
               .sound_s = static_cast<double>(kProbeTokens)};
}

}  // namespace mynah
