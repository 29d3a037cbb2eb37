#include "place/state/trust.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "backend/cuda/cuda_backend.h"
#include "place/discovery/predict.h"
#include "place/elsewhere/shared_digest.h"
#include "place/terms/device_name.h"
#include "place/terms/kind.h"
#include "store/packed_cache.h"
#include "store/sha256.h"

namespace mynah::place {

Trust::Refusal Trust::refusal(ModelId model, const StageDevice& where) {
  const std::string& device = where.device;
  {
    const std::lock_guard lock(mutex_);
    if (const auto failed = excluded_.find(device);
        failed != excluded_.end() && failed->second.is_open()) {
      const std::string& why = failed->second.reason;
      const bool was_asked = is_mynah(device) && !why.starts_with("it ");
      return {.why = was_asked ? why : "failed: " + why};
    }
    if (const auto full = no_room_.find({model, where});
        full != no_room_.end() && full->second.since.is_open()) {
      return {.why = no_room_text(model.group, full->second.no_room), .no_room = true};
    }
  }
  if (is_mynah(device)) {
    return mynah_refusal(model, device);
  }
  if (!card_index(device)) {
    return {};  // nothing is known of these before they are tried
  }
  const std::vector<DeviceFacts>& devices = context_.discovery().devices;
  const auto facts = std::ranges::find(devices, device, &DeviceFacts::name);
  if (facts == devices.end()) {
    return {.why = why_not_here()};
  }
  // What the doctor knows of a card does not change while its proof holds, and takes milliseconds
  // to read: mynah's own rules also look at how the card is now.
  const std::optional<ModelFile> file = context_.file(model);
  const bool proven = file && context_.prover().proven_at(*file, where, context_.identity(device));
  const std::vector<Finding> findings = predict(*facts, proven ? own_rules() : all_rules());
  if (worst(findings) != Outlook::Cannot) {
    return {};
  }
  const Finding& first = findings.front();
  return {.why = fmt::format("cannot be used: {}{}{}", first.reason,
                             first.remedy.empty() ? "" : "; ", first.remedy)};
}

Trust::Refusal Trust::mynah_refusal(ModelId model, const std::string& device) {
  const PlacerOptions& options = context_.options();
  const std::optional<ModelFile> file = context_.file(model);
  if (!kind_of(model.group).elsewhere) {
    return {.why = fmt::format("is another mynah, which does no {} for others: name a device of "
                               "this machine for it",
                               group_name(model.group))};
  }
  if (options.storage || (file && is_wanted_exact(*file))) {
    return {.why =
                "computes with the types that its own command chose: leave --storage and "
                "--precision out"};
  }
  const auto told = context_.mynah(device);
  if (!told) {
    // It is tried again in the background, as what failed is.
    const std::lock_guard lock(mutex_);
    excluded_[device].failed(context_.now(), told.error().message);
    return {.why = told.error().message};
  }
  const auto digest = file ? shared_digest(*file, options.cache_folder)
                           : Result<std::string>(fail(ErrorCode::NotFound, "no model is open"));
  if (!digest) {
    return {.why = "was not asked: " + digest.error().message};
  }
  if (told->find(*digest) == nullptr) {
    context_.forget_mynah(device);  // it may be pulled there
    constexpr size_t kShort = 12;
    std::vector<std::string> names;
    for (const MynahModel& one : told->models) {
      names.push_back(one.name);
    }
    return {.why = fmt::format("has not this very model (sha256 {}...), but {}; `mynah pull` there "
                               "what is used here",
                               digest->substr(0, kShort),
                               names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", ")))};
  }
  return {};
}

// What is known of cards that cannot be used is why another has not its number.
std::string Trust::why_not_here() {
  std::vector<std::string> reasons;
  for (const DeviceFacts& device : context_.discovery().devices) {
    if (device.absence && std::ranges::find(reasons, device.absence->reason) == reasons.end()) {
      reasons.push_back(device.absence->reason);
    }
  }
  return fmt::format("is not here{}{}", reasons.empty() ? "" : ": ", fmt::join(reasons, "; "));
}

std::vector<OtherDevice> Trust::unusable_cards() {
  std::vector<OtherDevice> cards;
  for (const DeviceFacts& device : context_.discovery().devices) {
    if (device.absence) {
      cards.push_back(
          {.device = device.label(), .why = "cannot be used: " + device.absence->reason});
    }
  }
  return cards;
}

// What a device computed and was kept for other runs (a model's cached silence) may be as wrong as
// the rest: it is computed anew.
void Trust::forget_computed() {
  const std::string& folder = context_.options().cache_folder;
  for (const auto& [id, file] : context_.models()) {
    if (const auto digest = model_digest(path_of(file), folder)) {
      remove_packed_layout(folder, *digest, cuda_packed_layout());
    }
  }
}

void Trust::distrust(const StagePlaces& places, const Error& reason) {
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
      known.failed(context_.now(), what);
    }
    context_.prover().failed(context_.identity(where.device), what);
    if (!is_mynah(where.device)) {
      forget_computed();
    }
  }
}

void Trust::note_no_room(ModelId model, const StageDevice& where, NoRoom no_room) {
  const std::lock_guard lock(mutex_);
  FullDevice& full = no_room_[{model, where}];
  full.since.failed(context_.now(), no_room.error.message);
  full.no_room = std::move(no_room);
}

void Trust::note_no_room_apart(ModelId model, const StagePlaces& places, const Error& error) {
  const std::lock_guard lock(mutex_);
  no_room_apart_[{model, places}].failed(context_.now(), error.message);
}

bool Trust::waits_for_room_apart(ModelId model, const StagePlaces& places) const {
  const std::lock_guard lock(mutex_);
  const auto full = no_room_apart_.find({model, places});
  return full != no_room_apart_.end() && full->second.waits(context_.now());
}

std::optional<DeviceNoRoom> Trust::no_room(ModelId model) const {
  const std::lock_guard lock(mutex_);
  for (const auto& [which, full] : no_room_) {
    if (which.first == model && full.since.is_open()) {
      return DeviceNoRoom{.device = which.second.device, .no_room = full.no_room};
    }
  }
  return std::nullopt;
}

void Trust::limit_windows(ModelId model, const StagePlaces& places, size_t windows) {
  const std::lock_guard lock(mutex_);
  for (const auto& [stage, where] : places) {
    if (!is_processor(where.device)) {
      most_windows_[{model, where.device}] = windows;
    }
  }
}

size_t Trust::most_windows(ModelId model, const StagePlaces& places, size_t windows) const {
  const std::lock_guard lock(mutex_);
  for (const auto& [stage, where] : places) {
    if (const auto most = most_windows_.find({model, where.device}); most != most_windows_.end()) {
      windows = std::min(windows, most->second);
    }
  }
  return windows;
}

void Trust::prove_again() {
  prove_failed_again();
  try_full_again();
}

DeviceProof Trust::prove_behind(const ModelFile& file, const StageDevice& where) {
  return context_.prover().of_device(file, where, context_.identity(where.device),
                                     ProofWish::Behind);
}

std::string Trust::why_still_excluded(const std::string& device) {
  bool passed = false;
  std::string why;
  if (is_mynah(device)) {
    if (const auto told = context_.mynah(device); !told) {
      return told.error().message;
    }
  }
  for (const auto& [id, file] : context_.models()) {
    if (!wishes_.may_be_on(id, device)) {
      continue;
    }
    const StageDevice where = wishes_.usual_place(id, device);
    DeviceProof proof = prove_behind(file, where);
    if (proof.no_room) {
      note_no_room(id, where, *std::move(proof.no_room));
      why = "it " + proof.refusal;
      continue;
    }
    const auto bad = std::ranges::find(proof.measurements, false, &Measurement::passed);
    if (bad != proof.measurements.end()) {
      return bad->failure;
    }
    passed = true;
  }
  return passed ? std::string() : why;
}

// A device that failed here is proven once its pause is over, whoever else proved it meanwhile, and
// whether or not files tell of it.
void Trust::prove_failed_again() {
  std::map<std::string, Distrust> failed;
  {
    const std::lock_guard lock(mutex_);
    failed = excluded_;
  }
  for (const auto& [device, here] : failed) {
    const int64_t now = context_.now();
    const auto anywhere = context_.prover().store().distrust(context_.identity(device));
    if (!here.is_open() || here.waits(now) || (anywhere && anywhere->waits(now))) {
      continue;
    }
    if (is_mynah(device)) {
      context_.forget_mynah(device);  // another program may answer there now
    }
    const std::string why = why_still_excluded(device);
    const std::lock_guard lock(mutex_);
    if (why.empty()) {
      excluded_[device].trusted(context_.now());
      regained_.fetch_add(1);
    } else {
      excluded_[device].failed(context_.now(), why);
    }
  }
}

// Whoever held the memory may be gone: a proof in the background tells, before anybody leaves what
// works for it.
void Trust::try_full_again() {
  std::map<std::pair<ModelId, StageDevice>, FullDevice> all;
  {
    const std::lock_guard lock(mutex_);
    all = no_room_;
    std::erase_if(all, [this](const auto& entry) {
      // One that failed is proven by prove_failed_again().
      const auto failed = excluded_.find(entry.first.second.device);
      return failed != excluded_.end() && failed->second.is_open();
    });
  }
  for (const auto& [which, full] : all) {
    const auto& [model, where] = which;
    const std::optional<ModelFile> file = context_.file(model);
    if (!file || !full.since.is_open() || full.since.waits(context_.now())) {
      continue;
    }
    DeviceProof proof = prove_behind(*file, where);
    if (proof.no_room) {
      note_no_room(model, where, *std::move(proof.no_room));
      continue;
    }
    const auto bad = std::ranges::find(proof.measurements, false, &Measurement::passed);
    const int64_t now = context_.now();
    const std::lock_guard lock(mutex_);
    no_room_[which].since.trusted(now);
    if (bad == proof.measurements.end()) {
      most_windows_.erase({model, where.device});
      regained_.fetch_add(1);
    } else {
      excluded_[where.device].failed(now, bad->failure);
    }
  }
}

}  // namespace mynah::place
