#include "place/proofs/prover.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "backend/cpu/cpu_backend.h"
#include "place/terms/device_name.h"
#include "place/terms/time_text.h"

namespace mynah::place {
namespace {

constexpr const char* kEnds = "was not proven, since mynah ends";

DeviceProof not_tried(const ModelFile& file, const StagePlaces& places, std::string refusal) {
  return {.measurements = not_passed(group_of(file), places, "it " + refusal),
          .refusal = std::move(refusal),
          .no_room = {}};
}

// Of the processor, as exact or as fast as the model is wanted.
std::vector<Measurement> cpu_times(const ModelFile& file, Reference found) {
  return is_wanted_exact(file) ? std::move(found.cpu_exact) : std::move(found.cpu);
}

}  // namespace

DeviceIdentity identity_without_discovery(const std::string& device) {
  return {.device = device,
          .name = device == "cpu" ? cpu_instruction_sets().back() : device,
          .driver = {},
          .uuid = {}};
}

DeviceIdentity identity_of(const std::string& device, const Discovery& discovery) {
  DeviceIdentity identity = identity_without_discovery(device);
  if (!card_index(device)) {
    return identity;
  }
  const auto found = std::ranges::find(discovery.devices, device, &DeviceFacts::name);
  if (found == discovery.devices.end()) {
    return identity;
  }
  if (!found->model.empty()) {
    identity.name = found->model;
  }
  if (found->card) {
    identity.driver = !found->card->driver_release.empty() ? found->card->driver_release
                                                           : found->card->kernel_release;
    if (identity.driver.empty() && found->card->driver_version > 0) {
      identity.driver = fmt::format("CUDA {}.{}", found->card->driver_version / 1000,
                                    found->card->driver_version % 1000 / 10);
    }
    identity.uuid = found->card->device.uuid;
  }
  return identity;
}

Prover::Prover(ProverOptions options)
    : options_(std::move(options)), store_(options_.cache_folder, options_.build, options_.times) {}

WorkerSpec Prover::worker(const std::string& device) const {
  return {.program = options_.worker_program,
          .device = device,
          .settings = options_.settings,
          .faults = {},
          .stop = options_.stop};
}

Result<Reference> Prover::reference(const ModelFile& file) {
  const std::lock_guard lock(mutex_);
  const auto known = references_.find(path_of(file));
  if (known != references_.end()) {
    return known->second;
  }
  MYNAH_TRY(Reference found,
            find_reference(file, worker("cpu"), options_.cache_folder, options_.build));
  return references_.emplace(path_of(file), std::move(found)).first->second;
}

Result<std::vector<Measurement>> Prover::of_cpu(const ModelFile& file) {
  MYNAH_TRY(Reference found, reference(file));
  return cpu_times(file, std::move(found));
}

std::optional<std::vector<Measurement>> Prover::kept_of_cpu(const ModelFile& file) {
  const std::lock_guard lock(mutex_);
  if (const auto known = references_.find(path_of(file)); known != references_.end()) {
    return cpu_times(file, known->second);
  }
  auto kept = kept_reference(file, options_.settings, options_.cache_folder, options_.build);
  return kept ? std::optional(cpu_times(file, *std::move(kept))) : std::nullopt;
}

std::string Prover::keeping() {
  const Status writable = store_.check_writable();
  if (writable) {
    return " (kept for the next time)";
  }
  const std::lock_guard lock(proving_mutex_);
  return std::exchange(told_unwritable_, true)
             ? std::string()
             : fmt::format(" (not kept for the next time: {}; XDG_CACHE_HOME names another folder)",
                           writable.error().message);
}

DeviceProof Prover::prove_now(const ModelFile& file, const StagePlaces& places, ProofWish wish) {
  if (options_.stop.stop_requested()) {
    return not_tried(file, places, kEnds);
  }
  if (wish == ProofWish::Behind) {
    return prove_in_worker(file, places);
  }
  const std::string what =
      fmt::format("proving {} for {}", devices_of(places), group_name(group_of(file)));
  if (options_.tell) {
    options_.tell(what + keeping());
  }
  const auto began = std::chrono::steady_clock::now();
  DeviceProof proof = prove_in_worker(file, places);
  const auto took = std::chrono::steady_clock::now() - began;
  {
    const std::lock_guard lock(proving_mutex_);
    waited_ = waited_.value_or(std::chrono::steady_clock::duration::zero()) + took;
  }
  if (options_.tell && took > options_.slow && !options_.stop.stop_requested()) {
    options_.tell(
        fmt::format("{} took {}", what, time_text(std::chrono::duration<double>(took).count())));
  }
  return proof;
}

DeviceProof Prover::prove_in_worker(const ModelFile& file, const StagePlaces& places) {
  const Result<Reference> expected = reference(file);
  if (!expected) {
    return not_tried(
        file, places,
        "was not proven, since there is nothing to compare it with: " + expected.error().message);
  }
  const std::string key = worker_key(places);
  WorkerSpec spec = worker(key.empty() ? "cpu" : key);
  spec.faults = options_.faults;
  // Two may be under way: one that somebody waits for, and one of the housekeeper.
  std::shared_ptr<WorkerLane> mine;
  DeviceProof proof = prove(
      file, places, *expected, spec,
      [this, &mine](const std::shared_ptr<WorkerLane>& worker) {
        const std::lock_guard lock(proving_mutex_);
        mine = worker;
        proving_.push_back(worker);
        if (cancelled_) {
          worker->cancel();
        }
      },
      living_ ? living_(places) : nullptr);
  {
    const std::lock_guard lock(proving_mutex_);
    std::erase(proving_, mine);
  }
  mine.reset();
  const bool bad = std::ranges::count(proof.measurements, false, &Measurement::passed) > 0;
  if (cancelled_ || (options_.stop.stop_requested() && bad)) {
    return not_tried(file, places, kEnds);
  }
  return proof;
}

DeviceProof Prover::of_device(const ModelFile& file, const StageDevice& where,
                              const DeviceIdentity& identity, ProofWish wish) {
  const StagePlaces places = all_on(group_of(file), where);
  if (wish != ProofWish::Anew && wish != ProofWish::Behind) {
    if (auto kept = store_.find(identity, file, where.storage)) {
      return {.measurements = std::move(kept->measurements), .refusal = {}, .no_room = {}};
    }
  }
  const int64_t now = options_.times.seconds();
  const int64_t last_failure = store_.last_failure(identity);
  if (const auto distrust = store_.distrust(identity);
      distrust && wish == ProofWish::IfTrusted && distrust->waits(now)) {
    return not_tried(
        file, places,
        fmt::format("failed {} ago: {}; it is proven again in {}",
                    time_text(static_cast<double>(now - distrust->last_at)), distrust->reason,
                    time_text(static_cast<double>(distrust->again_at() - now))));
  }
  DeviceProof proof = prove_now(file, places, wish);
  if (proof.no_room) {
    if (store_.distrust(identity)) {
      store_.failed(identity, "it " + proof.refusal);  // it is still to show that it works
    }
    return proof;
  }
  if (!proof.refusal.empty()) {
    return proof;
  }
  const auto bad = std::ranges::find(proof.measurements, false, &Measurement::passed);
  if (bad == proof.measurements.end()) {
    store_.trusted(identity, last_failure);
    store_.keep(identity, file, where.storage,
                {.measurements = proof.measurements, .made_at = now, .last_failure = last_failure});
  } else {
    store_.failed(identity, bad->failure);
  }
  return proof;
}

std::optional<Proof> Prover::kept_apart(const ModelFile& file, const StagePlaces& places,
                                        const std::vector<DeviceIdentity>& identities) const {
  return store_.find_apart(identities, file, places);
}

DeviceProof Prover::of_stages_apart(const ModelFile& file, const StagePlaces& places,
                                    const std::vector<DeviceIdentity>& identities, ProofWish wish) {
  if (wish != ProofWish::Anew && wish != ProofWish::Behind) {
    if (auto kept = kept_apart(file, places, identities)) {
      return {.measurements = std::move(kept->measurements), .refusal = {}, .no_room = {}};
    }
  }
  const int64_t now = options_.times.seconds();
  std::vector<int64_t> failures;
  failures.reserve(identities.size());
  for (const DeviceIdentity& identity : identities) {
    failures.push_back(store_.last_failure(identity));
  }
  const int64_t last_failure = store_.last_failure_of_any(identities);
  DeviceProof proof = prove_now(file, places, wish);
  if (proof.refusal.empty()) {
    if (std::ranges::all_of(proof.measurements, &Measurement::passed)) {
      for (size_t i = 0; i < identities.size(); ++i) {
        store_.trusted(identities[i], failures[i]);
      }
    }
    store_.keep_apart(
        identities, file, places,
        {.measurements = proof.measurements, .made_at = now, .last_failure = last_failure});
  }
  return proof;
}

void Prover::cancel() {
  cancelled_ = true;
  const std::lock_guard lock(proving_mutex_);
  for (const auto& worker : proving_) {
    worker->cancel();
  }
}

std::optional<std::chrono::steady_clock::duration> Prover::waited() const {
  const std::lock_guard lock(proving_mutex_);
  return waited_;
}

void Prover::failed(const DeviceIdentity& identity, const std::string& reason) {
  store_.failed(identity, reason);
}

std::optional<int64_t> Prover::proven_at(const ModelFile& file, const StageDevice& where,
                                         const DeviceIdentity& identity) const {
  const auto kept = store_.find(identity, file, where.storage);
  return kept ? std::optional(kept->made_at) : std::nullopt;
}

}  // namespace mynah::place
