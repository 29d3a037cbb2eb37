#include "place/plans/profile.h"

#include <algorithm>

#include <fmt/format.h>

namespace mynah::place {
namespace {

// What differs of a device; "": nothing.
std::string change_of(const DeviceIdentity& was, const ProfileFacts& facts) {
  const auto now = std::ranges::find(facts.devices, was.device, &DeviceIdentity::device);
  if (now == facts.devices.end()) {
    return fmt::format("{} ({}) is not here", was.device, was.name);
  }
  if (now->uuid != was.uuid || now->name != was.name) {
    const auto id = [](const DeviceIdentity& device) {
      return device.uuid.empty() ? device.name : fmt::format("{}, {}", device.name, device.uuid);
    };
    return fmt::format("{} was {} and is {}", was.device, id(was), id(*now));
  }
  if (now->driver != was.driver) {
    return fmt::format("the driver of {} was {} and is {}", was.device, was.driver, now->driver);
  }
  return {};
}

// What differs of all that was measured; "": nothing.
std::string change_of(const Profile& profile, const ProfileFacts& facts) {
  if (!facts.model_sha256.empty() && facts.model_sha256 != profile.model_sha256) {
    return fmt::format("it was measured with another file of the model {}", profile.model);
  }
  for (const DeviceIdentity& device : profile.devices) {
    const bool used = std::ranges::find(profile.stages, device.device, &Measurement::device) !=
                      profile.stages.end();
    if (std::string change = used ? change_of(device, facts) : ""; !change.empty()) {
      return change;
    }
  }
  // A build's name means nothing to who reads this: two of one version differ by their file.
  return facts.build == profile.build ? std::string() : "it was made by another build of mynah";
}

}  // namespace

Status check_holds(const Profile& profile, const ProfileFacts& facts) {
  const std::string change = change_of(profile, facts);
  if (change.empty()) {
    return {};
  }
  return fail(
      ErrorCode::Device,
      fmt::format(
          "the profile {} no longer holds: {}; measure anew with `mynah tune`, or "
          "go without it: leave --device out, or `mynah profile use none` where it is in use",
          profile.name, change));
}

double total_ms(const Profile& profile) {
  double total = 0;
  for (const Measurement& stage : profile.stages) {
    total += stage.ms_per_unit;
  }
  return total;
}

}  // namespace mynah::place
