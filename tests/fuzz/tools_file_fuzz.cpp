// A file of tools: any bytes are tools that models can be told of, or an error that names the file.
#include <cstddef>
#include <cstdint>
#include <string>

#include "base/check.h"
#include "talk/tools/tools_file.h"

namespace mynah::talk {

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const auto file = ToolsFile::parse(text, "tools.json");
  if (!file) {
    MYNAH_CHECK(file.error().message.starts_with("tools.json: "), "the error names no file");
    return 0;
  }
  for (const auto& described : file->described()) {
    MYNAH_CHECK(!described.facts.name.empty(), "each has a name");
    MYNAH_CHECK(described.facts.told.is_object() && !described.facts.told.contains("command"),
                "models are told of no command");
  }
  for (const auto& server : file->servers()) {
    MYNAH_CHECK(server.command.has_value() != server.address.has_value(), "it is one of the two");
  }
  return 0;
}

}  // namespace mynah::talk
