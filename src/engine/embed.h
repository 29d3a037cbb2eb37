// The embedding model that a front asks for, with the device it runs on.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "chat/embedder.h"
#include "engine/open_placer.h"
#include "engine/surroundings.h"
#include "place/placer.h"

namespace mynah::engine {

// Which model, where.
struct EmbedWish {
  std::string model = "auto";  // a name of the store or a path; auto: the newest that is here
  PlacementWish placement;
};

// The model and what it stands on, in the order that they must be destroyed from the end.
struct OpenedEmbedder {
  std::shared_ptr<place::Placer> placer;
  place::ModelId id{};  // of the placer's
  std::shared_ptr<const Embedder> embedder;
  std::string model_path;
  std::string name;                      // in the store; of a path its file's or folder's
  std::vector<std::string> explanation;  // what was chosen and why, a line each

  // Makes a vector, as the first request would.
  [[nodiscard]] Status warm_up() const { return embedder->warm_up(); }

  // Where it computes now: "cuda:0".
  [[nodiscard]] std::string device() const { return placer->device(id); }
};

// Opens it. Environment, with what to pull, where none is here; Usage for a name that nobody knows
// and for a model that makes no vectors; a device that is not there is refused with the reason.
Result<OpenedEmbedder> open_embedder(const EmbedWish& wish, const Surroundings& surroundings);

// The file or folder of the model that open_embedder() takes, or why there is none, as it refuses.
// Nothing is opened.
[[nodiscard]] Result<std::string> check_embedding_model(const EmbedWish& wish,
                                                        const Environment& environment);

}  // namespace mynah::engine
