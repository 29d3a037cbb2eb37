// How loud voices are, as they were measured: kept beside the model that speaks with them.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "store/speech_models.h"
#include "store/store.h"

namespace mynah {

// HOME/models/NAME/levels.json of a model of the store; of one that was given by its path, or of a
// built-in one, a file in the cache. A voice whose file has changed since counts as not measured.
// What cannot be written is measured again by the next run, and no error.
class VoiceLevels {
 public:
  VoiceLevels(const Store& store, const SpeechModel& model);

  // LUFS of the voice as the model speaks by itself.
  [[nodiscard]] std::optional<double> find(const std::string& voice) const;

  void keep(const std::string& voice, double lufs);

 private:
  struct Level {
    std::string stamp;  // of the voice's file, or the model's
    double lufs = 0;
  };

  [[nodiscard]] std::string stamp_of(const std::string& voice) const;
  void read();

  std::string path_;
  SpeechModel model_;
  std::map<std::string, Level> levels_;
};

}  // namespace mynah
