#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "place/kinds/embed/embed.h"
#include "place/kinds/embed/embed_wire.h"
#include "place/workers/hosted_model.h"
#include "tensor/device_error.h"
#include "tensor/device_failure.h"

namespace mynah::place {
namespace {

class HostedEmbeddings final : public HostedModel {
 public:
  explicit HostedEmbeddings(HostServices& host) : host_(host) {}

  [[nodiscard]] std::optional<Result<WireWriter>> handle(Ask what, WireReader& in,
                                                         RequestStops& /*stops*/) override {
    switch (what) {
      case Ask::OpenEmbedder:
        return open(in);
      case Ask::Embed:
        return embed(in);
      default:
        return std::nullopt;
    }
  }

  void close() override { model_.reset(); }

  [[nodiscard]] Result<Probe> probe() override {
    return model_ == nullptr ? not_open(kEmbedGroup) : probe_embeddings(*model_);
  }

 private:
  Result<WireWriter> open(WireReader& in) {
    EmbeddingFile file;
    StageDevice where;
    in(file, where);
    MYNAH_TRY_STATUS(check_read(in));
    close();
    MYNAH_TRY(Backend * backend, host_.open(kEmbedStage, where));
    MYNAH_TRY(const auto opened, open_embedding_file(file.path));
    MYNAH_TRY(model_,
              load_embeddings(*opened, file, {.backend = *backend, .storage = where.storage}));
    return answer_of(model_->facts());
  }

  // Only texts of tokens that the model has are computed.
  [[nodiscard]] bool may_be_computed(const TokenTexts& texts) const {
    const EmbeddingFacts& facts = model_->facts();
    const auto is_token = [&](int32_t token) { return token >= 0 && token < facts.vocabulary; };
    return std::ranges::all_of(texts, [&](const std::vector<int32_t>& text) {
      return !text.empty() && std::ssize(text) <= facts.longest &&
             std::ranges::all_of(text, is_token);
    });
  }

  Result<WireWriter> embed(WireReader& in) {
    TokenTexts texts;
    in(texts);
    MYNAH_TRY_STATUS(check_read(in));
    if (model_ == nullptr) {
      return not_open(kEmbedGroup);
    }
    if (!may_be_computed(texts)) {
      return fail(ErrorCode::InvalidInput, "texts of tokens that the model does not have");
    }
    host_.begin_call(kEmbedGroup);
    auto vectors = model_->embed(texts);
    if (!vectors && is_of_device(vectors.error().code)) {
      throw DeviceError(std::move(vectors).error());
    }
    MYNAH_TRY(const std::vector<float> made, std::move(vectors));
    return answer_of(made);
  }

  HostServices& host_;
  std::shared_ptr<const EmbeddingModel> model_;
};

}  // namespace

std::unique_ptr<HostedModel> host_embeddings(HostServices& services) {
  return std::make_unique<HostedEmbeddings>(services);
}

}  // namespace mynah::place
