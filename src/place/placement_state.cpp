#include "place/placement_state.h"

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "backend/cuda/cuda_backend.h"
#include "place/device_name.h"
#include "place/discovery/host.h"
#include "place/workers/driver_asker.h"
#include "store/packed_cache.h"
#include "store/sha256.h"

namespace mynah::place {

std::string types_that_change(const StagePlaces& before, const StagePlaces& after) {
  if (before == after || devices_of(before) != devices_of(after)) {
    return {};
  }
  const auto types = [](const StagePlaces& places) {
    std::set<std::string_view> names;
    for (const auto& [stage, where] : places) {
      names.insert(where.storage ? name(*where.storage) : "the file's own type");
    }
    return fmt::format("{}", fmt::join(names, " and "));
  };
  return fmt::format("; as {} instead of {}", types(after), types(before));
}

std::optional<DType> fast_storage(Precision precision, const std::string& device) {
  if (precision == Precision::Exact) {
    return std::nullopt;
  }
  if (device == "cpu") {
    return DType::I8;
  }
  return card_index(device) ? std::optional(DType::F16) : std::nullopt;
}

PlacementState::PlacementState(PlacerOptions options)
    : options_(std::move(options)),
      request_(options_.request),
      prover_({.worker_program = options_.worker_program,
               .settings = options_.settings,
               .cache_folder = options_.cache_folder,
               .build = options_.discovery.build,
               .faults = {},
               .tell = options_.tell,
               .times = options_.times,
               .stop = options_.stop}) {}

PlacementState::~PlacementState() {
  stop_tending();
}

void PlacementState::stop_tending() {
  prover_.cancel();
  housekeeper_.stop();
}

const Discovery& PlacementState::discovery() {
  std::call_once(discovered_, [this] {
    discovery_ = discover(options_.discovery);
    const std::lock_guard lock(memory_mutex_);
    memory_asked_at_ = std::chrono::steady_clock::now();
  });
  return discovery_;
}

DeviceIdentity PlacementState::identity(const std::string& device) {
  return card_index(device) ? identity_of(device, discovery()) : identity_without_discovery(device);
}

void PlacementState::expect(const ModelFile& file) {
  const std::lock_guard lock(mutex_);
  std::erase_if(files_, [&](const ModelFile& other) { return group_of(other) == group_of(file); });
  files_.push_back(file);
}

// What is done from time to time asks too, while a plan adds what a profile says.
StageDevices PlacementState::wanted(Stage stage) const {
  const std::lock_guard lock(mutex_);
  return request_.of(stage);
}

bool PlacementState::is_named(StageGroup group, const std::string& device) const {
  return std::ranges::any_of(stages_of(group), [&](Stage stage) {
    const StageDevices said = wanted(stage);
    return !said.automatic && std::ranges::find(said.devices, device) != said.devices.end();
  });
}

std::vector<std::string> PlacementState::candidates(Stage stage) {
  if (StageDevices said = wanted(stage); !said.devices.empty()) {
    return std::move(said.devices);
  }
  std::vector<std::string> names;
  for (const DeviceFacts& device : discovery().devices) {
    if (!device.name.empty() && !device.absence && is_for_auto(device.name)) {
      names.push_back(device.name);
    }
  }
  return names;
}

std::optional<ModelFile> PlacementState::file_of(StageGroup group) const {
  const std::lock_guard lock(mutex_);
  const auto found =
      std::ranges::find(files_, group, [](const ModelFile& one) { return place::group_of(one); });
  return found == files_.end() ? std::nullopt : std::optional(*found);
}

Result<Reference> PlacementState::reference(StageGroup group) {
  const std::optional<ModelFile> file = file_of(group);
  if (!file) {
    return fail(ErrorCode::NotFound, "no model of this kind is open");
  }
  return prover_.reference(*file);
}

std::optional<int64_t> PlacementState::proven_at(Stage stage) {
  const std::optional<ModelFile> file = file_of(group_of(stage));
  const StagePlaces where = places(group_of(stage));
  const auto found = where.find(stage);
  if (!file || found == where.end() || is_here(where)) {
    return std::nullopt;
  }
  if (is_apart(where)) {
    if (const auto kept = prover_.kept_apart(*file, where, identities(where))) {
      return kept->made_at;
    }
  }
  return prover_.proven_at(*file, found->second, identity(found->second.device));
}

std::optional<StageChoice> PlacementState::choice(Stage stage) const {
  const std::lock_guard lock(mutex_);
  return choices_[static_cast<size_t>(stage)];
}

std::optional<StageChoice> PlacementState::opened_choice(Stage stage) const {
  const std::lock_guard lock(mutex_);
  return opened_choices_[static_cast<size_t>(stage)];
}

StepPace PlacementState::step_pace(StageGroup group) const {
  StepPace pace;
  for (const Stage stage : stages_of(group)) {
    if (const auto chosen = choice(stage); chosen && chosen->measured) {
      pace.measured(stage, chosen->measured->longest_step_ms, chosen->measured->step_work);
    }
  }
  return pace;
}

// What a device computed and was kept for other runs (a model's cached silence) may be as wrong as
// the rest: it is computed anew.
void PlacementState::forget_computed() {
  std::vector<ModelFile> files;
  {
    const std::lock_guard lock(mutex_);
    files = files_;
  }
  for (const ModelFile& file : files) {
    if (const auto digest = model_digest(path_of(file), options_.cache_folder)) {
      remove_packed_layout(options_.cache_folder, *digest, cuda_packed_layout());
    }
  }
}

void PlacementState::distrust(const StagePlaces& places, const Error& reason) {
  for (const auto& [stage, where] : places) {
    if (is_processor(where.device)) {
      continue;
    }
    const std::string what = without_name(reason.message, where.device);
    {
      const std::lock_guard lock(mutex_);
      Distrust& known = excluded_[where.device];
      if (known.is_open()) {
        continue;
      }
      known.failed(options_.times.seconds(), what);
    }
    prover_.failed(identity(where.device), what);
    forget_computed();
  }
}

// Of the devices that were named before the one that was taken; of a stage that has its choice "".
std::string PlacementState::why_not_preferred(const StagePlaces& places) const {
  for (const auto& [stage, where] : places) {
    const StageDevices& wanted = request_.of(stage);
    const auto& choice = choices_[static_cast<size_t>(stage)];
    if (wanted.automatic || !choice || choice->plan.device != where.device) {
      continue;
    }
    std::vector<std::string> whys;
    for (const std::string& device : wanted.devices) {
      if (device == where.device) {
        break;
      }
      const auto other = std::ranges::find(choice->plan.others, device, &OtherDevice::device);
      if (other != choice->plan.others.end()) {
        whys.push_back(fmt::format("{} was preferred, but it {}", device, other->why));
      }
    }
    if (!whys.empty()) {
      return fmt::format("{}", fmt::join(whys, "; "));
    }
  }
  return {};
}

void PlacementState::opened(StageGroup group, const StagePlaces& places) {
  std::string why;
  {
    const std::lock_guard lock(mutex_);
    // What it moved for was told.
    const bool is_first = !last_places_.contains(group) &&
                          std::ranges::find(moves_, group, &Move::group) == moves_.end();
    why = is_first ? why_not_preferred(places) : std::string();
    places_[group] = places;
    last_places_[group] = places;
    for (const Stage stage : stages_of(group)) {
      opened_choices_[static_cast<size_t>(stage)] = choices_[static_cast<size_t>(stage)];
    }
  }
  if (options_.say && !why.empty()) {
    options_.say(fmt::format("{} on {}: {}", group_name(group), devices_of(places), why));
  }
  if (const auto worker = workers_.of(group)) {
    static_cast<void>(ask_for_report(worker));
  }
  constexpr std::chrono::milliseconds kTend{1000};
  housekeeper_.start(kTend, [this] { tend(); });
}

StagePlaces PlacementState::places(StageGroup group) const {
  const std::lock_guard lock(mutex_);
  const auto found = last_places_.find(group);
  return found == last_places_.end() ? StagePlaces{} : found->second;
}

void PlacementState::moved(Move move) {
  // Where it goes nowhere the error that ends the request says why.
  if (options_.say && !move.to.empty()) {
    const std::string_view group = group_name(move.group);
    options_.say(move.redone ? fmt::format("{}; {} goes on on {}", move.reason, group, move.to)
                             : fmt::format("{}; what {} is asked next goes to {}", move.reason,
                                           group, move.to));
  }
  const std::lock_guard lock(mutex_);
  moves_.push_back(std::move(move));
}

std::vector<Move> PlacementState::moves() const {
  const std::lock_guard lock(mutex_);
  return moves_;
}

void PlacementState::name_work(StageGroup group, std::vector<std::string> names) {
  const std::lock_guard lock(mutex_);
  work_names_[group] = std::move(names);
}

std::vector<std::string> PlacementState::work_names(StageGroup group) const {
  const std::lock_guard lock(mutex_);
  const auto found = work_names_.find(group);
  return found == work_names_.end() ? std::vector<std::string>() : found->second;
}

Result<std::shared_ptr<Backend>> PlacementState::open_here(Stage stage, const StageDevice& where) {
  const std::lock_guard lock(mutex_);
  if (!devices_.contains(where.device)) {
    MYNAH_TRY(OpenedDevice opened, open_device(where.device, options_.settings));
    devices_.emplace(where.device, std::move(opened));
  }
  HereStage& here = stages_[static_cast<size_t>(stage)];
  here.device = where.device;
  here.timed = std::make_shared<HereBackend>(*devices_.at(where.device).backend);
  return std::shared_ptr<Backend>(here.timed, &here.timed->backend);
}

WorkerSpec PlacementState::worker_on(const std::string& devices) const {
  return {.program = options_.worker_program,
          .device = devices,
          .settings = options_.settings,
          .faults = options_.faults,
          .stop = options_.stop};
}

Result<std::shared_ptr<WorkerProcess>> PlacementState::worker_for(StageGroup group,
                                                                  const StagePlaces& places) {
  return workers_.lend(worker_on(worker_key(places)), group);
}

// Its own worker asks the driver, which may never come back from being started.
Status PlacementState::check_named(const std::string& device) {
  Status there = ask_whether_there(device);
  // For want of what, a driver say, its message tells.
  if (!there && there.error().code == ErrorCode::Environment) {
    there.error().code = ErrorCode::Device;
  }
  return there;
}

Status PlacementState::ask_whether_there(const std::string& device) {
  if (!card_index(device) || options_.worker_program.empty()) {
    return check_there(device, options_.settings);
  }
  try {
    MYNAH_TRY(const auto worker, workers_.lend(worker_on(device), std::nullopt));
    return worker->tell(Ask::Check, kDriverStarts, device);
  } catch (const DeviceError& error) {
    return std::unexpected(Error(error.error()).while_doing("--device " + device));
  }
}

}  // namespace mynah::place
