// PlacementContext: what stands under all of placement in one process: what it was told, what there
// is to compute on, who proves it, and which models are to be placed.
#pragma once

#include <chrono>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "place/state/placer_options.h"

namespace mynah::place {

// Thread-safe. Its lock is held for moments, and nothing is called meanwhile.
class PlacementContext {
 public:
  explicit PlacementContext(PlacerOptions options);

  [[nodiscard]] const PlacerOptions& options() const { return options_; }

  [[nodiscard]] Prover& prover() { return prover_; }

  // Seconds since 1970.
  [[nodiscard]] int64_t now() const { return options_.times.seconds(); }

  // What there is to compute on; found out when first asked for.
  [[nodiscard]] const Discovery& discovery();

  // When that was found out. To be asked behind it.
  [[nodiscard]] std::chrono::steady_clock::time_point discovered_at() const {
    return discovered_at_;
  }

  // What tells a device from another of the same name; what there is is found out for a card alone.
  [[nodiscard]] DeviceIdentity identity(const std::string& device);

  // The same of the devices of `places`, in its order.
  [[nodiscard]] std::vector<DeviceIdentity> identities(const StagePlaces& places);

  // A model that will be opened: all that are known are planned together.
  void expect(const ModelFile& file);
  [[nodiscard]] std::vector<ModelFile> models() const;
  [[nodiscard]] std::optional<ModelFile> model(StageGroup group) const;

  // The probe that a group's canary is compared with; an error where none can be had.
  Result<Reference> reference(StageGroup group);

 private:
  PlacerOptions options_;
  Prover prover_;
  std::once_flag discovered_;
  Discovery discovery_;
  std::chrono::steady_clock::time_point discovered_at_;
  mutable std::mutex mutex_;
  std::vector<ModelFile> models_;
};

}  // namespace mynah::place
