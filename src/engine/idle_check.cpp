#include "engine/idle_check.h"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <system_error>

#include <fmt/format.h>

#include "place/discovery/host.h"
#include "place/workers/worker_lane.h"
#include "speech/window_model.h"
#include "store/files.h"

namespace mynah::engine {
namespace {

Status check_worker(const place::PlacerOptions& options) {
  if (options.worker_program.empty()) {
    return {};  // all is computed in this process
  }
  const place::WorkerSpec spec{.program = options.worker_program,
                               .device = "cpu",
                               .settings = options.settings,
                               .faults = {},
                               .stop = options.stop};
  MYNAH_TRY(const auto worker, place::WorkerLane::start(spec));
  worker->retire();
  return {};
}

// The weights are mapped as they are in the file, or take less as another type.
Status check_memory(const std::string& model_path) {
  MYNAH_TRY(const auto file, open_hearing(model_path));
  std::error_code none;  // a folder's size is that of its largest file, which nobody tells
  const std::uintmax_t size = std::filesystem::file_size(model_path, none);
  const uint64_t wanted = (none ? 0 : static_cast<uint64_t>(size)) + file->window_bytes();
  const place::HostMemory host = place::host_memory();
  if (host.available < wanted) {
    return fail(ErrorCode::OutOfMemory,
                fmt::format("{} takes about {}, and {} are free", model_path, human_bytes(wanted),
                            human_bytes(host.available)));
  }
  return {};
}

}  // namespace

Status check_could_open(const place::Placer& placer, const std::string& model_path) {
  MYNAH_TRY_STATUS(check_worker(placer.state().context().options()));
  return model_path.empty() ? Status() : check_memory(model_path);
}

}  // namespace mynah::engine
