// DeviceRequest: what --device says, for each stage.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "place/terms/another_mynah.h"
#include "place/terms/stage.h"

namespace mynah::place {

// Where one stage may be computed.
struct StageDevices {
  // The fastest of what was proven is taken; else the first of `devices` that works and fits.
  bool automatic = true;
  // By their full names ("cuda:0"). Automatic: those to choose among, or none where all that are
  // there may be chosen. Named: in order of preference, later ones are what is fallen back on.
  std::vector<std::string> devices;
  // So many of the first compute beside each other, each with the whole model.
  size_t beside = 1;
  // Automatic among devices that were named, as another mynah is one of them.
  bool fastest = false;

  // Devices that were named alone are used or refused.
  [[nodiscard]] bool may_fall_back() const { return automatic || devices.size() > beside; }

  bool operator==(const StageDevices&) const = default;
};

struct DeviceRequest {
  std::string profile;  // of "profile:NAME", whose placement is to be used; mostly empty
  std::array<StageDevices, kMostStages> stages;  // by number_of()
  std::vector<AnotherMynah> mynahs;              // that are named

  [[nodiscard]] const StageDevices& of(Stage stage) const { return stages[number_of(stage)]; }

  [[nodiscard]] StageDevices& of(Stage stage) { return stages[number_of(stage)]; }

  bool operator==(const DeviceRequest&) const = default;
};

// Reads
//   auto                              the fastest of all
//   cuda:1                            this device and no other
//   cuda,cpu                          a list in order of preference
//   stt=cuda:0,cpu,tts.vocoder=cpu    a list for a stage or a group
//   stt=cuda:0+cuda:1,cpu             both at once, where windows are heard; the processor after
//   them profile:NAME                      what a profile says
//   box=mynah://host:8080,cpu         another mynah: the fastest of the list that is proven, not
//   the first, since what a network takes is not for people to know
// An item without '=' goes on with the list before it; the list in front of the first '=' is for
// every stage that nothing else names, and a stage's own list goes before its group's. Where there
// is no such list, a stage that nothing names is placed automatically, among the cards that are
// named anywhere and the processor. A word that is wrong: Usage, with the name that it most likely
// meant.
[[nodiscard]] Result<DeviceRequest> parse_device_request(std::string_view text);

// As parse_device_request() reads it back, in the fewest words; of another mynah its name alone.
[[nodiscard]] std::string describe(const DeviceRequest& request);

}  // namespace mynah::place
