// Placement as the user's options and environment ask for it.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "cli/verb.h"
#include "place/placer.h"
#include "place/plans/profile_folder.h"
#include "speech/recognizer.h"

namespace mynah::cli {

// What of a verb's options places its models.
struct PlacementWish {
  std::string device = "auto";  // --device
  int threads = 0;              // 0: the machine's physical cores
  std::optional<std::string> storage;
  Precision precision = Precision::Fast;
  bool pinned = true;             // profiles that are in use count
  bool quiet = false;             // moves are told all the same: they are what the user must know
  std::string max_vram{};         // --max-vram: "4GB"; "": no limit
  std::string keep_alive = "5m";  // --keep-alive: "30s", "0", "never"
  int batch = CuttingOptions{}.batch;  // --batch: windows that are to be decoded together

  // The options --max-vram and --keep-alive.
  void limits(Fields& fields);

  // The options --threads, --storage and --precision.
  void arithmetic(Fields& fields);
};

// A profile that the user names; a name that nobody knows is a slip: Usage.
[[nodiscard]] Result<place::Profile> load_named_profile(const place::ProfileFolder& folder,
                                                        const std::string& name);

// What `--device` is for in verbs that compute; device_details() has all that it takes.
inline constexpr std::string_view kDeviceHelp =
    "Where to compute: auto, a device, a list such as cuda,cpu, lists for stages, or profile:NAME; "
    "see below.";

// The option --device.
void device_field(Fields& fields, std::string& device, std::string help);

// A paragraph below the options: all that --device takes.
[[nodiscard]] std::string device_details();

// Usage where --threads is none: 0 (the physical cores) to 1024.
[[nodiscard]] Status check_threads(int threads);

// What opening a device needs of the environment. Usage for a variable that cannot be read, and for
// threads as check_threads().
Result<place::DeviceSettings> device_settings(int threads, const Environment& environment);

Result<std::unique_ptr<place::Placer>> open_placer(const PlacementWish& wish,
                                                   const Context& context);

}  // namespace mynah::cli
