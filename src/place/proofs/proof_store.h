// ProofStore: what was proven of devices, kept from run to run, and what failed lately.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "place/discovery/device_identity.h"
#include "place/proofs/distrust.h"
#include "place/terms/measurement.h"
#include "place/terms/workload.h"

namespace mynah::place {

// What is the same from one start of the machine to the next suspend.
struct WakeState {
  std::string boot_id;
  int64_t suspended_ms = 0;  // all time that the machine slept since its start

  // Of this machine now. Two clocks are asked, no file but the first time.
  static WakeState now();

  // False where the machine slept since `earlier`: cards come back broken from that.
  [[nodiscard]] bool awake_since(const WakeState& earlier) const;
};

// A proof of one model on one device.
struct Proof {
  std::vector<Measurement> measurements;
  int64_t made_at = 0;       // seconds since 1970
  int64_t last_failure = 0;  // the device's, as ProofStore has it, when this proof was begun
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

  // Why nothing can be kept, where that is so.
  [[nodiscard]] Status check_writable() const;

  // None where there is none for this driver, card, program, model and type, the machine slept
  // since, or the device failed since.
  [[nodiscard]] std::optional<Proof> find(const DeviceIdentity& device, const ModelFile& file,
                                          const std::optional<DType>& storage) const;
  // What cannot be kept is proven again.
  void keep(const DeviceIdentity& device, const ModelFile& file,
            const std::optional<DType>& storage, const Proof& proof) const;

  // The same of stages apart, each device by itself: a proof of theirs ends with the first that
  // fails. `devices` are those of `places`, in its order.
  [[nodiscard]] std::optional<Proof> find_apart(const std::vector<DeviceIdentity>& devices,
                                                const ModelFile& file,
                                                const StagePlaces& places) const;
  void keep_apart(const std::vector<DeviceIdentity>& devices, const ModelFile& file,
                  const StagePlaces& places, const Proof& proof) const;

  // Grows with each failure of any of these devices.
  [[nodiscard]] int64_t last_failure_of_any(const std::vector<DeviceIdentity>& devices) const;

  // The number of the device's last failure, 0: there was none. Each has a greater one than those
  // before, whatever the clock says. Where what is kept of the device is damaged, that is the last.
  [[nodiscard]] int64_t last_failure(const DeviceIdentity& device) const;

  // None where it was proven since it failed.
  [[nodiscard]] std::optional<Distrust> distrust(const DeviceIdentity& device) const;
  // No proof that was begun before holds any more.
  void failed(const DeviceIdentity& device, const std::string& reason) const;
  // It passed a proof that was begun after this failure; a later one still stands.
  void trusted(const DeviceIdentity& device, int64_t last_failure) const;

 private:
  [[nodiscard]] std::string proof_file(const DeviceIdentity& device, const ModelFile& file,
                                       const std::optional<DType>& storage, std::string& key) const;
  [[nodiscard]] std::string apart_file(const std::vector<DeviceIdentity>& devices,
                                       const ModelFile& file, const StagePlaces& places,
                                       std::string& key) const;
  // What is kept under a key, whatever failed since.
  [[nodiscard]] std::optional<Proof> read(const std::string& path, const std::string& key,
                                          StageGroup group) const;
  [[nodiscard]] std::string distrust_file(const DeviceIdentity& device, std::string& key) const;

  // What is kept of a device's failures.
  struct Failures {
    Distrust distrust;
    int64_t number = 0;  // of the last; 0: there was none
  };

  [[nodiscard]] Failures failures(const DeviceIdentity& device) const;
  // Changes it, while no other process does.
  void change(const DeviceIdentity& device, const std::function<void(Failures&)>& how) const;

  std::string folder_;
  std::string build_;
  ProofTimes times_;
};

}  // namespace mynah::place
