#include "place/proofs/proof_store.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <span>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/unique_fd.h"
#include "place/proofs/kept_file.h"
#include "place/proofs/kept_types.h"
#include "place/wire/possible.h"
#include "store/files.h"
#include "store/sha256.h"

namespace mynah::place {

namespace {

// Seconds and numbers beyond are none.
constexpr int64_t kLatest = int64_t{1} << 60;

int64_t milliseconds_of(clockid_t clock) {
  timespec time{};
  ::clock_gettime(clock, &time);
  return static_cast<int64_t>(time.tv_sec) * 1000 + time.tv_nsec / 1000000;
}

std::string name_of(const std::string& key) {
  return sha256_hex(std::as_bytes(std::span(key))).substr(0, 32);
}

enum class Found : uint8_t { Nothing, Whole, Damaged };

// A file of a device's failures. Values of one that is damaged, or of another version of mynah,
// are not to be used.
Found read_failures(const std::string& path, const std::string& key, Distrust& distrust,
                    int64_t& number) {
  if (path.empty()) {
    return Found::Nothing;
  }
  if (read_kept_file(path, kDistrustKind, key, distrust, number)) {
    const bool possible = number > 0 && number < kLatest && distrust.failures >= 0 &&
                          distrust.last_at >= 0 && distrust.last_at < kLatest &&
                          distrust.trusted_at >= 0;
    return possible ? Found::Whole : Found::Damaged;
  }
  distrust = {};
  number = 0;
  std::error_code error;
  return std::filesystem::exists(path, error) ? Found::Damaged : Found::Nothing;
}

// Held by one process or thread at a time until it goes; none where the system cannot.
UniqueFd lock_folder(const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  UniqueFd lock(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  while (lock && ::flock(lock.get(), LOCK_EX) != 0 && errno == EINTR) {
  }
  return lock;
}

}  // namespace

int64_t seconds_now() {
  return static_cast<int64_t>(::time(nullptr));
}

WakeState WakeState::now() {
  static const std::string boot_id = [] {
    std::ifstream file("/proc/sys/kernel/random/boot_id");
    std::string line;
    std::getline(file, line);
    return line;
  }();
  // CLOCK_BOOTTIME goes on while the machine sleeps, CLOCK_MONOTONIC does not (clock_gettime(2)).
  // Asked in this order, a thread that waits in between makes it less: a proof that ends early.
  const int64_t since_start_ms = milliseconds_of(CLOCK_BOOTTIME);
  return {.boot_id = boot_id, .suspended_ms = since_start_ms - milliseconds_of(CLOCK_MONOTONIC)};
}

bool WakeState::awake_since(const WakeState& earlier) const {
  constexpr int64_t kReadApart_ms = 100;  // the two clocks are not read at once
  return boot_id != earlier.boot_id || suspended_ms <= earlier.suspended_ms + kReadApart_ms;
}

ProofStore::ProofStore(std::string folder, std::string build, ProofTimes times)
    : folder_(std::move(folder)), build_(std::move(build)), times_(std::move(times)) {}

Status ProofStore::check_writable() const {
  if (folder_.empty()) {
    return fail(ErrorCode::Io, "there is no cache folder");
  }
  const std::string folder = (std::filesystem::path(folder_) / "proofs").string();
  MYNAH_TRY_STATUS(make_folders(folder));
  if (::access(folder.c_str(), W_OK | X_OK) != 0) {
    return fail(ErrorCode::Io,
                fmt::format("cannot write into {}: {}", folder, std::strerror(errno)));
  }
  return {};
}

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

std::string ProofStore::apart_file(const std::vector<DeviceIdentity>& devices,
                                   const ModelFile& file, const StagePlaces& places,
                                   std::string& key) const {
  const auto digest = model_digest(path_of(file), folder_);
  if (folder_.empty() || !digest) {
    return {};
  }
  key = fmt::format("{}\n{}\n{}\n{}", build_, *digest, group_name(group_of(file)),
                    lower_layers_of(file));
  size_t number = 0;
  for (const auto& [stage, where] : places) {
    const DeviceIdentity& device = devices.at(number++);
    key += fmt::format("\n{}\n{}\n{}\n{}\n{}\n{}", stage_name(stage), device.device, device.name,
                       device.driver, device.uuid, where.storage ? name(*where.storage) : "file");
  }
  return (std::filesystem::path(folder_) / "proofs" / (name_of(key) + ".proof")).string();
}

std::optional<Proof> ProofStore::read(const std::string& path, const std::string& key,
                                      StageGroup group) const {
  WakeState then;
  Proof proof;
  if (path.empty() || !read_kept_file(path, kProofKind, key, then, proof) ||
      !is_possible(proof.measurements, group) || !times_.wake().awake_since(then)) {
    return std::nullopt;
  }
  return proof;
}

std::optional<Proof> ProofStore::find(const DeviceIdentity& device, const ModelFile& file,
                                      const std::optional<DType>& storage) const {
  std::string key;
  const std::string path = proof_file(device, file, storage, key);
  std::optional<Proof> proof = read(path, key, group_of(file));
  return proof && proof->last_failure == last_failure(device) ? std::move(proof) : std::nullopt;
}

std::optional<Proof> ProofStore::find_apart(const std::vector<DeviceIdentity>& devices,
                                            const ModelFile& file,
                                            const StagePlaces& places) const {
  std::string key;
  const std::string path = apart_file(devices, file, places, key);
  std::optional<Proof> proof = read(path, key, group_of(file));
  return proof && proof->last_failure == last_failure_of_any(devices) ? std::move(proof)
                                                                      : std::nullopt;
}

void ProofStore::keep_apart(const std::vector<DeviceIdentity>& devices, const ModelFile& file,
                            const StagePlaces& places, const Proof& proof) const {
  std::string key;
  const std::string path = apart_file(devices, file, places, key);
  if (!path.empty()) {
    write_kept_file(path, kProofKind, key, times_.wake(), proof);
  }
}

// The numbers of failures grow, and so does their sum.
int64_t ProofStore::last_failure_of_any(const std::vector<DeviceIdentity>& devices) const {
  int64_t sum = 0;
  for (const DeviceIdentity& device : devices) {
    sum += last_failure(device);
  }
  return sum;
}

void ProofStore::keep(const DeviceIdentity& device, const ModelFile& file,
                      const std::optional<DType>& storage, const Proof& proof) const {
  std::string key;
  const std::string path = proof_file(device, file, storage, key);
  if (!path.empty()) {
    write_kept_file(path, kProofKind, key, times_.wake(), proof);
  }
}

ProofStore::Failures ProofStore::failures(const DeviceIdentity& device) const {
  std::string key;
  const std::string path = distrust_file(device, key);
  Failures kept;
  if (read_failures(path, key, kept.distrust, kept.number) != Found::Damaged) {
    return kept;
  }
  // What failed, and when, is not known: it may have been the moment before.
  change(device, [&kept](Failures& now) { kept = now; });
  return kept;
}

void ProofStore::change(const DeviceIdentity& device,
                        const std::function<void(Failures&)>& how) const {
  std::string key;
  const std::string path = distrust_file(device, key);
  if (path.empty()) {
    return;
  }
  const UniqueFd lock = lock_folder(std::filesystem::path(path).parent_path());
  Failures now;
  if (read_failures(path, key, now.distrust, now.number) == Found::Damaged) {
    now.number = times_.seconds();
  }
  how(now);
  if (now.number > 0) {
    write_kept_file(path, kDistrustKind, key, now.distrust, now.number);
  }
}

int64_t ProofStore::last_failure(const DeviceIdentity& device) const {
  return failures(device).number;
}

std::optional<Distrust> ProofStore::distrust(const DeviceIdentity& device) const {
  const Failures kept = failures(device);
  // A failure that is yet to come was noted while the clock was wrong: nobody waits for that.
  const bool counts = kept.distrust.is_open() && kept.distrust.last_at <= times_.seconds();
  return counts ? std::optional(kept.distrust) : std::nullopt;
}

void ProofStore::failed(const DeviceIdentity& device, const std::string& reason) const {
  const int64_t now = times_.seconds();
  change(device, [&](Failures& kept) {
    kept.distrust.failed(now, reason);
    // By the clock, so that the numbers grow even where the file before was thrown away.
    kept.number = std::max(kept.number + 1, now);
  });
}

void ProofStore::trusted(const DeviceIdentity& device, int64_t last_failure) const {
  if (!failures(device).distrust.is_open()) {
    return;
  }
  const int64_t now = times_.seconds();
  change(device, [&](Failures& kept) {
    if (kept.number == last_failure) {
      kept.distrust.trusted(now);
    }
  });
}

}  // namespace mynah::place
