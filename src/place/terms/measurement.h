// Measurement: what one stage of a model took, needed and gave on one device.
#pragma once

#include <cmath>
#include <cstdint>
#include <optional>
#include <string>

#include "place/terms/stage.h"
#include "tensor/dtype.h"

namespace mynah::place {

// Made by a proof (place/proofs/prove.h) of a short slice of the model, by the CPU's run of that
// slice, or by tuning. A unit of work is a second of sound: heard (vad, stt) or spoken (tts).
struct Measurement {
  Stage stage;
  std::string device;            // "cpu", "cuda:0"
  std::optional<DType> storage;  // of the weights; none: the file's own
  bool passed = false;
  std::string failure;         // why not; "" where it passed
  double ms_per_unit = 0;      // milliseconds for a second of sound
  double longest_step_ms = 0;  // between two signs of life
  // How much was done meanwhile of what makes steps longer: seconds of sound (vad, tts.vocoder),
  // phonemes (tts.acoustic), full windows in as many sequences as usual (stt).
  double step_work = 1;
  uint64_t bytes = 0;         // resident on the device: weights and what one request needs
  uint64_t window_bytes = 0;  // what each window of a batch needs beyond the first
  double worst_error = 0;     // against the CPU's values, as a share of their largest magnitude
  double error_bound = 0;     // what is allowed of it

  // Whether its time can be one.
  [[nodiscard]] bool has_time() const { return std::isfinite(ms_per_unit) && ms_per_unit >= 0; }

  bool operator==(const Measurement&) const = default;
};

}  // namespace mynah::place
