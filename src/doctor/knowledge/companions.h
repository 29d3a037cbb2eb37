// torchaudio and torchvision, of which each release is built for one release of torch.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "doctor/knowledge/knowledge.h"
#include "doctor/versions.h"

namespace mynah::doctor {

// The series of a companion that goes with a release of torch: "0.20"; none: not known.
// `package`: "torchaudio" or "torchvision", here and below.
[[nodiscard]] const std::optional<Claim>& series_of_companion(std::string_view package,
                                                              const TorchRelease& release);

// What belongs together: the n-th release of a companion's minor version and the n-th of torch's.
// None: the companion's minor version is none that is known, or not as many releases are listed.
// Local parts do not count.
struct CompanionPair : Source {
  Version torch;
  Version companion;
};

[[nodiscard]] std::optional<CompanionPair> pair_of_companion(std::string_view package,
                                                             const Version& companion,
                                                             const Knowledge& knowledge);

[[nodiscard]] std::optional<CompanionPair> pair_of_torch(std::string_view package,
                                                         const Version& torch,
                                                         const Knowledge& knowledge);

// Releases of a package whose first two numbers are those of `minor`, the oldest first.
[[nodiscard]] std::vector<Version> releases_of_minor(std::string_view package, const Version& minor,
                                                     const Knowledge& knowledge);

// Whether a listed release of a companion is built for a variant of PyTorch's, as the torch that it
// was built with is. True where that torch is not known, and of what is for no CUDA.
[[nodiscard]] bool has_build(std::string_view package, const Version& companion,
                             std::string_view variant, const Knowledge& knowledge);

}  // namespace mynah::doctor
