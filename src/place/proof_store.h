// ProofStore: what was proven of devices, kept from run to run, and what failed lately.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "place/device_identity.h"
#include "place/measurement.h"
#include "place/workload.h"

namespace mynah::place {

// What is the same from one start of the machine to the next suspend.
struct WakeState {
  std::string boot_id;
  int64_t suspended_ms = 0;  // all time that the machine slept since its start

  // Of this machine now.
  static WakeState now();

  // False where the machine slept since `earlier`: cards come back broken from that.
  [[nodiscard]] bool awake_since(const WakeState& earlier) const;
};

// A proof of one model on one device.
struct Proof {
  std::vector<Measurement> measurements;
  int64_t made_at = 0;  // seconds since 1970
};

// Failures of a device, one after the other.
struct Distrust {
  int failures = 0;
  int64_t last_at = 0;  // seconds since 1970
  std::string reason;

  // When it may be proven again without being asked for by name: ten seconds after the first
  // failure, twice as long after each further one, an hour at most.
  [[nodiscard]] int64_t again_at() const;
};

// Seconds since 1970.
[[nodiscard]] int64_t seconds_now();

// What a store asks the machine for. A test makes up its own.
struct ProofTimes {
  std::function<int64_t()> seconds = seconds_now;
  std::function<WakeState()> wake = WakeState::now;
};

class ProofStore {
 public:
  // `folder` empty: nothing is kept. `build` names the program.
  ProofStore(std::string folder, std::string build, ProofTimes times = {});

  // None where there is none for this driver, card, program, model and type, the machine slept
  // since, or the device failed since.
  [[nodiscard]] std::optional<Proof> find(const DeviceIdentity& device, const ModelFile& file,
                                          const std::optional<DType>& storage) const;
  // What cannot be kept is proven again.
  void keep(const DeviceIdentity& device, const ModelFile& file,
            const std::optional<DType>& storage, const Proof& proof) const;

  [[nodiscard]] std::optional<Distrust> distrust(const DeviceIdentity& device) const;
  // Throws the device's proofs away.
  void failed(const DeviceIdentity& device, const std::string& reason) const;
  // It was proven again.
  void trusted(const DeviceIdentity& device) const;

 private:
  [[nodiscard]] std::string proof_file(const DeviceIdentity& device, const ModelFile& file,
                                       const std::optional<DType>& storage, std::string& key) const;
  [[nodiscard]] std::string distrust_file(const DeviceIdentity& device, std::string& key) const;

  std::string folder_;
  std::string build_;
  ProofTimes times_;
};

}  // namespace mynah::place
