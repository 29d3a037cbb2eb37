// Openings: what is open in this process and its workers, where, who may ask it for what, and what
// it did: of what ended, too.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "place/plans/plan.h"
#include "place/state/placement_context.h"
#include "place/workers/call_clock.h"
#include "place/workers/open_device.h"
#include "place/workers/worker_pool.h"

namespace mynah::place {

// Why a stage is where it is.
struct StageChoice {
  StagePlan plan;
  std::optional<Measurement> measured;  // of the device that was chosen; none: nobody measured
};

// Of one model.
using ChosenStages = std::map<Stage, StageChoice>;

// A model that went on elsewhere in the middle of its work.
struct Move {
  ModelId model;
  std::string from;       // devices_of()
  std::string to;         // "": refused
  std::string reason;     // "cuda:0 crashed in stt.decoder (signal 11, Segmentation fault)"
  std::string doubted{};  // what was given out and may be wrong: "clause 2"; "": nothing
  bool redone = true;     // work was under way, which is done there; else only what comes next is
};

// What can be asked of an opened model.
struct ModelHooks {
  ModelId model;
  std::weak_ptr<const void> of{};  // that is asked; gone: there is nothing to be asked any more
  std::function<Status()> settle;
  std::function<void(std::chrono::steady_clock::duration idle)> unload_after;
  std::function<std::optional<std::chrono::steady_clock::duration>()> idle;
};

// A stage that is loaded now.
struct LoadedStage {
  ModelStage stage;
  StageDevice where;
  std::optional<uint64_t> held_here;  // by its device in this process; none: it is in a worker
  std::chrono::steady_clock::duration idle;
};

// What a model's stage did on a device.
struct ModelReport {
  ModelId model;
  StageReport told;
};

// Thread-safe. Its lock is held for moments, and for the opening of the processor; no worker and no
// model is asked for anything meanwhile.
class Openings {
 public:
  explicit Openings(PlacementContext& context) : context_(context) {}

  // A device of this process, as a stage sees it. A model that computes with it keeps it.
  Result<std::shared_ptr<Backend>> open_here(ModelId model, Stage stage, const StageDevice& where);

  // A lane in the worker for these devices, to load the model in: it is kept until left() or
  // lose_worker().
  Result<std::shared_ptr<WorkerLane>> worker_for(ModelId model, const StagePlaces& places);

  // Whether a device that was asked for by name is there, as far as can be said without a context:
  // Device with the reason.
  Status check_named(const std::string& device);

  // A model was opened there, by the choices of a plan. Whether it is the first time, and it moved
  // for no reason that was told.
  bool opened(ModelId model, const StagePlaces& places, const ChosenStages& choices);

  // A model is let go, or could not be loaded, and no device is to blame. Where nobody else needs
  // its worker, that ends.
  void left(ModelId model);

  // The same of one that nobody has any more, of which its worker is not asked what it did. Not
  // where the same model was opened twice, and somebody still has it.
  void gone(ModelId model);

  // Ends the worker that a model is in, and all others on these devices. False: it was ended
  // before, by another model's work.
  bool lose_worker(ModelId model, const StagePlaces& places, const std::string& reason);

  // The other models whose worker ends with this one's need a new one too, which each of them hears
  // when it asks for it, once.
  void share_loss(ModelId model, const StagePlaces& places);
  [[nodiscard]] bool take_lost_worker(ModelId model);

  // Where a model is, or was when it was let go; empty: it was not opened yet.
  [[nodiscard]] StagePlaces places(ModelId model) const;

  // Where each model is that is open.
  [[nodiscard]] std::map<ModelId, StagePlaces> open_places() const;

  // The word of the plan that a stage was opened by: of places(), whatever was planned since.
  [[nodiscard]] std::optional<StageChoice> choice(ModelId model, Stage stage) const;

  // A lane of the worker that computes in these places; null: none lives.
  [[nodiscard]] std::shared_ptr<WorkerLane> living_worker(const StagePlaces& places) const {
    return workers_.living(worker_key(places));
  }

  // Tells of a move, and keeps it for the answer. Where it goes nowhere and others compute with the
  // same file, it goes to them.
  void moved(Move move);
  [[nodiscard]] std::vector<Move> moves() const;

  // Of what the work is that a model does from now on: files, lines; to be named where it is
  // doubted. Empty: its pieces have numbers alone.
  void name_work(ModelId model, std::vector<std::string> names);
  [[nodiscard]] std::vector<std::string> work_names(ModelId model) const;

  // How long a model's stages stay loaded that nothing is asked of, in place of what the options
  // say; duration::max(): for ever; none: as they say.
  void keep_alive(ModelId model, std::optional<std::chrono::steady_clock::duration> idle);
  [[nodiscard]] std::optional<std::chrono::steady_clock::duration> keep_alive_of(
      ModelId model) const;

  void add(ModelHooks hooks);
  [[nodiscard]] std::vector<ModelHooks> hooks() const;

  // Of all stages that were opened, wherever they are; of what ended or was let go the last that
  // was known.
  [[nodiscard]] std::vector<ModelReport> reports();

  // The same of the stages that workers have now.
  std::vector<StageReport> ask_workers();

  [[nodiscard]] std::vector<LoadedStage> loaded() const;

  [[nodiscard]] std::vector<pid_t> worker_pids() const { return workers_.pids(); }

 private:
  [[nodiscard]] std::string beside(ModelId model) const;

  struct HereBackend {
    explicit HereBackend(const OpenedDevice& device)
        : clock(device.pool.get()), backend(*device.backend, &clock) {}

    CallClock clock;
    WatchedBackend backend;
  };

  struct HereStage {
    std::string device;
    std::shared_ptr<HereBackend> timed;
  };

  // What was known last of a stage on a device.
  struct LastReport {
    StageReport report;
    std::weak_ptr<WorkerLane> worker;  // that it is of; none: this process
  };

  [[nodiscard]] WorkerSpec worker_on(const std::string& devices) const;
  [[nodiscard]] Status ask_whether_there(const std::string& device);
  // What a stage of this process did. Wants the lock.
  [[nodiscard]] static StageReport report_of(Stage stage, const HereStage& here);
  // What the stages of a worker did, where it lives. It is kept for reports().
  std::vector<StageReport> ask_for_report(const LentLane& lent);
  // It is open no more, and its worker may be let go.
  void give_back(ModelId model);
  // The same of the model's worker; nothing where it is in none.
  void ask_worker_of(ModelId model);
  // The same of a worker that may have ended, as far as it showed what it did.
  void keep_last_sign(ModelId model);

  PlacementContext& context_;
  mutable std::mutex mutex_;
  std::map<ModelId, StagePlaces> places_;       // of what is open
  std::map<ModelId, StagePlaces> last_places_;  // and of what was
  std::map<ModelStage, StageChoice> choices_;
  std::set<ModelId> lost_workers_;
  std::vector<Move> moves_;
  std::map<ModelId, std::vector<std::string>> work_names_;
  std::map<ModelId, std::chrono::steady_clock::duration> keep_alive_;
  std::vector<ModelHooks> hooks_;
  std::map<std::pair<ModelStage, std::string>, LastReport> last_reports_;  // and by device
  std::map<std::string, OpenedDevice> devices_;                            // of this process
  std::map<ModelStage, HereStage> here_;                                   // that compute on those
  WorkerPool workers_;
};

}  // namespace mynah::place
