#include "place/proof_store.h"

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "base/atomic_file.h"
#include "base/mapped_file.h"
#include "place/wire_types.h"
#include "store/sha256.h"

namespace mynah::place {

template <class Archive>
static void wire(Archive& a, WakeState& v) {
  a(v.boot_id, v.suspended_ms);
}

template <class Archive>
static void wire(Archive& a, Proof& v) {
  a(v.measurements, v.made_at);
}

template <class Archive>
static void wire(Archive& a, Distrust& v) {
  a(v.failures, v.last_at, v.reason);
}

namespace {

constexpr std::string_view kProofKind = "mynah proof 1";
constexpr std::string_view kDistrustKind = "mynah distrust 1";

int64_t milliseconds_of(clockid_t clock) {
  timespec time{};
  ::clock_gettime(clock, &time);
  return static_cast<int64_t>(time.tv_sec) * 1000 + time.tv_nsec / 1000000;
}

int64_t seconds_now() {
  return static_cast<int64_t>(::time(nullptr));
}

std::string name_of(const std::string& key) {
  return sha256_hex(std::as_bytes(std::span(key))).substr(0, 32);
}

template <class... T>
bool read_file(const std::string& file, std::string_view kind, const std::string& key,
               T&... values) {
  const auto mapped = MappedFile::open(file);
  std::string found_kind;
  std::string found_key;
  return mapped && read_wire((*mapped)->bytes(), found_kind, found_key, values...) &&
         found_kind == kind && found_key == key;
}

template <class... T>
void write_file(const std::string& file, std::string_view kind, const std::string& key,
                const T&... values) {
  std::error_code error;
  std::filesystem::create_directories(std::filesystem::path(file).parent_path(), error);
  WireWriter writer;
  writer(std::string(kind), key, values...);
  if (auto out = AtomicFile::create(file); out && out->write(writer.bytes())) {
    (void)out->commit();
  }
}

}  // namespace

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
  const int doublings = std::clamp(failures - 1, 0, 20);
  return last_at + std::min(kLongest_s, kFirst_s << doublings);
}

ProofStore::ProofStore(std::string folder, std::string build)
    : folder_(std::move(folder)), build_(std::move(build)) {}

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
  if (path.empty() || !read_file(path, kProofKind, key, then, proof) ||
      !WakeState::now().awake_since(then)) {
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
    write_file(path, kProofKind, key, WakeState::now(), proof);
  }
}

std::optional<Distrust> ProofStore::distrust(const DeviceIdentity& device) const {
  std::string key;
  const std::string path = distrust_file(device, key);
  Distrust distrust;
  if (path.empty() || !read_file(path, kDistrustKind, key, distrust)) {
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
  ++now.failures;
  now.last_at = seconds_now();
  now.reason = reason;
  write_file(path, kDistrustKind, key, now);
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
