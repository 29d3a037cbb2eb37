// Prover: the measurements that planning needs, from what was kept or by proving now.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "place/discovery/device_identity.h"
#include "place/discovery/discover.h"
#include "place/proofs/proof_store.h"
#include "place/proofs/prove.h"
#include "place/proofs/reference.h"

namespace mynah::place {

struct ProverOptions {
  std::string worker_program;
  DeviceSettings settings;
  std::string cache_folder;  // of references and proofs; empty: nothing is kept
  std::string build;         // of this program
  std::vector<Fault> faults;
  // Of what takes a while and somebody waits for, on the thread that does; may be empty.
  std::function<void(const std::string& line)> tell;
  ProofTimes times{};
  std::stop_token stop{};  // the user's: no proof is begun any more, and none goes on
  // A proof that took longer than that is told of when it is over, too.
  std::chrono::milliseconds slow{10000};
};

// How much somebody wants a proof.
enum class ProofWish : uint8_t {
  IfTrusted,  // not while a device that failed is to be left alone
  Asked,      // it was asked for by name: at once
  Anew,       // whatever was kept
  Behind,     // the same, while nobody waits: nobody is told of it
};

class Prover {
 public:
  // A lane of a worker of this process that has a model in these places; null: none is needed, or
  // none lives.
  using LivingWorker = std::function<std::shared_ptr<WorkerLane>(const StagePlaces& places)>;

  explicit Prover(ProverOptions options);

  // Proofs are made in what `living` returns, and in processes of their own where that is nothing.
  // To be said before anything is proven.
  void prove_in(LivingWorker living) { living_ = std::move(living); }

  // What the processor makes of the model, computed when first asked for. Thread-safe, as all of
  // this.
  Result<Reference> reference(const ModelFile& file);

  // The processor's measurements of the model's stages.
  Result<std::vector<Measurement>> of_cpu(const ModelFile& file);

  // The same where they are known already.
  [[nodiscard]] std::optional<std::vector<Measurement>> kept_of_cpu(const ModelFile& file);

  // A device's measurements: kept ones that hold, or those of a proof made now; or why there are
  // none. What had no room is tried again the next time: what holds the memory may be gone.
  DeviceProof of_device(const ModelFile& file, const StageDevice& where,
                        const DeviceIdentity& identity, ProofWish wish);

  // The same of stages apart, the model's on several devices; `identities` are those of `places`,
  // in its order. That they fail together says nothing of a device that passes alone: it is kept as
  // a failure of theirs, and tried again when a device, driver, program or model is another.
  DeviceProof of_stages_apart(const ModelFile& file, const StagePlaces& places,
                              const std::vector<DeviceIdentity>& identities, ProofWish wish);

  // What was kept of that, passed or not; none: nothing that holds.
  [[nodiscard]] std::optional<Proof> kept_apart(
      const ModelFile& file, const StagePlaces& places,
      const std::vector<DeviceIdentity>& identities) const;

  // Ends a proof that is under way, from any thread; none is made any more.
  void cancel();

  // A device failed in the middle of its work.
  void failed(const DeviceIdentity& identity, const std::string& reason);

  // Time at which a proof of it was made, in seconds since 1970; none: none holds.
  [[nodiscard]] std::optional<int64_t> proven_at(const ModelFile& file, const StageDevice& where,
                                                 const DeviceIdentity& identity) const;

  // How long somebody waited for proofs that were made now; none: none was.
  [[nodiscard]] std::optional<std::chrono::steady_clock::duration> waited() const;

  [[nodiscard]] const ProofStore& store() const { return store_; }

 private:
  [[nodiscard]] WorkerSpec worker(const std::string& device) const;
  // One proof, made now, whatever is known of the devices: who waits for it is told, and it counts
  // for waited().
  DeviceProof prove_now(const ModelFile& file, const StagePlaces& places, ProofWish wish);
  DeviceProof prove_in_worker(const ModelFile& file, const StagePlaces& places);
  // Whether a proof that is made now is kept, to be read behind what is told of it.
  [[nodiscard]] std::string keeping();

  ProverOptions options_;
  LivingWorker living_;
  ProofStore store_;
  std::mutex mutex_;
  std::map<std::string, Reference> references_;  // by path
  std::atomic<bool> cancelled_{false};
  mutable std::mutex proving_mutex_;
  std::vector<std::shared_ptr<WorkerLane>> proving_;           // the workers of proofs under way
  bool told_unwritable_ = false;                               // proving_mutex_ is held for it
  std::optional<std::chrono::steady_clock::duration> waited_;  // proving_mutex_ is held for it
};

// What tells a device from another, of those that were discovered; of ref and simt the name alone.
[[nodiscard]] DeviceIdentity identity_of(const std::string& device, const Discovery& discovery);

// Identity of a device that is no card, which needs none: looking for cards takes a while.
[[nodiscard]] DeviceIdentity identity_without_discovery(const std::string& device);

}  // namespace mynah::place
