// ChatService: the language models that a server writes with, by the names that clients call them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/engine.h"
#include "server/metrics/metrics.h"
#include "server/models/service_options.h"
#include "store/store.h"

namespace mynah::server {

// A model to write with, and what it is called.
struct Writing {
  engine::Leases<engine::OpenedChat>::Lease lease;
  std::string name;
  bool model_passed_over = false;  // the one that was asked for is not here
  Metrics* metrics = nullptr;

  [[nodiscard]] ChatModel& chat() const { return *lease->chat; }
};

// A language model that is here.
struct WritingModel {
  std::string name;
  std::string path;
  std::string digest;   // SHA-256 of its file; "": nobody knows
  std::string storage;  // of most of its weights; "": nobody knows
  std::string licence;
  std::string changed;  // ISO 8601, UTC; "": nobody knows
  uint64_t size = 0;    // bytes
};

// Thread-safe.
class ChatService {
 public:
  // All of it must outlive it.
  ChatService(const ServiceOptions& options, const Environment& environment, engine::Engine& engine,
              Metrics& metrics)
      : options_(options), environment_(environment), engine_(engine), metrics_(metrics) {}

  // The model that a client means by that name ("": it names none), opened where it is not.
  // NotFound where names are strict; else the errors of opening.
  [[nodiscard]] Result<Writing> writing(const std::string& name) const;

  // Whether that very name is one of a language model that is here: "qwen3", "qwen3:latest".
  [[nodiscard]] bool has(const std::string& name) const { return !meant_by(name).empty(); }

  // Those that are here, the one first that requests mean which name none.
  [[nodiscard]] std::vector<WritingModel> models() const;

  // The one of them that a client means by that name. NotFound as writing().
  [[nodiscard]] Result<WritingModel> model(const std::string& name) const;

 private:
  // What a client's name means, as it is opened; "": nothing that is known.
  [[nodiscard]] std::string meant_by(const std::string& name) const;
  [[nodiscard]] Store store() const;

  const ServiceOptions& options_;
  const Environment& environment_;
  engine::Engine& engine_;
  Metrics& metrics_;
};

}  // namespace mynah::server
