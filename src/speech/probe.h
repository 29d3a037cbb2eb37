// Probe: what a model makes of a short piece of work that is always the same, stage by stage. Its
// numbers are compared with those of another device, or of the same one earlier.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

namespace mynah {

struct ProbeStage {
  std::string stage;          // "stt.encoder"
  std::vector<float> values;  // some of what it computed, the same ones each time
};

struct Probe {
  std::vector<ProbeStage> stages;
  double sound_s = 0;  // of sound that was heard or spoken
};

// What a device must have room for, as a model was seen to hold it there.
struct WindowMemory {
  uint64_t bytes = 0;         // the most that one full window needs, with the weights
  uint64_t window_bytes = 0;  // what each further window of a batch keeps beside it
};

// Sound like a voice's: a tone with its overtones, whose pitch and loudness change; 16 kHz, always
// the same.
[[nodiscard]] std::vector<float> probe_sound(size_t samples);

// `count` of the values, evenly spread, from the first on; all where there are no more.
[[nodiscard]] std::vector<float> spread_values(const std::vector<float>& values, size_t count);

}  // namespace mynah
