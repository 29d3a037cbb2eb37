// Service: the models that a server works with, by the names that clients call them.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "engine/engine.h"
#include "server/metrics/metrics.h"
#include "server/metrics/work_board.h"
#include "server/models/chat_service.h"
#include "server/models/embedding_service.h"
#include "server/models/service_options.h"
#include "server/models/turn_service.h"
#include "store/speech_models.h"
#include "store/store.h"

namespace mynah::server {

// A model that is here and hears.
struct HearingModel {
  std::string name;
  std::string family;
  std::string source;                  // where it came from
  std::vector<std::string> languages;  // ISO 639-1 codes
};

// A model to hear with, and what it is called.
struct Hearing {
  engine::Leases<engine::OpenedRecognizer>::Lease lease;
  std::string name;
  bool model_passed_over = false;                      // the one that was asked for is not here
  std::atomic<int>* under_way = nullptr;               // how many recordings are being heard
  const std::vector<std::string>* hotwords = nullptr;  // that whoever is heard may say; never null
  Metrics* metrics = nullptr;
};

// Whom a client wants to hear; "" each: it does not say.
struct SpeakingAsk {
  std::string model;
  std::string voice;
  std::string language;
};

struct Speaking {
  engine::Leases<engine::OpenedSynthesizer>::Lease lease;
  std::string name;
  std::string voice;
  bool model_passed_over = false;  // the one that was asked for is not here
  Metrics* metrics = nullptr;
};

// Thread-safe.
class Service {
 public:
  // Refuses what was named and cannot be (check_named_models()), and what Engine::create() does.
  static Result<std::unique_ptr<Service>> create(ServiceOptions options,
                                                 engine::Surroundings surroundings);

  // The model that a client means by that name ("": it names none), opened where it is not.
  // NotFound where names are strict; else the errors of opening.
  [[nodiscard]] Result<Hearing> hearing(const std::string& name);

  // The models that are here and hear or speak, with what other mynahs know each by
  // (place::shared_digest()).
  struct SharedFile {
    std::string name;
    std::string meant;  // as it is opened: the same, or its path
    std::string digest;
    bool hears = true;
  };

  [[nodiscard]] std::vector<SharedFile> shared_files() const;

  // The model of those very files, opened where it is not. NotFound where there is none.
  [[nodiscard]] Result<Hearing> hearing_of(const std::string& digest);
  [[nodiscard]] Result<Speaking> speaking_of(const std::string& digest);

  // Requests that name none mean that model from now on; it is opened. NotFound where it is not
  // here.
  [[nodiscard]] Status take_as_default(const std::string& name);

  // The model that is named, where it is here, else one that has that voice. NotFound where it has
  // not that voice, where nobody has, and for names of models that are not here where names are
  // strict.
  [[nodiscard]] Result<Speaking> speaking(const SpeakingAsk& asked);

  // Those that speak, best first, each with the voices that speaking() takes: all that are here, or
  // the one that the server was started with; built in ones as the model "builtin".
  [[nodiscard]] std::vector<SpeechModel> speech_models() const;

  // Those that hear, the one that requests mean which name none first. A file is looked into once.
  [[nodiscard]] std::vector<HearingModel> hearing_models() const;

  [[nodiscard]] engine::Engine& engine() { return *engine_; }

  // Those that write.
  [[nodiscard]] const ChatService& chats() const { return chats_; }

  // Those that make vectors.
  [[nodiscard]] const EmbeddingService& embeddings() const { return embeddings_; }

  // What hears that somebody is done.
  [[nodiscard]] TurnService& turns() { return turns_; }

  [[nodiscard]] Metrics& metrics() { return metrics_; }

  [[nodiscard]] WorkBoard& board() { return board_; }

  // Whether a model could be opened where none is: of that which hears where none is named.
  [[nodiscard]] Status check_could_open() const;

  // The windows that wait to be heard, of all models, and how long they take by what one took.
  struct WaitingWindows {
    size_t urgent = 0;
    size_t bulk = 0;
    double left_ms = 0;
  };

  [[nodiscard]] WaitingWindows waiting_windows();

  // When what waits now will have been heard, by what that took of late; a second at least.
  [[nodiscard]] std::chrono::milliseconds estimated_wait();

  // Opens that model, whatever it does, and keeps it as one that was used. NotFound where it
  // is not here.
  [[nodiscard]] Status load(const std::string& name);

  // Lets go of that model: at once where nobody holds it, else soon after nobody does. How many of
  // it were open.
  [[nodiscard]] size_t unload(const std::string& name);

  // Removes that model of the store; requests that name none mean the server's own from now on,
  // where they meant it. Errors: Store::remove()'s.
  [[nodiscard]] Status remove(const std::string& name);

  // What a file or folder is called that a model was opened from ("": built in).
  [[nodiscard]] std::string name_of_model(const std::string& path) const;

  [[nodiscard]] Store store() const;

  [[nodiscard]] bool is_offline() const { return options_.offline; }

  [[nodiscard]] bool shares_texts() const { return options_.share_texts; }

  [[nodiscard]] const Environment& environment() const { return surroundings_.environment; }

 private:
  Service(ServiceOptions options, engine::Surroundings surroundings,
          std::unique_ptr<engine::Engine> engine, std::vector<std::string> hotwords);

  // What stands for that name among the options' aliases, or itself.
  [[nodiscard]] std::string aliased(const std::string& name) const;
  // What a client's name for one that speaks means; "": the default. NotFound where names are
  // strict.
  [[nodiscard]] Result<std::string> speaking_meant_by(const std::string& name) const;
  // That model (auto: whichever has it) with that very voice.
  [[nodiscard]] Result<Speaking> speaking_by(const std::string& model, const std::string& voice,
                                             const std::string& language);
  // The model that is called so in the store, or by its path.
  [[nodiscard]] Result<Hearing> open_model(std::string meant);
  [[nodiscard]] Result<Speaking> open_voice(engine::SynthesizerWish wish);
  // Which model speaks, and as whom: looked up anew where the store's folders have changed.
  [[nodiscard]] Result<engine::SpeakingModel> chosen_voice(const engine::SynthesizerWish& wish);
  // That of those files, which hears or speaks.
  [[nodiscard]] Result<SharedFile> shared_file(const std::string& digest, bool hears) const;
  // What a client's name means; "": nothing that is known.
  [[nodiscard]] std::string meant_by(const std::string& name) const;

  ServiceOptions options_;
  std::vector<std::string> hotwords_;  // of the lexicon
  engine::Surroundings surroundings_;
  std::unique_ptr<engine::Engine> engine_;
  [[nodiscard]] std::vector<std::string> languages_of(const std::string& path) const;

  Metrics metrics_;
  ChatService chats_{options_, surroundings_.environment, *engine_, metrics_};
  EmbeddingService embeddings_{options_, surroundings_.environment, *engine_, metrics_};
  TurnService turns_{surroundings_};
  WorkBoard board_;
  std::atomic<int> under_way_{0};
  mutable std::mutex mutex_;
  std::string default_;                                                // of those that hear
  mutable std::map<std::string, std::vector<std::string>> languages_;  // of files
  std::string voices_state_;  // of the store's folders when these were chosen
  std::map<std::string, Result<engine::SpeakingModel>> voices_;  // by what was wanted
};

}  // namespace mynah::server
