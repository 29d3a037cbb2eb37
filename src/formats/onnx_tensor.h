// One tensor of an ONNX model.
#pragma once

#include <string>
#include <string_view>

#include "formats/protobuf.h"
#include "formats/tensor_file_builder.h"

namespace mynah {

// Reads a TensorProto and adds it under `scope` + its own name, or under `name` where that is not
// empty. Returns the name it has.
[[nodiscard]] Result<std::string> read_onnx_tensor(ProtoReader message, std::string_view scope,
                                                   std::string_view name,
                                                   TensorFileBuilder& builder);

}  // namespace mynah
