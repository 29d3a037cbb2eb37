// What another process wrote for `mynah ps`.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "cli/placement/ps.h"
#include "place/terms/plain_text.h"

namespace mynah::cli {

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto stages = parse_status_page({reinterpret_cast<const char*>(data), size});
  if (stages) {
    for (const LoadedStage& stage : *stages) {
      for (const std::string& text :
           {stage.stage, stage.device, stage.model, stage.storage.value_or("")}) {
        MYNAH_CHECK(place::is_plain(text, 1000), "a text steers the terminal");
      }
      MYNAH_CHECK(stage.idle_s >= 0, "idle for less than no time");
    }
  }
  return 0;
}

}  // namespace mynah::cli
