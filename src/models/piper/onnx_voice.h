// A Piper voice's weights out of its ONNX file, by the names that its PyTorch checkpoint has for
// them.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "formats/onnx.h"
#include "formats/tensor_file.h"

namespace mynah::piper {

// How a convolution moves over time: what its weight's shape does not tell.
struct Steps {
  int64_t stride = 1;
  int64_t padding = 0;  // on either side
  int64_t dilation = 1;
  int64_t groups = 1;
  int64_t output_padding = 0;  // of a transposed convolution
};

using StepsOfModules = std::map<std::string, Steps, std::less<>>;

struct OnnxVoice {
  std::vector<StoredTensor> tensors;
  StepsOfModules steps;               // of each convolution, by its module
  std::shared_ptr<const void> owner;  // of the tensors' bytes
};

// Found by walking the graph: exporters keep most of the checkpoint's names (rhasspy/piper and
// jaywalnut310/vits models.py: enc_p, dp, flow, dec, emb_g) but rename weights that were
// normalised and tables that are used once. A convolution's module is told by its node's name,
// else by its bias or weight; the tables by which of the graph's inputs chooses their rows. Norms
// have "weight" and "bias" for "gamma" and "beta".
//
// Two things are settled here, so that nothing need be moved while speaking: between the layers of
// "flow" all channels change their order, so every second layer's first and last convolution get
// theirs reversed; and "dp.flows.0.scale" is what the last step of the durations multiplies with,
// exp(-logs), which many files hold computed already.
//
// Errors: what is missing, by its name; padding that is not the same on both sides.
Result<OnnxVoice> read_onnx_voice(const OnnxModel& model);

}  // namespace mynah::piper
