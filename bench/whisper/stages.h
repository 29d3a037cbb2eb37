// Whisper's stages, as benchmarks run them one by one.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "models/whisper/model.h"

namespace mynah::bench {

// A voice-like signal of 16 kHz: a gliding tone with overtones, so that nothing is silent or
// repeats.
std::vector<float> signal(double seconds);

// 1 - cosine of the angle between two results: what rounding did to the direction.
double turned(const std::vector<float>& a, const std::vector<float>& b);

// A GGUF of mynah's with its vocabulary in it. `storage`: none is the file's own.
Result<std::shared_ptr<const whisper::Model>> load_gguf(const std::string& path,
                                                        std::optional<DType> storage,
                                                        Precision precision, Backend& backend);

struct Encoded {
  Tensor states;
  Lengths lengths;
};

// As many windows at once; `cached`: with the silence after them cached.
Encoded encode(const whisper::Model& model, const std::vector<float>& samples, bool cached,
               size_t windows = 1);

}  // namespace mynah::bench
