// Placement as the user's wishes and environment ask for it.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "engine/surroundings.h"
#include "place/placer.h"
#include "place/plans/profile_folder.h"
#include "speech/recognizer.h"

namespace mynah::engine {

// What of a front's options places its models, in words as users write them.
struct PlacementWish {
  std::string device = "auto";  // --device
  int threads = 0;              // 0: the machine's physical cores
  std::optional<std::string> storage;
  Precision precision = Precision::Fast;
  bool pinned = true;             // profiles that are in use count
  bool quiet = false;             // moves are told all the same: they are what the user must know
  std::string max_vram{};         // --max-vram: "4GB"; "": no limit
  std::string keep_alive = "5m";  // --keep-alive: "30s", "0", "never"
  std::optional<int64_t> gpu_layers{};  // --gpu-layers; none: what is best
  int batch = CuttingOptions{}.batch;   // --batch: windows that are to be decoded together
  // Models that are open already: what is opened shares their devices, by the wish that these were
  // opened with. Null: it has them for itself.
  std::shared_ptr<place::Placer> beside{};
};

// A time in words: "30" (seconds), "30s", "5m", "1h", "7d". None: it is none.
[[nodiscard]] std::optional<std::chrono::milliseconds> parse_duration(std::string_view text);

// A profile that the user names; a name that nobody knows is a slip: Usage.
[[nodiscard]] Result<place::Profile> load_named_profile(const place::ProfileFolder& folder,
                                                        const std::string& name);

// Usage where --threads is none: 0 (the physical cores) to 1024.
[[nodiscard]] Status check_threads(int threads);

// What opening a device needs of the environment. Usage for a variable that cannot be read, and for
// threads as check_threads().
Result<place::DeviceSettings> device_settings(int threads, const Environment& environment);

// How long something is kept that nobody uses: "30s", "5m", "90", "0"; none: "never", and what is
// negative, as ollama has it. Usage for others, by the name of what says so.
[[nodiscard]] Result<std::optional<std::chrono::milliseconds>> parse_keep_alive(
    const std::string& name, const std::string& text);

// Usage for a word that cannot be understood, and for a device that is named alone and is not
// there. What the placer tells of itself is a note.
Result<std::shared_ptr<place::Placer>> open_placer(const PlacementWish& wish,
                                                   const Surroundings& surroundings);

}  // namespace mynah::engine
