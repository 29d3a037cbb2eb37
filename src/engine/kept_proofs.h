// Proofs of models on devices that were kept from earlier runs, as they are told.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "engine/model_files.h"
#include "place/discovery/device_identity.h"
#include "place/state/placement_state.h"
#include "place/terms/measurement.h"

namespace mynah::engine {

// A proof of one model on a device.
struct ToldProof {
  std::string model;
  std::vector<place::Measurement> measurements;
  std::optional<double> cpu_ms{};  // of the processor for a second of sound, all stages, if known
  int64_t ago_s = 0;               // since it was made
};

// Milliseconds for a second of sound, all stages, each by its fastest measurement.
[[nodiscard]] double fastest_ms(const std::vector<place::Measurement>& measurements);

// Those that hold of each model on that device, in the storage that is usual there. No model is
// opened, and none expected; no driver is asked, as the caller has the device's identity.
[[nodiscard]] std::vector<ToldProof> kept_proofs(place::PlacementState& state,
                                                 const std::string& device,
                                                 const place::DeviceIdentity& identity,
                                                 std::span<const NamedModel> models);

[[nodiscard]] nlohmann::ordered_json to_json(const ToldProof& proof);

}  // namespace mynah::engine
