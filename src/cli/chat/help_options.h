// Options of what helps a language model in a conversation, the same for every verb that has one.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "cli/command/verb.h"
#include "engine/open_placer.h"
#include "talk/memory/open_memory.h"
#include "talk/tools/tools_file.h"

namespace mynah::cli {

struct ToolOptions {
  std::string file;
  std::string folder;

  void fields(Fields& fields);

  // The file, where one is given; as ToolsFile::read() refuses.
  [[nodiscard]] Result<talk::ToolsFile> read() const;

  // What may be called. `described`: makes a tool of one that the file has no command for; empty:
  // it is left out.
  [[nodiscard]] Result<talk::OpenedTools> open(
      Context& context, const talk::ToolsFile& read,
      std::function<std::shared_ptr<talk::Tool>(const talk::ToolFacts&)> described) const;
};

struct MemoryOptions {
  bool keeps = false;
  std::string folder;

  void fields(Fields& fields);

  // The memory, where one is wanted. `placement`: of the model that knows what is meant.
  [[nodiscard]] Result<std::optional<talk::OpenedMemory>> open(
      Context& context, const engine::PlacementWish& placement) const;
};

}  // namespace mynah::cli
