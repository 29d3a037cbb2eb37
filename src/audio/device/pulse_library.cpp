#include "audio/device/pulse_library.h"

#include <string_view>
#include <vector>

#include <dlfcn.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/shared_library.h"

namespace mynah {
namespace {

constexpr const char* kPulseLibrary = "libpulse.so.0";

template <class Function>
void resolve(void* library, const char* name, Function& function,
             std::vector<std::string_view>& missing) {
  function = reinterpret_cast<Function>(::dlsym(library, name));
  if (function == nullptr) {
    missing.emplace_back(name);
  }
}

}  // namespace

Result<PulseApi> open_pulse_library() {
  auto opened = open_library(kPulseLibrary);
  if (!opened) {
    return fail(
        ErrorCode::Environment,
        fmt::format("{} is not installed: PipeWire and PulseAudio are reached by it (Debian: "
                    "apt-get install libpulse0)",
                    kPulseLibrary));
  }
  if (!*opened) {
    return fail(ErrorCode::Environment, std::move(*opened).error());
  }
  void* const library = (**opened).release();
  PulseApi api;
  std::vector<std::string_view> missing;
#define MYNAH_PULSE_RESOLVE(name) resolve(library, "pa_" #name, api.name, missing);
  MYNAH_PULSE_FUNCTIONS(MYNAH_PULSE_RESOLVE)
#undef MYNAH_PULSE_RESOLVE
  if (!missing.empty()) {
    return fail(ErrorCode::Environment,
                fmt::format("{} lacks {}: is it PulseAudio's, 1.0 or newer?", library_file(library),
                            missing.front()));
  }
  return api;
}

}  // namespace mynah
