// A file of tools: any bytes are tools that models can be told of, or an error that names the file.
#include <cstddef>
#include <cstdint>
#include <string>

#include "base/check.h"
#include "cli/chat/tools_file.h"

namespace mynah::cli {

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const auto file = ToolsFile::parse(text, "tools.json");
  if (!file) {
    MYNAH_CHECK(file.error().message.starts_with("tools.json: "), "the error names no file");
    return 0;
  }
  for (const auto& tool : file->tools()) {
    MYNAH_CHECK(tool["type"] == "function" && !tool.contains("command"), "it is a function's");
    static_cast<void>(file->command_of(tool["function"]["name"].get<std::string>()));
  }
  return 0;
}

}  // namespace mynah::cli
