// TurnScorer: how likely somebody who pauses has said all there was to say, by how it sounds.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>

#include "base/result.h"
#include "tensor/backend.h"

namespace mynah {

// Const after load, shared by all who listen.
class TurnScorer {
 public:
  virtual ~TurnScorer() = default;

  // Samples of a turn from its begin to now, 16 kHz mono, the pause included -> the probability
  // that it is at its end. Errors: the device, Cancelled.
  [[nodiscard]] virtual Result<float> score(std::span<const float> turn) const = 0;

  // Samples that are looked at, the last ones.
  [[nodiscard]] virtual int64_t window() const = 0;
};

// How weights are kept, and where they are packed for the next time ("": nowhere).
struct TurnLoadOptions {
  std::optional<DType> storage;  // none: the file's own
  Precision precision = Precision::Fast;
  std::string cache_folder;
};

// Smart Turn from its ONNX file. The backend must outlive it.
[[nodiscard]] Result<std::shared_ptr<const TurnScorer>> load_turn_scorer(
    const std::string& path, const TurnLoadOptions& options, Backend& backend);

}  // namespace mynah
