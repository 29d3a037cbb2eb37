// What passes between mynah and a worker of a detector: its fields, and which answers are possible.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "place/wire/wire_types.h"

namespace mynah::place {

// What a loaded detector says of itself.
struct DetectorFacts {
  int rate_hz = 0;
  double frame_s = 0;
  std::string name;
};

// A field that is added to one of these structs must be added here: a test counts them.
template <class Archive>
void wire(Archive& a, DetectorFile& v) {
  a(v.path, v.rate_hz);
}

template <class Archive>
void wire(Archive& a, DetectorFacts& v) {
  a(v.rate_hz, v.frame_s, v.name);
}

[[nodiscard]] bool is_possible(const DetectorFacts& facts);

// One list of probabilities a recording.
[[nodiscard]] bool is_possible(std::span<const std::vector<float>> probabilities,
                               size_t recordings);

}  // namespace mynah::place
