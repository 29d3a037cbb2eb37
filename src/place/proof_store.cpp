#include "place/proof_store.h"

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "place/kept_file.h"
#include "place/kept_types.h"
#include "place/possible.h"
#include "store/sha256.h"

namespace mynah::place {

namespace {

// More make a pause no longer.
constexpr int kMostFailures = 20;

int64_t milliseconds_of(clockid_t clock) {
  timespec time{};
  ::clock_gettime(clock, &time);
  return static_cast<int64_t>(time.tv_sec) * 1000 + time.tv_nsec / 1000000;
}

std::string name_of(const std::string& key) {
  return sha256_hex(std::as_bytes(std::span(key))).substr(0, 32);
}

}  // namespace

int64_t seconds_now() {
  return static_cast<int64_t>(::time(nullptr));
}

WakeState WakeState::now() {
  WakeState state;
  std::ifstream boot("/proc/sys/kernel/random/boot_id");
  std::getline(boot, state.boot_id);
  // CLOCK_BOOTTIME goes on while the machine sleeps, CLOCK_MONOTONIC does not (clock_gettime(2)).
  state.suspended_ms = milliseconds_of(CLOCK_BOOTTIME) - milliseconds_of(CLOCK_MONOTONIC);
  return state;
}

bool WakeState::awake_since(const WakeState& earlier) const {
  constexpr int64_t kReadApart_ms = 100;  // the two clocks are not read at once
  return boot_id != earlier.boot_id || suspended_ms <= earlier.suspended_ms + kReadApart_ms;
}

int64_t Distrust::again_at() const {
  constexpr int64_t kFirst_s = 10;
  constexpr int64_t kLongest_s = 3600;
  const int doublings = std::clamp(failures, 1, kMostFailures) - 1;
  return last_at + std::min(kLongest_s, kFirst_s << doublings);
}

ProofStore::ProofStore(std::string folder, std::string build, ProofTimes times)
    : folder_(std::move(folder)), build_(std::move(build)), times_(std::move(times)) {}

std::string ProofStore::proof_file(const DeviceIdentity& device, const ModelFile& file,
                                   const std::optional<DType>& storage, std::string& key) const {
  const auto digest = model_digest(path_of(file), folder_);
  if (folder_.empty() || !digest) {
    return {};
  }
  key = fmt::format("{}\n{}\n{}\n{}\n{}\n{}\n{}\n{}", device.device, device.name, device.driver,
                    device.uuid, build_, *digest, group_name(group_of(file)),
                    storage ? name(*storage) : "file");
  return (std::filesystem::path(folder_) / "proofs" / (name_of(key) + ".proof")).string();
}

std::string ProofStore::distrust_file(const DeviceIdentity& device, std::string& key) const {
  if (folder_.empty()) {
    return {};
  }
  key = fmt::format("{}\n{}\n{}", device.device, device.name, device.uuid);
  return (std::filesystem::path(folder_) / "proofs" / (name_of(key) + ".distrust")).string();
}

std::optional<Proof> ProofStore::find(const DeviceIdentity& device, const ModelFile& file,
                                      const std::optional<DType>& storage) const {
  std::string key;
  const std::string path = proof_file(device, file, storage, key);
  WakeState then;
  Proof proof;
  if (path.empty() || !read_kept_file(path, kProofKind, key, then, proof) ||
      !is_possible(proof.measurements, group_of(file)) || !times_.wake().awake_since(then)) {
    return std::nullopt;
  }
  const auto lost = distrust(device);
  if (lost && lost->last_at >= proof.made_at) {
    return std::nullopt;
  }
  return proof;
}

void ProofStore::keep(const DeviceIdentity& device, const ModelFile& file,
                      const std::optional<DType>& storage, const Proof& proof) const {
  std::string key;
  const std::string path = proof_file(device, file, storage, key);
  if (!path.empty()) {
    write_kept_file(path, kProofKind, key, times_.wake(), proof);
  }
}

std::optional<Distrust> ProofStore::distrust(const DeviceIdentity& device) const {
  std::string key;
  const std::string path = distrust_file(device, key);
  Distrust distrust;
  if (path.empty() || !read_kept_file(path, kDistrustKind, key, distrust)) {
    return std::nullopt;
  }
  // A failure that is yet to come was noted while the clock was wrong: nobody waits for that.
  if (distrust.failures < 1 || distrust.last_at < 0 || distrust.last_at > times_.seconds()) {
    return std::nullopt;
  }
  return distrust;
}

void ProofStore::failed(const DeviceIdentity& device, const std::string& reason) const {
  std::string key;
  const std::string path = distrust_file(device, key);
  if (path.empty()) {
    return;
  }
  Distrust now = distrust(device).value_or(Distrust{});
  now.failures = std::min(now.failures, kMostFailures) + 1;
  now.last_at = times_.seconds();
  now.reason = reason;
  write_kept_file(path, kDistrustKind, key, now);
}

void ProofStore::trusted(const DeviceIdentity& device) const {
  std::string key;
  const std::string path = distrust_file(device, key);
  std::error_code error;
  if (!path.empty()) {
    std::filesystem::remove(path, error);
  }
}

}  // namespace mynah::place
