// PlacerOptions: what placement is told when it begins.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "place/discovery/discover.h"
#include "place/plans/profile.h"
#include "place/proofs/prover.h"
#include "place/terms/device_request.h"
#include "place/terms/workload.h"

namespace mynah::place {

struct PlacerOptions {
  DeviceRequest request;
  DeviceSettings settings;
  DiscoverySearch discovery;
  std::string worker_program;  // mynah itself, to be started as a worker
  std::string cache_folder;    // of references and proofs; empty: nothing is kept
  std::vector<Fault> faults;
  std::optional<DType> storage;  // the user's; none: what is fastest and good enough on the device
  Precision precision = Precision::Fast;
  // Profiles that are in use, or the one that is named: the stages of a profile's model go where it
  // says, as long as it holds.
  std::vector<Profile> profiles;
  std::vector<UnreadableProfile> unreadable_profiles;  // in use, and refused to their own models
  // What is loaded is let go when nothing was asked of it for so long; none: never.
  std::optional<std::chrono::milliseconds> keep_alive = std::chrono::minutes(5);
  uint64_t max_vram = 0;  // bytes of a card's memory that may be taken; 0: no limit
  int batch = 1;          // windows that are computed together where memory allows
  // A line for the user, when something moves, from any thread that computes; may be empty.
  std::function<void(const std::string& line)> say;
  // The same for somebody who waits, of what takes a while; may be empty.
  std::function<void(const std::string& line)> tell;
  ProofTimes times{};
  // The user's wish to stop: whatever is awaited of a worker then is abandoned. What was computed
  // is still vouched for, where nothing was awaited.
  std::stop_token stop{};
};

}  // namespace mynah::place
