// Models of the store as place/ takes them.
#pragma once

#include <string>
#include <vector>

#include "engine/surroundings.h"
#include "place/terms/workload.h"
#include "store/speech_models.h"
#include "store/store.h"

namespace mynah::engine {

// A model with the name that it is known by.
struct NamedModel {
  std::string name;  // "tiny.en"; of a path its file's
  place::ModelFile file;
};

[[nodiscard]] place::VoiceModelFile voice_model_file(const SpeechModel& model,
                                                     const std::string& cache_folder);

// Computes what devices are compared with when they are proven with a model that has just come, so
// that the first proof need not wait for it. Where that fails it is computed when it is needed.
void prepare_reference(const Surroundings& surroundings, const StoredModel& model);

// Those that are named, by name or path; where none is, what verbs take by themselves: the newest
// recogniser, Silero, the best voice, the newest language model and the newest that makes vectors,
// as far as they are here. as_named()'s errors.
Result<std::vector<NamedModel>> named_models(const Store& store,
                                             const std::vector<std::string>& names);

}  // namespace mynah::engine
