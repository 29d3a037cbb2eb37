// PlacementState: what all stages of one process share: devices, workers, plans, what failed and
// what moved.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "place/device_request.h"
#include "place/discovery/discover.h"
#include "place/housekeeper.h"
#include "place/plans/plan.h"
#include "place/plans/profile.h"
#include "place/proofs/prover.h"
#include "place/status_page.h"
#include "place/workers/call_clock.h"
#include "place/workers/open_device.h"
#include "place/workers/stage_watch.h"
#include "place/workers/worker_pool.h"

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

// "; as i8 instead of f16" where all stages stay where they are with other types; else "".
[[nodiscard]] std::string types_that_change(const StagePlaces& before, const StagePlaces& after);

// A group that went on elsewhere in the middle of its work.
struct Move {
  StageGroup group = StageGroup::Stt;
  std::string from;       // devices_of()
  std::string to;         // "": refused
  std::string reason;     // "cuda:0 crashed in stt.decoder (signal 11, Segmentation fault)"
  std::string doubted{};  // what was given out and may be wrong: "clause 2"; "": nothing
  bool redone = true;     // work was under way, which is done there; else only what comes next is
};

// Why a stage is where it is.
struct StageChoice {
  StagePlan plan;
  std::optional<Measurement> measured;  // of the device that was chosen; none: nobody measured
};

// A device that was too full for a group's model.
struct DeviceNoRoom {
  std::string device;
  NoRoom no_room;
};

class PlacementState {
 public:
  explicit PlacementState(PlacerOptions options);
  ~PlacementState();

  // Ends what is done beside the work, for good: waits for what of it is under way. Not to be
  // called by that itself.
  void stop_tending();

  // A model that will be opened: all that are known are planned together.
  void expect(const ModelFile& file);

  // Device where a profile is named that places nothing of this group.
  [[nodiscard]] Status check_profile(StageGroup group) const;

  // Where a group goes now: of what the request allows, the best that is proven and did not fail.
  // Device where nothing is left, with the reasons; OutOfMemory where a device had no room.
  Result<StagePlaces> plan(StageGroup group);

  // The devices of `places` that are not the processor are not trusted from now on.
  void distrust(const StagePlaces& places, const Error& reason);

  // Memory of `places` did not suffice to open a group's model. Others may hold it: that is no
  // reason for distrust. What is smaller, or elsewhere, is next.
  void had_no_room(StageGroup group, const StagePlaces& places, const Error& error);

  // The same in the middle of work on `windows` together (0: it has none). Where they were several
  // half as many are heard together there from now on. Returns that, to be read behind the reason;
  // "": it was no matter of windows.
  std::string ran_out(StageGroup group, const StagePlaces& places, const Error& error,
                      size_t windows);

  // How many windows a group may hear together where it was planned to be.
  [[nodiscard]] size_t windows_together(StageGroup group) const;

  // Whether a group's worker ended with another group's work, which needs a new one too. Asked
  // once, it is forgotten.
  [[nodiscard]] bool take_lost_worker(StageGroup group);

  // A device that had too little memory for a group.
  [[nodiscard]] std::optional<DeviceNoRoom> no_room(StageGroup group) const;

  // A group's model was opened there; who preferred another device is told why, the first time.
  // places(): where it is, or was when it was let go; empty: it was not opened yet.
  void opened(StageGroup group, const StagePlaces& places);
  [[nodiscard]] StagePlaces places(StageGroup group) const;

  // Tells of a move, and keeps it for the answer.
  void moved(Move move);
  [[nodiscard]] std::vector<Move> moves() const;

  // The last plan's word on a stage; none where it was not planned.
  [[nodiscard]] std::optional<StageChoice> choice(Stage stage) const;

  // The word of the plan that a stage was opened by: of places(), whatever was planned since.
  [[nodiscard]] std::optional<StageChoice> opened_choice(Stage stage) const;

  // What was measured of steps where the group is planned to be now.
  [[nodiscard]] StepPace step_pace(StageGroup group) const;

  // A device of this process, as a stage sees it. A model that computes with it keeps it.
  Result<std::shared_ptr<Backend>> open_here(Stage stage, const StageDevice& where);

  // Whether a device that was asked for by name is there, as far as can be said without a context:
  // Device with the reason.
  Status check_named(const std::string& device);

  // The worker for these devices, to load the group's model in: it is kept for that until left() or
  // failed().
  Result<std::shared_ptr<WorkerProcess>> worker_for(StageGroup group, const StagePlaces& places);

  // A group's model is let go, or could not be loaded, and no device is to blame. Where nobody else
  // needs its worker, that ends.
  void left(StageGroup group);

  // A group's model failed where it was, or while it was loaded: workers on these devices end, and
  // the devices are not trusted. `doubts`: what nothing vouches for any more (Canary::doubts()).
  // False: the worker was lost before, by another group's work.
  bool failed(StageGroup group, const StagePlaces& places, const Error& reason,
              const std::string& doubts);

  // What can be asked of an opened group.
  struct GroupHooks {
    StageGroup group;
    std::function<Status()> settle;
    std::function<void(std::chrono::steady_clock::duration idle)> unload_after;
    std::function<std::optional<std::chrono::steady_clock::duration>()> idle;
  };

  void add(GroupHooks hooks);

  // Vouches for what was given out and not vouched for yet. An error where a device was wrong, and
  // no other is allowed.
  Status settle();

  // Of what the work is that a group does from now on: files, lines; to be named where it is
  // doubted. Empty: its pieces have numbers alone.
  void name_work(StageGroup group, std::vector<std::string> names);
  [[nodiscard]] std::vector<std::string> work_names(StageGroup group) const;

  // Grows whenever a device is trusted again that failed.
  [[nodiscard]] uint64_t trust() const { return trust_.load(); }

  // Of all stages that were opened, wherever they are; of what ended or was let go the last that
  // was known.
  [[nodiscard]] std::vector<StageReport> reports();

  // When the proof of what a stage computes on was made, in seconds since 1970.
  [[nodiscard]] std::optional<int64_t> proven_at(Stage stage);

  // The probe that a group's canary is compared with; an error where none can be had.
  Result<Reference> reference(StageGroup group);

  // What there is to compute on; found out when first asked for.
  [[nodiscard]] const Discovery& discovery();

  // What tells a device from another of the same name; what there is is found out for a card alone.
  [[nodiscard]] DeviceIdentity identity(const std::string& device);

  [[nodiscard]] Prover& prover() { return prover_; }

  // What is there now of what a profile was measured with; `digest`: of its model.
  [[nodiscard]] ProfileFacts profile_facts(const Profile& profile, std::string digest);

  // Devices that a stage may be on, whatever failed.
  [[nodiscard]] std::vector<std::string> candidates(Stage stage);

  // The same of the devices of `places`, in its order.
  [[nodiscard]] std::vector<DeviceIdentity> identities(const StagePlaces& places);

  // A device with the storage type that a model has there when nobody says.
  [[nodiscard]] StageDevice usual_place(const ModelFile& file, const std::string& device) const;

  // What is free now: of the processor, and of cards where they count.
  [[nodiscard]] std::vector<DeviceMemory> memory(bool cards);

  [[nodiscard]] const PlacerOptions& options() const { return options_; }

 private:
  // A device that was too full for a group, and since when.
  struct FullDevice {
    NoRoom no_room;
    Distrust since;
  };

  struct HereBackend {
    explicit HereBackend(Backend& device) : backend(device, &clock) {}

    CallClock clock;
    WatchedBackend backend;
  };

  struct HereStage {
    std::string device;
    std::shared_ptr<HereBackend> timed;  // null: the stage is not in this process
  };

  // What was known last of a stage on a device.
  struct LastReport {
    StageReport report;
    std::weak_ptr<WorkerProcess> worker;  // that it is of; none: this process
  };

  // The type that the user wants, else what is usual on a device; of no device ("") none.
  [[nodiscard]] std::optional<DType> storage_of(Stage stage, const std::string& device) const;
  [[nodiscard]] WorkerSpec worker_on(const std::string& devices) const;
  [[nodiscard]] std::optional<ModelFile> file_of(StageGroup group) const;
  // Why a device is out of the question for a group in this type, to be read behind its name; "":
  // it is not. `no_room`: whether it is for want of memory.
  [[nodiscard]] std::string why_excluded(StageGroup group, const StageDevice& where, bool& no_room);
  // Why a card that is named is not among what was found, to be read behind its name.
  [[nodiscard]] std::string why_not_here();
  // The cards that nothing can compute on, or the one entry that says why there is none.
  [[nodiscard]] std::vector<OtherDevice> unusable_cards();
  [[nodiscard]] StageDevices wanted(Stage stage) const;
  // Whether the request names the device for any of a group's stages.
  [[nodiscard]] bool is_named(StageGroup group, const std::string& device) const;
  // The types to prove on a device, the largest first: each where the one before had no room.
  [[nodiscard]] std::vector<std::optional<DType>> types_on(const ModelFile& file,
                                                           const std::string& device) const;

  // How it went to measure a model on a device as one type.
  struct Tried {
    std::string refusal;  // "": it is measured, or failed
    bool no_room = false;
  };

  Tried measure_as(const ModelFile& file, const StageDevice& where, PlanInput& input);
  void measure_device(const ModelFile& file, const std::string& device, PlanInput& input);
  void measure_smaller_types(const ModelFile& file, PlanInput& input);
  Result<bool> measure(const ModelFile& file, PlanInput& input);
  [[nodiscard]] bool stays(StageGroup group, PlanInput& input) const;
  // The profile that is of this model: by its file; else by its name, since the file may have
  // changed; null: none.
  [[nodiscard]] const Profile* profile_of(const ModelFile& file, const std::string& digest) const;
  // Whether a profile places this model. Device where it no longer holds, or was named and is of
  // another; one that is in use and of another model is told of and passed over.
  [[nodiscard]] Result<bool> has_profile(const ModelFile& file);
  // Device where one that is in use for this model cannot be read; of which model others are that
  // cannot be read may not be known, and is told.
  [[nodiscard]] Status check_readable(const ModelFile& file);
  // What the profile says of a stage that it places; null: nothing.
  [[nodiscard]] const Measurement* profiled(Stage stage) const;
  // The same of a model's stages that it puts on a device as a type of its choice.
  [[nodiscard]] std::vector<const Measurement*> profiled_on(const ModelFile& file,
                                                            const std::string& device) const;
  // Where a profile puts this model's stages, where they are apart as it says; else empty.
  [[nodiscard]] StagePlaces profiled_apart(const ModelFile& file) const;
  void measure_profiled_apart(const ModelFile& file, const StagePlaces& places,
                              const std::string& device, PlanInput& input);
  // make_plan(), with stages apart where that is better and proven; what is not proven yet is now,
  // twice at most.
  [[nodiscard]] Result<Plan> plan_apart(const std::vector<ModelFile>& files, PlanInput& input);
  // What stages took that are apart, or how they failed: kept, or proven now where `left` allows;
  // none: nothing is known.
  [[nodiscard]] std::optional<StagesApart> measure_apart(const ModelFile& file,
                                                         const StagePlaces& places, int& left);
  void note_no_room_apart(const StagePlaces& places, const Error& error);
  [[nodiscard]] std::vector<DeviceMemory> card_memory();
  // How much of a card our own workers hold, as its driver counts; else as was planned.
  [[nodiscard]] uint64_t held_here(const CardMemory& card) const;
  void forget_computed();
  // What a stage of this process did. Wants the lock.
  [[nodiscard]] StageReport report_here(Stage stage) const;
  // What the stages of a worker, or of all, did: of those that live. It is kept for reports().
  std::vector<StageReport> ask_for_report(const std::shared_ptr<WorkerProcess>& worker);
  std::vector<StageReport> ask_for_reports();
  // The same of a worker that may have ended, as far as it showed what it did.
  void keep_last_sign(StageGroup group);
  // What is done from time to time: letting go, proving again, telling `mynah ps`.
  void tend();
  void prove_again();
  void try_full_again();
  // Ends the worker that a group has a model in, and all others on these devices. False: it was
  // ended before.
  bool end_worker(StageGroup group, const StagePlaces& places, const std::string& reason);
  void note_no_room(StageGroup group, const StageDevice& where, NoRoom no_room);
  [[nodiscard]] bool may_be_on(const ModelFile& file, const std::string& device);
  [[nodiscard]] DeviceProof prove_behind(const ModelFile& file, const StageDevice& where);
  // Why a device that failed is not to be used yet; "": every model that may be there passed.
  [[nodiscard]] std::string why_still_excluded(const std::string& device);
  [[nodiscard]] Status ask_whether_there(const std::string& device);
  [[nodiscard]] std::string status_text() const;
  // "cuda:0 was preferred, but it is not here"; "": it is where it was wanted most. Wants the lock.
  [[nodiscard]] std::string why_not_preferred(const StagePlaces& places) const;

  PlacerOptions options_;
  DeviceRequest request_;  // with what the profile says; mutex_ is held for it
  Prover prover_;
  std::once_flag discovered_;
  Discovery discovery_;
  // What cards have free, asked again for a plan that comes later; memory_mutex_ is held for it.
  std::mutex memory_mutex_;
  std::chrono::steady_clock::time_point memory_asked_at_;
  std::vector<DeviceMemory> card_memory_;
  std::mutex planning_;  // one plan at a time: proofs take a while
  mutable std::mutex mutex_;
  std::vector<ModelFile> files_;
  // Devices that failed in this process. Also kept in files, as long as those can be written.
  std::map<std::string, Distrust> excluded_;
  std::map<std::pair<StageGroup, StageDevice>, FullDevice> no_room_;   // for weights of this type
  std::map<StagePlaces, Distrust> no_room_apart_;                      // for stages that are apart
  std::map<std::pair<StageGroup, std::string>, size_t> most_windows_;  // where memory ran out
  std::map<StageGroup, size_t> windows_together_;                      // as planned
  std::set<StageGroup> lost_workers_;
  // That a profile of options_ places; planning_ is held where it changes, mutex_ too.
  std::map<StageGroup, const Profile*> profiled_;
  std::set<StageGroup> told_of_profile_;  // that what is in use is of another model
  std::set<std::string> told_unreadable_;
  std::array<std::optional<StageChoice>, kStages.size()> choices_;
  std::array<std::optional<StageChoice>, kStages.size()> opened_choices_;
  std::vector<Move> moves_;
  std::map<StageGroup, std::vector<std::string>> work_names_;
  std::map<StageGroup, StagePlaces> places_;                          // of what is open
  std::map<StageGroup, StagePlaces> last_places_;                     // and of what was
  std::map<std::pair<Stage, std::string>, LastReport> last_reports_;  // by stage and device
  std::vector<GroupHooks> hooks_;
  // Of this process.
  std::map<std::string, OpenedDevice> devices_;
  std::array<HereStage, kStages.size()> stages_;
  WorkerPool workers_;
  std::atomic<uint64_t> trust_{0};
  std::optional<StatusPage> page_;
  Housekeeper housekeeper_;  // the first to go
};

// The storage type when nobody says: on the processor int8, which is several times as fast as a
// file's own f16 or f32 and is heard as well (bench/hear.py, bench/speak.py), on a card f16; the
// file's own where exact arithmetic is wanted, or a device that is there to check others against.
[[nodiscard]] std::optional<DType> fast_storage(Precision precision, const std::string& device);

}  // namespace mynah::place
