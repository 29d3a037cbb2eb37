#include "talk/memory/open_memory.h"

#include <utility>

#include "talk/memory/sqlite_memory.h"

namespace mynah::talk {

std::string usual_memory_folder(const Environment& environment) {
  return environment.state_folder() + "/memory";
}

Result<OpenedMemory> open_memory(const MemoryWish& wish, const engine::Surroundings& surroundings) {
  const std::string folder =
      wish.folder.empty() ? usual_memory_folder(surroundings.environment) : wish.folder;
  OpenedMemory opened;
  MYNAH_TRY(auto store,
            open_sqlite_memory(
                {.folder = folder, .tell = [tell = surroundings.tell](const std::string& said) {
                   if (tell) {
                     tell({.code = "memory-damaged", .text = said, .remedy = ""});
                   }
                 }}));
  opened.store = std::move(store);
  auto embedder = engine::open_embedder(wish.meaning, surroundings);
  if (embedder) {
    opened.embedder = *std::move(embedder);
    opened.model = {.embedder = opened.embedder.embedder, .name = opened.embedder.name};
  } else if (wish.meaning.model == "auto" && embedder.error().code == ErrorCode::Environment) {
    surroundings.note({.code = "memory-words",
                       .text = "the memory is searched by words alone: no embedding model is here",
                       .remedy = "mynah pull minilm"});
  } else {
    return std::unexpected(std::move(embedder).error());
  }
  return opened;
}

}  // namespace mynah::talk
