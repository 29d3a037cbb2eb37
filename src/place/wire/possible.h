// Whether what came from outside this process, a worker's answer or a file of the cache, can be
// what it stands for. Its bytes were read already (place/wire/wire.h); a driver that scribbles, or
// a disk, may still have changed what they say. What is possible may be wrong, but whoever uses it
// reads beside nothing, divides by nothing and waits for ever for nothing. What is of one kind of
// model stands with it in kinds/.
#pragma once

#include <cstdint>
#include <span>

#include "place/terms/measurement.h"
#include "place/wire/worker_protocol.h"

namespace mynah::place {

// Windows, probes and clauses are seconds.
inline constexpr double kLongestSound_s = 3600;

// False where it is not a number.
[[nodiscard]] bool is_within(double value, double least, double most);

// Of samples a second.
[[nodiscard]] bool is_rate(int rate_hz);

[[nodiscard]] bool is_possible(const ProbeReport& report);
[[nodiscard]] bool is_possible(const FullWindow& window);

[[nodiscard]] bool is_possible(std::span<const StageReport> reports);

[[nodiscard]] bool is_possible(const Measurement& measured);

// All of a group's stages, in order.
[[nodiscard]] bool is_possible(std::span<const Measurement> measurements, StageGroup group);

}  // namespace mynah::place
