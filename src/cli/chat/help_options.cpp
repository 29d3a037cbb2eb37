#include "cli/chat/help_options.h"

#include <utility>

#include <fmt/format.h>

#include "cli/chat/memory.h"
#include "cli/models/surroundings.h"
#include "engine/store_folders.h"
#include "store/files.h"

namespace mynah::cli {

void ToolOptions::fields(Fields& fields) {
  fields
      .option("tools", "FILE", file,
              "Tools that the model may call, and servers of tools (MCP): JSON, see docs/tools.md.")
      .completes(Complete::Files);
  fields
      .option("tools-dir", "DIR", folder, "A folder: the model may list and read what is below it.")
      .once()
      .completes(Complete::Files);
}

Result<talk::ToolsFile> ToolOptions::read() const {
  return file.empty() ? Result<talk::ToolsFile>(talk::ToolsFile()) : talk::ToolsFile::read(file);
}

Result<talk::OpenedTools> ToolOptions::open(
    Context& context, const talk::ToolsFile& read,
    std::function<std::shared_ptr<talk::Tool>(const talk::ToolFacts&)> described) const {
  for (const std::string& note : read.notes()) {
    context.say(note);
  }
  const std::string home = engine::store_folders(context.environment).home;
  if (!read.own().empty()) {
    MYNAH_TRY_STATUS(make_folders(home));
  }
  talk::ToolSurroundings surroundings;
  surroundings.timers = home + "/timers.sqlite";
  surroundings.folder = folder;
  surroundings.described = std::move(described);
  return talk::open_tools(read, surroundings);
}

void MemoryOptions::fields(Fields& fields) {
  fields.flag("memory", keeps,
              "Keep what is said, and remind the model of what you said in earlier conversations "
              "(mynah memory shows and forgets it).");
  memory_folder_field(fields, folder);
}

Result<std::optional<talk::OpenedMemory>> MemoryOptions::open(
    Context& context, const engine::PlacementWish& placement) const {
  if (!keeps) {
    return std::nullopt;
  }
  talk::MemoryWish wish{.folder = folder, .meaning = {}};
  wish.meaning.placement = placement;
  MYNAH_TRY(auto memory, talk::open_memory(wish, surroundings_of(context)));
  return std::optional(std::move(memory));
}

}  // namespace mynah::cli
