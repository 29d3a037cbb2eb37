// The memory that a front asks for, with the model that knows what is meant.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "engine/embed.h"
#include "engine/surroundings.h"
#include "talk/memory/conversation_memory.h"

namespace mynah::talk {

struct MemoryWish {
  std::string folder;         // "": usual_memory_folder()
  engine::EmbedWish meaning;  // its device and threads, and which embedding model
};

// What is kept and what it stands on, in the order that they must be destroyed from the end.
struct OpenedMemory {
  engine::OpenedEmbedder embedder;  // without one, where none is here
  std::shared_ptr<MemoryStore> store;
  MeaningModel model;
};

// mynah/memory among this user's state.
[[nodiscard]] std::string usual_memory_folder(const Environment& environment);

// As open_sqlite_memory() and engine::open_embedder(). Where "auto" finds no embedding model, words
// alone are searched, and a note (code memory-words) says so; notes with code memory-damaged say
// what was mended.
Result<OpenedMemory> open_memory(const MemoryWish& wish, const engine::Surroundings& surroundings);

}  // namespace mynah::talk
