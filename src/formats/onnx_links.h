// How the values of an ONNX graph go from node to node, for readers that find weights by what is
// done with them.
#pragma once

#include <cstddef>
#include <string_view>
#include <unordered_map>

#include "formats/onnx.h"

namespace mynah {

// Of the main graph; the model must outlive it. Where several nodes share a name's value, the first
// counts.
class OnnxLinks {
 public:
  explicit OnnxLinks(const OnnxModel& model);

  // The node that takes a node's first output; null where none does.
  [[nodiscard]] const OnnxNode* consumer(const OnnxNode& node) const;

  // The node that makes an input of a node; null where it is none's output.
  [[nodiscard]] const OnnxNode* producer(const OnnxNode& node, size_t input) const;

  // The tensor of the file that an input of a node is; null where it is none or is left out.
  [[nodiscard]] const StoredTensor* constant(const OnnxNode& node, size_t input) const;

  // Of a sum of codes that `scaling` multiplies with the product of both sides' scales: that of
  // them which is a constant, the weights'. Null where `scaling` is null or does no such thing.
  [[nodiscard]] const StoredTensor* constant_scale(const OnnxNode* scaling) const;

 private:
  std::unordered_map<std::string_view, const OnnxNode*> consumers_;
  std::unordered_map<std::string_view, const OnnxNode*> producers_;
  std::unordered_map<std::string_view, const StoredTensor*> constants_;
};

}  // namespace mynah
