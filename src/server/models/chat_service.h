// ChatService: the language models that a server writes with, by the names that clients call them.
#pragma once

#include <string>
#include <vector>

#include "engine/engine.h"
#include "server/metrics/metrics.h"
#include "server/models/kind_models.h"
#include "server/models/service_options.h"

namespace mynah::server {

// A model to write with, and what it is called.
struct Writing {
  engine::Leases<engine::OpenedChat>::Lease lease;
  std::string name;
  bool model_passed_over = false;  // the one that was asked for is not here
  Metrics* metrics = nullptr;

  [[nodiscard]] ChatModel& chat() const { return *lease->chat; }
};

// Thread-safe.
class ChatService {
 public:
  // All of it must outlive it.
  ChatService(const ServiceOptions& options, const Environment& environment, engine::Engine& engine,
              Metrics& metrics)
      : options_(options),
        models_(FamilyKind::Language, "language model", options.chat_model, options, environment),
        engine_(engine),
        metrics_(metrics) {}

  // The model that a client means by that name ("": it names none), opened where it is not.
  // As KindModels::choose() refuses; else the errors of opening.
  [[nodiscard]] Result<Writing> writing(const std::string& name, UnknownName unknown) const;

  // Whether that very name is one of a language model that is here: "qwen3", "qwen3:latest".
  [[nodiscard]] bool has(const std::string& name) const { return !models_.meant_by(name).empty(); }

  // Those that are here, the one first that requests mean which name none.
  [[nodiscard]] std::vector<HereModel> models() const { return models_.all(); }

  // The one of them that a client means by that very name, or by none. As writing().
  [[nodiscard]] Result<HereModel> model(const std::string& name) const {
    return models_.model(name, UnknownName::Refused);
  }

 private:
  const ServiceOptions& options_;
  KindModels models_;
  engine::Engine& engine_;
  Metrics& metrics_;
};

}  // namespace mynah::server
