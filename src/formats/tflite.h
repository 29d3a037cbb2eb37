// Reads TensorFlow Lite models (tensorflow/lite/schema/schema.fbs, version 3): graphs, their
// tensors with constants and how these are quantised, and what is done with them.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/mapped_file.h"
#include "formats/flatbuffer.h"

namespace mynah {

// TensorType of the schema: those that are known by name here.
enum class TfliteType : uint8_t { F32 = 0, I32 = 2, U8 = 3, I8 = 9, Resource = 13 };

// BuiltinOperator of the schema: those that are known by name here.
enum class TfliteOp : int32_t {
  Concatenation = 2,
  Conv2d = 3,
  DepthwiseConv2d = 4,
  FullyConnected = 9,
  Logistic = 14,
  Reshape = 22,
  StridedSlice = 45,
  SplitV = 102,
  Quantize = 114,
  CallOnce = 129,
  VarHandle = 142,
  ReadVariable = 143,
  AssignVariable = 144
};

// As the schema calls it, or its number.
[[nodiscard]] std::string name(TfliteOp op);

struct TfliteTensor {
  std::string_view name;
  TfliteType type = TfliteType::F32;
  std::vector<int32_t> shape;  // no size is negative
  // What is constant, of the size that type and shape say; empty: it is computed.
  std::span<const std::byte> bytes;
  // value = scale * (code - zero point): one of each, or one for each step along `channel_axis`.
  std::vector<float> scales;
  std::vector<int64_t> zero_points;
  int32_t channel_axis = 0;

  // The product of the shape.
  [[nodiscard]] int64_t elements() const;
};

struct TfliteOperator {
  TfliteOp op = TfliteOp::Concatenation;
  // Indices of tensors of the graph; -1 of an input: it is left out.
  std::vector<int32_t> inputs;
  std::vector<int32_t> outputs;
  std::optional<FlatTable> options;  // the table of its kind
};

struct TfliteGraph {
  std::vector<TfliteTensor> tensors;
  std::vector<int32_t> inputs;
  std::vector<int32_t> outputs;
  std::vector<TfliteOperator> operators;
};

struct TfliteModel {
  std::shared_ptr<const MappedFile> file;  // keeps the views alive
  std::vector<TfliteGraph> graphs;         // the first is the one that is run; at least one
};

// Indices of tensors are inside their graph; graphs, tensors and operators are bounded by what
// models of some megabytes have. Custom operators, sparse tensors and constants behind the
// flatbuffer are Unsupported, what is damaged InvalidInput.
[[nodiscard]] Result<TfliteModel> read_tflite(const std::shared_ptr<const MappedFile>& file);

}  // namespace mynah
