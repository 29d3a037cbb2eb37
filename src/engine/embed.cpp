#include "engine/embed.h"

#include <utility>

#include <fmt/format.h>

#include "engine/installed.h"
#include "engine/store_folders.h"
#include "store/families.h"
#include "store/store.h"

namespace mynah::engine {

namespace {

// What a newcomer is offered.
constexpr std::string_view kFirstEmbedder = "minilm";

struct FoundEmbedder {
  std::string path;
  std::string name;
  std::string stored;  // as the store calls it; "": it is no model of the store
  std::string why;
};

Result<FoundEmbedder> find_embedder(const Store& store, const EmbedWish& wish) {
  if (wish.model == "auto") {
    const auto newest = newest_model_for(store, FamilyKind::Embeddings);
    if (!newest) {
      return fail(ErrorCode::Environment,
                  fmt::format("no embedding model is on this machine: run 'mynah pull {}', or take "
                              "in a folder of sentence-transformers or a GGUF file with 'mynah "
                              "import'",
                              kFirstEmbedder));
    }
    return FoundEmbedder{.path = newest->path(),
                         .name = newest->name,
                         .stored = newest->name,
                         .why = "the newest here"};
  }
  auto resolved = store.resolve(wish.model);
  if (!resolved) {
    return std::unexpected(as_named(std::move(resolved).error(), wish.model));
  }
  if (const auto stored = store.find(resolved->name);
      stored && !is_for(stored->family, FamilyKind::Embeddings)) {
    return fail(ErrorCode::Usage,
                fmt::format("{} ({}) makes no vectors; wanted an embedding model, such as {}",
                            stored->name, kind_of_family(stored->family), kFirstEmbedder));
  }
  std::string name = resolved->name.empty() ? name_of_path(resolved->path) : resolved->name;
  return FoundEmbedder{.path = resolved->path,
                       .name = std::move(name),
                       .stored = resolved->name,
                       .why = "asked for by name"};
}

}  // namespace

Result<OpenedEmbedder> open_embedder(const EmbedWish& wish, const Surroundings& surroundings) {
  const Store store(store_folders(surroundings.environment));
  MYNAH_TRY(FoundEmbedder found, find_embedder(store, wish));
  OpenedEmbedder opened;
  opened.explanation.push_back(fmt::format("model {}: {}", found.name, found.why));
  MYNAH_TRY(opened.placer, open_placer(wish.placement, surroundings));
  MYNAH_TRY_STATUS(opened.placer->check_profile(place::embedding_group()));
  const place::EmbeddingFile file{.path = found.path,
                                  .precision = wish.placement.precision,
                                  .cache_folder = store.folders().cache};
  const auto read = open_embedding_file(found.path);
  auto model = read ? opened.placer->embeddings(file, *read)
                    : Result<std::shared_ptr<const EmbeddingModel>>(std::unexpected(read.error()));
  if (!model) {
    return std::unexpected(as_stored(std::move(model).error(), found.stored, "--model"));
  }
  opened.id = opened.placer->id_of(file);
  MYNAH_TRY(opened.embedder, Embedder::open(**read, *std::move(model)));
  for (std::string& line : opened.placer->explain()) {
    opened.explanation.push_back(std::move(line));
  }
  opened.model_path = std::move(found.path);
  opened.name = std::move(found.name);
  return opened;
}

Result<std::string> check_embedding_model(const EmbedWish& wish, const Environment& environment) {
  MYNAH_TRY(FoundEmbedder found, find_embedder(Store(store_folders(environment)), wish));
  return std::move(found.path);
}

}  // namespace mynah::engine
