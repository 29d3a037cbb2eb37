// The configuration file: any bytes are options, or an error that names file and line.
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "cli/command/config_file.h"
#include "cli/models/pull.h"

namespace mynah::cli {

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const std::vector<Verb> verbs = {verb<PullCommand>("pull", "Bring.")};
  const auto config = parse_config({reinterpret_cast<const char*>(data), size}, "config.toml");
  if (!config) {
    MYNAH_CHECK(config.error().message.starts_with("config.toml"), "the error names no file");
    return 0;
  }
  for (const ConfigEntry& entry : config->entries) {
    MYNAH_CHECK(entry.line > 0, "an entry without a line");
  }
  if (const Status known = check_config(*config, verbs); !known) {
    MYNAH_CHECK(known.error().message.starts_with("config.toml:"), "the error names no line");
  }
  return 0;
}

}  // namespace mynah::cli
