// Smart Turn behind TurnScorer.
#include <cmath>
#include <utility>

#include "models/turn/model.h"
#include "speech/turn_scorer.h"
#include "speech/weight_cache.h"
#include "tensor/device_error.h"

namespace mynah {
namespace {

class SmartTurn final : public TurnScorer {
 public:
  explicit SmartTurn(std::shared_ptr<const turn::Model> model) : model_(std::move(model)) {}

  [[nodiscard]] Result<float> score(std::span<const float> turn) const override {
    return or_device_error([&]() -> Result<float> {
      const float score = model_->score(std::span(&turn, 1)).front();
      if (!std::isfinite(score)) {
        return fail(ErrorCode::Device, "it computed a score that is no number (NaN)");
      }
      return score;
    });
  }

  [[nodiscard]] int64_t window() const override { return model_->window(); }

 private:
  std::shared_ptr<const turn::Model> model_;
};

}  // namespace

Result<std::shared_ptr<const TurnScorer>> load_turn_scorer(const std::string& path,
                                                           const TurnLoadOptions& options,
                                                           Backend& backend) {
  const auto cache =
      open_weight_cache(path, options.cache_folder, options.storage, options.precision, backend);
  MYNAH_TRY(auto model, turn::Model::open(path, {.backend = &backend,
                                                 .options = {.storage = options.storage,
                                                             .precision = options.precision,
                                                             .cache = cache.get()}}));
  return std::make_shared<const SmartTurn>(std::move(model));
}

}  // namespace mynah
