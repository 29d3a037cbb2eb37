// What PlacementState knows of devices that are out of the question: those that failed, those that
// are full, and those that the rules rule out.
#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "place/device_name.h"
#include "place/discovery/predict.h"
#include "place/placement_state.h"

namespace mynah::place {

std::string PlacementState::why_excluded(StageGroup group, const StageDevice& where,
                                         bool& no_room) {
  const std::string& device = where.device;
  {
    const std::lock_guard lock(mutex_);
    if (const auto failed = excluded_.find(device);
        failed != excluded_.end() && failed->second.is_open()) {
      return "failed: " + failed->second.reason;
    }
    if (const auto full = no_room_.find({group, where});
        full != no_room_.end() && full->second.since.is_open()) {
      no_room = true;
      return no_room_text(group, full->second.no_room);
    }
  }
  if (!card_index(device)) {
    return {};  // nothing is known of these before they are tried
  }
  const auto facts = std::ranges::find(discovery().devices, device, &DeviceFacts::name);
  if (facts == discovery().devices.end()) {
    return why_not_here();
  }
  // What the doctor knows of a card does not change while its proof holds, and takes milliseconds
  // to read: mynah's own rules also look at how the card is now.
  const std::optional<ModelFile> file = file_of(group);
  const bool proven = file && prover_.proven_at(*file, where, identity(device));
  const std::vector<Finding> findings = predict(*facts, proven ? own_rules() : all_rules());
  if (worst(findings) != Outlook::Cannot) {
    return {};
  }
  const Finding& first = findings.front();
  return fmt::format("cannot be used: {}{}{}", first.reason, first.remedy.empty() ? "" : "; ",
                     first.remedy);
}

// What is known of cards that cannot be used is why another has not its number.
std::string PlacementState::why_not_here() {
  std::vector<std::string> reasons;
  for (const DeviceFacts& device : discovery().devices) {
    if (device.absence && std::ranges::find(reasons, device.absence->reason) == reasons.end()) {
      reasons.push_back(device.absence->reason);
    }
  }
  return fmt::format("is not here{}{}", reasons.empty() ? "" : ": ", fmt::join(reasons, "; "));
}

bool PlacementState::end_worker(StageGroup group, const StagePlaces& places,
                                const std::string& reason) {
  std::vector<std::string> devices;
  for (const auto& [stage, where] : places) {
    if (!is_processor(where.device)) {
      devices.push_back(where.device);
    }
  }
  // A worker names its devices itself.
  std::string why = reason;
  for (const std::string& name : {devices_of(places), worker_key(places)}) {
    if (why.starts_with(name + " ")) {
      why.erase(0, name.size() + 1);
    }
  }
  keep_last_sign(group);
  return workers_.lose(group, devices, why);
}

bool PlacementState::failed(StageGroup group, const StagePlaces& places, const Error& reason,
                            const std::string& doubts) {
  if (!end_worker(group, places, reason.message)) {
    return false;
  }
  distrust(places, {reason.code, reason.message + doubts});
  return true;
}

std::vector<OtherDevice> PlacementState::unusable_cards() {
  std::vector<OtherDevice> cards;
  for (const DeviceFacts& device : discovery().devices) {
    if (device.absence) {
      cards.push_back(
          {.device = device.label(), .why = "cannot be used: " + device.absence->reason});
    }
  }
  return cards;
}

std::optional<DeviceNoRoom> PlacementState::no_room(StageGroup group) const {
  const std::lock_guard lock(mutex_);
  for (const auto& [which, full] : no_room_) {
    if (which.first == group && full.since.is_open()) {
      return DeviceNoRoom{.device = which.second.device, .no_room = full.no_room};
    }
  }
  return std::nullopt;
}

void PlacementState::note_no_room(StageGroup group, const StageDevice& where, NoRoom no_room) {
  const std::lock_guard lock(mutex_);
  FullDevice& full = no_room_[{group, where}];
  full.since.failed(options_.times.seconds(), no_room.error.message);
  full.no_room = std::move(no_room);
}

void PlacementState::had_no_room(StageGroup group, const StagePlaces& places, const Error& error) {
  if (is_apart(places) && std::ranges::all_of(places, [this](const auto& entry) {
        return wanted(entry.first).automatic;
      })) {
    note_no_room_apart(places, error);
    return;
  }
  const std::vector<StageReport> told = ask_for_reports();
  for (const auto& [stage, where] : places) {
    if (!is_processor(where.device)) {
      NoRoom no_room{.error = error, .memory = {}};
      if (const auto report = std::ranges::find(told, where.device, &StageReport::device);
          report != told.end()) {
        no_room.memory = {.free = report->memory_free, .total = report->memory_total};
      }
      note_no_room(group, where, std::move(no_room));
    }
  }
}

std::string PlacementState::ran_out(StageGroup group, const StagePlaces& places, const Error& error,
                                    size_t windows) {
  if (windows <= 1) {
    had_no_room(group, places, error);  // it asks the worker how much there is
  }
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [other, where] : places_) {
      if (other != group && !is_here(where) && worker_key(where) == worker_key(places)) {
        lost_workers_.insert(other);
      }
    }
    for (const auto& [stage, where] : places) {
      if (windows > 1 && !is_processor(where.device)) {
        most_windows_[{group, where.device}] = windows / 2;
      }
    }
  }
  end_worker(group, places, error.message);
  return windows > 1 ? fmt::format("; {} of {} windows together from now on", windows / 2, windows)
                     : std::string();
}

size_t PlacementState::windows_together(StageGroup group) const {
  const std::lock_guard lock(mutex_);
  const auto found = windows_together_.find(group);
  return found == windows_together_.end() ? 1 : found->second;
}

bool PlacementState::take_lost_worker(StageGroup group) {
  const std::lock_guard lock(mutex_);
  return lost_workers_.erase(group) > 0;
}

}  // namespace mynah::place
