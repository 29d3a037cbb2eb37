// PlacementContext: what stands under all of placement in one process: what it was told, what there
// is to compute on, who proves it, and which models are to be placed.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "place/elsewhere/mynah_facts.h"
#include "place/state/placer_options.h"
#include "place/terms/growing_memory.h"
#include "place/terms/model_id.h"

namespace mynah::place {

// A model that is to be placed.
struct ExpectedModel {
  ModelId id;
  ModelFile file;
};

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

  // What another mynah that the request names tells of itself, asked when it is first needed. A
  // refusal is to be read behind its name: "cannot be reached: ...".
  Result<MynahFacts> mynah(const std::string& device);

  // It is asked anew the next time.
  void forget_mynah(const std::string& device);

  // Ends a question that is under way, from any thread; none is asked any more.
  void leave_mynahs() { mynahs_end_.request_stop(); }

  // What tells a device from another of the same name; what there is is found out for a card alone,
  // and for another mynah.
  [[nodiscard]] DeviceIdentity identity(const std::string& device);

  // The same of the devices of `places`, in its order.
  [[nodiscard]] std::vector<DeviceIdentity> identities(const StagePlaces& places);

  // A model that will be opened, and what it is called from now on: as before where it was expected
  // before. Another file of a kind is another model and takes nobody's place, since who has the
  // first one open goes on with it: it keeps its places, choices and failures. Of a kind the newest
  // is planned with models of other kinds. `only`: the same file there alone; none: whichever of
  // this file came first.
  ModelId expect(const ModelFile& file, const std::optional<StageDevices>& only = std::nullopt);

  // What a model's stages need beside what is measured of them; said again it counts from then on.
  void note_growing(ModelId model, std::map<Stage, GrowingMemory> growing);

  // None: nothing of it grows.
  [[nodiscard]] std::optional<GrowingMemory> growing(ModelId model, Stage stage) const;

  // In the order in which they were expected last.
  [[nodiscard]] std::vector<ExpectedModel> models() const;

  // None: no such model was expected.
  [[nodiscard]] std::optional<ModelFile> file(ModelId model) const;

  // Where all its stages may be, whatever else is wished: of one of several that compute beside
  // each other.
  [[nodiscard]] std::optional<StageDevices> only(ModelId model) const;

  // All that compute with the same file as this one, which is among them, in the order in which
  // they were expected first.
  [[nodiscard]] std::vector<ModelId> beside(ModelId model) const;

  // The probe that a model's canary is compared with; an error where none can be had.
  Result<Reference> reference(ModelId model);

 private:
  PlacerOptions options_;
  Prover prover_;
  std::once_flag discovered_;
  Discovery discovery_;
  std::chrono::steady_clock::time_point discovered_at_;
  std::stop_source mynahs_end_;
  std::mutex mynahs_mutex_;  // one of them is asked at a time
  std::map<std::string, Result<MynahFacts>> mynahs_;
  mutable std::mutex mutex_;
  std::vector<ExpectedModel> models_;
  std::map<ModelId, StageDevices> only_;
  std::map<ModelId, std::map<Stage, GrowingMemory>> growing_;
  std::stop_callback<std::function<void()>> on_stop_;  // the first to go
};

}  // namespace mynah::place
