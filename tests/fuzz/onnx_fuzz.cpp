#include "formats/onnx.h"
#include "tensor_file_target.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  return mynah::fuzz_tensor_file(data, size, mynah::read_onnx);
}
