// Profile: a placement that was measured on this machine, kept in a file to be used again.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "base/result.h"
#include "place/discovery/device_identity.h"
#include "place/terms/measurement.h"

namespace mynah::place {

struct Profile {
  std::string name;  // of its file
  std::string model;
  std::string model_sha256;
  std::string created;  // ISO 8601, UTC
  std::string build;    // of the program that measured
  int batch = 1;        // windows that were computed together
  // The most of a measurement's time in which it waited for a core that others had, 0 to 1.
  double waited_share = 0;
  std::vector<DeviceIdentity> devices;
  std::vector<Measurement> stages;  // what was chosen, in the order of Stage, each once
  std::vector<Measurement> others;  // what was measured besides, failures too

  bool operator==(const Profile&) const = default;
};

// A profile that is in use and cannot be read.
struct UnreadableProfile {
  std::string name;
  std::string model;  // that it was put in use for; "": not known, and then nor is its digest
  std::string model_sha256;  // of it
  std::string why;
};

// What is there now.
struct ProfileFacts {
  std::string build;
  std::string model_sha256;  // "": not asked
  std::vector<DeviceIdentity> devices;
};

// A profile file's JSON, from outside: every number and name is what it should be, each stage that
// was chosen passed, and each device of one is among the devices. `file` stands in the error.
[[nodiscard]] Result<Profile> parse_profile(std::string_view text, std::string_view name,
                                            std::string_view file);

// The file's JSON, as parse_profile() reads it back; the name is not in it.
[[nodiscard]] nlohmann::ordered_json to_json(const Profile& profile);

// Whether what was measured is still so: the same model and program, and each device of a stage the
// same card with the same driver. Device, with what changed and what to do, where it is not.
[[nodiscard]] Status check_holds(const Profile& profile, const ProfileFacts& facts);

// Milliseconds for a second of sound, over the stages that were chosen, one after the other.
[[nodiscard]] double total_ms(const Profile& profile);

}  // namespace mynah::place
