// EmbeddingService: the models that a server makes vectors with, by the names that clients call
// them.
#pragma once

#include <string>
#include <vector>

#include "engine/engine.h"
#include "server/metrics/metrics.h"
#include "server/models/kind_models.h"
#include "server/models/service_options.h"

namespace mynah::server {

// Thread-safe.
class EmbeddingService {
 public:
  // A model that is open, and what it is called.
  struct Opened {
    engine::Leases<engine::OpenedEmbedder>::Lease lease;
    std::string name;
    Metrics* metrics = nullptr;

    [[nodiscard]] const Embedder& embedder() const { return *lease->embedder; }
  };

  // All of it must outlive it.
  EmbeddingService(const ServiceOptions& options, const Environment& environment,
                   engine::Engine& engine, Metrics& metrics)
      : models_(FamilyKind::Embeddings, "embedding model", options.embedding_model, options,
                environment),
        engine_(engine),
        metrics_(metrics) {}

  // The model that a client means by that name ("": it names none), opened where it is not. Vectors
  // of two models have nothing to do with each other, so that no other stands for one that is not
  // here: KindModels::choose() refuses it. Else the errors of opening.
  [[nodiscard]] Result<Opened> open(const std::string& name) const;

  // Whether that very name is one of an embedding model that is here.
  [[nodiscard]] bool has(const std::string& name) const { return !models_.meant_by(name).empty(); }

  // Those that are here, the one first that requests mean which name none.
  [[nodiscard]] std::vector<HereModel> models() const { return models_.all(); }

  // The one of them that a client means by that name. As open().
  [[nodiscard]] Result<HereModel> model(const std::string& name) const {
    return models_.model(name, UnknownName::Refused);
  }

 private:
  KindModels models_;
  engine::Engine& engine_;
  Metrics& metrics_;
};

}  // namespace mynah::server
