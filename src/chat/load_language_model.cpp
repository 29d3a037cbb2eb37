// Opens what writes, by its architecture: the one place of chat/ that names families.
#include <algorithm>
#include <utility>

#include "chat/language_model.h"
#include "chat/token_session.h"
#include "formats/open.h"
#include "models/llama/model.h"
#include "nn/decode/kv_cache.h"
#include "speech/weight_cache.h"
#include "tensor/device_error.h"

namespace mynah {
namespace {

LanguageFacts facts_of(const llama::Model& model, int64_t context) {
  const llama::Config& config = model.config();
  LanguageFacts facts{.architecture = config.architecture,
                      .vocabulary = config.vocabulary,
                      .trained_context = config.context_length,
                      .context = context,
                      .position_bytes = config.cache_bytes(model.cache_dtype(), 0),
                      .state_bytes = config.state_bytes()};
  const uint64_t of_window =
      config.window > 0 ? config.cache_bytes(model.cache_dtype(), config.window) : 0;
  if (of_window > 0 && config.window + llama::Model::kRewinds < context) {
    facts.rewinds = llama::Model::kRewinds;
    facts.window = config.window;
    facts.window_bytes = of_window;
  } else {
    facts.position_bytes += of_window;  // nothing is let go
  }
  if (!config.states().empty()) {
    facts.rewinds = 0;
    facts.window = 0;
  }
  return facts;
}

class LlamaLanguage final : public LanguageModel {
 public:
  LlamaLanguage(std::shared_ptr<const llama::Model> model, int64_t context)
      : model_(std::move(model)), facts_(facts_of(*model_, context)) {}

  [[nodiscard]] const LanguageFacts& facts() const override { return facts_; }

  [[nodiscard]] std::unique_ptr<Session> session() const override {
    // All that is kept of texts is as much as one of them may have: GenerationQueue::Limits.
    constexpr int64_t kTexts = 1;
    return std::make_unique<TokenSession>(model_->backend(), *model_, model_->steps(),
                                          model_->new_cache(kTexts, facts_.context),
                                          facts_.vocabulary);
  }

 private:
  std::shared_ptr<const llama::Model> model_;
  LanguageFacts facts_;
};

// Of what the largest block computes of a token, all of it at once: hidden states and their norms;
// queries, keys and values before and behind their turns, or what a recurrent layer mixes; both
// halves of the feed-forward block, or of all experts that are asked, and their product.
uint64_t bytes_of_token(const llama::Config& c) {
  constexpr int64_t kHidden = 4;
  constexpr int64_t kQueries = 3;
  const int64_t mixed =
      c.recurrence == llama::Recurrence::ShortConv
          ? c.width
          : kQueries * (2 * c.delta_key_width() + c.delta_value_width()) + c.delta_value_width();
  int64_t most = 0;
  for (const llama::LayerConfig& own : c.layer) {
    const int64_t attention = kQueries * c.heads * own.head_dim + 4 * own.key_width();
    const int64_t of_experts = c.used_experts * c.expert_columns + c.shared_columns;
    const int64_t inner = own.feed_forward + (own.experts ? of_experts : 0);
    most = std::max(most, (own.attends ? attention : mixed) + 3 * inner);
  }
  return static_cast<uint64_t>(kHidden * c.width + most) * sizeof(float);
}

class LlamaFile final : public WritingFile {
 public:
  LlamaFile(TensorFile file, llama::Config config)
      : file_(std::move(file)), config_(std::move(config)) {}

  [[nodiscard]] const TensorFile& contents() const override { return file_; }

  [[nodiscard]] int64_t trained_context() const override { return config_.context_length; }

  [[nodiscard]] int64_t layers() const override { return config_.layers; }

  [[nodiscard]] std::vector<int64_t> cuts() const override { return config_.splits(); }

  using WritingFile::memory;

  [[nodiscard]] CutMemory memory(Precision precision, int64_t lower_layers) const override {
    const llama::Config below = config_.first_layers(lower_layers);
    const DType kept = llama::cache_dtype(precision);
    CutMemory memory;
    memory.lower = {.position_bytes = below.cache_bytes(kept, 0),
                    .token_bytes = lower_layers > 0 ? bytes_of_token(below) : 0,
                    .state_bytes = below.state_bytes()};
    memory.upper = {.position_bytes = config_.cache_bytes(kept, 0) - memory.lower.position_bytes,
                    .token_bytes = bytes_of_token(config_),
                    .state_bytes = config_.state_bytes() - memory.lower.state_bytes};
    if (config_.window > 0) {
      const uint64_t all = config_.cache_bytes(kept, config_.window);
      memory.lower.window_bytes = below.cache_bytes(kept, config_.window);
      memory.upper.window_bytes = all - memory.lower.window_bytes;
      memory.lower.window_positions = window_positions(config_.window);
      memory.upper.window_positions = memory.lower.window_positions;
    }
    for (const StoredTensor& tensor : file_.tensors) {
      const bool is_table = tensor.name == "token_embd.weight";
      LanguageMemory& part = lower_layers > 0 && llama::is_below(tensor.name, lower_layers)
                                 ? memory.lower
                                 : memory.upper;
      part.weight_bytes += tensor.bytes.size();
      // The table of tokens is the last product's matrix, too, where there is no other.
      if (is_table && file_.find("output.weight") == nullptr) {
        memory.upper.weight_bytes += tensor.bytes.size();
      }
    }
    return memory;
  }

  [[nodiscard]] Result<std::shared_ptr<const LanguageModel>> load(
      const LanguageLoadOptions& options, Backend& backend) const override {
    const int64_t most = config_.context_length;
    const int64_t context = options.context > 0 ? std::min(options.context, most) : most;
    const auto cache = [&](const Backend& of) {
      return open_weight_cache(file_.path, options.cache_folder, options.storage, options.precision,
                               of);
    };
    return or_device_error([&]() -> Result<std::shared_ptr<const LanguageModel>> {
      llama::LoadOptions how{.backend = &backend,
                             .storage = options.storage,
                             .precision = options.precision,
                             .cache = cache(backend),
                             .lower = {}};
      if (const LowerPart& lower = options.lower; lower.layers > 0) {
        const bool alike = lower.backend->packed_layout() == backend.packed_layout();
        how.lower = {.count = lower.layers,
                     .backend = lower.backend,
                     .cache = alike ? how.cache : cache(*lower.backend)};
      }
      MYNAH_TRY(auto model, llama::Model::load(file_, config_, how));
      return std::make_shared<const LlamaLanguage>(std::move(model), context);
    });
  }

 private:
  TensorFile file_;
  llama::Config config_;
};

}  // namespace

int64_t window_positions(int64_t window) {
  const int64_t kept = KvCache::kFirstRows + KvCache::kGapRows + window;
  return (kept + kPromptPiece) + (kept + llama::Model::kRewinds);
}

Result<std::shared_ptr<const WritingFile>> open_writing(const std::string& path) {
  MYNAH_TRY(TensorFile file, open_tensor_file(path));
  MYNAH_TRY(llama::Config config, llama::Config::read(file));
  return std::make_shared<const LlamaFile>(std::move(file), std::move(config));
}

Result<std::shared_ptr<const LanguageModel>> load_language_model(const std::string& path,
                                                                 const LanguageLoadOptions& options,
                                                                 Backend& backend) {
  MYNAH_TRY(const auto file, open_writing(path));
  return file->load(options, backend);
}

}  // namespace mynah
