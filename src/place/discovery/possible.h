// Whether what came from outside this process, a worker's answer or a file of the cache, can be
// what it stands for. Its bytes were read already (place/wire/wire.h); a driver that scribbles,
// or a disk, may still have changed what they say. What is possible may be wrong, but whoever uses
// it reads beside nothing, divides by nothing and waits for ever for nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "place/discovery/device_cache.h"
#include "place/proofs/reference.h"
#include "place/terms/measurement.h"
#include "place/wire/worker_protocol.h"
#include "speech/hearing.h"
#include "speech/voice_model.h"

namespace mynah::place {

[[nodiscard]] bool is_possible(const DriverAnswer& answer);

[[nodiscard]] bool is_possible(const DetectorFacts& facts);

// One list of probabilities a recording.
[[nodiscard]] bool is_possible(std::span<const std::vector<float>> probabilities,
                               size_t recordings);

// A text of so many samples that refers to nothing but itself and the model's tokens.
[[nodiscard]] bool is_possible(const HeardWindow& heard, const HearingFacts& facts, size_t samples);

[[nodiscard]] bool is_possible(const VoiceModelFacts& facts);

// What a clause of so many words sounds like.
[[nodiscard]] bool is_possible(const ClauseSound& sound, size_t words);

[[nodiscard]] bool is_possible(const ProbeReport& report);
[[nodiscard]] bool is_possible(const FullWindow& window);

[[nodiscard]] bool is_possible(std::span<const StageReport> reports);

// All of a group's stages, in order.
[[nodiscard]] bool is_possible(std::span<const Measurement> measurements, StageGroup group);

[[nodiscard]] bool is_possible(const Reference& reference, StageGroup group);

}  // namespace mynah::place
