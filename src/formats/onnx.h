// Reads ONNX models: their tensors, and the graph around them.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "formats/tensor_file.h"

namespace mynah {

struct OnnxGraph;

// A constant of a node. Which member holds it depends on the attribute's type.
struct OnnxAttribute {
  std::string name;
  double number = 0.0;  // float
  int64_t integer = 0;
  std::string text;  // string
  std::vector<double> numbers;
  std::vector<int64_t> integers;
  std::vector<std::string> texts;
  std::string tensor;             // name of the tensor in OnnxModel::file
  std::vector<OnnxGraph> graphs;  // bodies of If, Loop, Scan
};

struct OnnxNode {
  std::string name;
  std::string op_type;
  std::vector<std::string> inputs;
  std::vector<std::string> outputs;
  std::vector<OnnxAttribute> attributes;

  // The attribute of that name, or null.
  [[nodiscard]] const OnnxAttribute* find(std::string_view attribute) const;
};

struct OnnxGraph {
  std::string name;
  // Stands before the names of this graph's own tensors in OnnxModel::file: empty for the main
  // graph, "If_0.then_branch/" for a body (the node's name or, where it has none, its op and
  // place).
  std::string scope;
  std::vector<std::string> inputs;
  std::vector<std::string> outputs;
  std::vector<OnnxNode> nodes;
};

struct OnnxModel {
  TensorFile file;
  OnnxGraph graph;
};

// Layout: onnx/onnx onnx.proto. Tensors are the initialisers of the main graph and of all bodies,
// the values of Constant nodes under their output's name, and other attributes' tensors as
// NODE.ATTRIBUTE. Strings, complex numbers, float8, 4-bit types, sparse tensors and tensors in
// other files are refused, tensors of segments too.
[[nodiscard]] Result<OnnxModel> read_onnx_model(const std::shared_ptr<const MappedFile>& file);

// The tensors alone, with metadata_props as metadata.
[[nodiscard]] Result<TensorFile> read_onnx(const std::shared_ptr<const MappedFile>& file);

}  // namespace mynah
