// A graph of a product of codes, as ONNX Runtime's quantiser writes one, walked from its product.
#include "formats/onnx_links.h"

#include <array>
#include <string>

#include <gtest/gtest.h>

namespace mynah {
namespace {

OnnxNode node(std::string op, std::vector<std::string> inputs, std::vector<std::string> outputs) {
  OnnxNode made;
  made.op_type = std::move(op);
  made.inputs = std::move(inputs);
  made.outputs = std::move(outputs);
  return made;
}

class Links : public testing::Test {
 protected:
  void add(const std::string& tensor) {
    model_.file.tensors.push_back({.name = tensor,
                                   .dtype = DType::F32,
                                   .shape = {1},
                                   .bytes = std::as_bytes(std::span(value_)),
                                   .row_scales = {}});
  }

  std::array<float, 1> value_ = {2.5F};
  OnnxModel model_;
};

TEST_F(Links, FollowTheGraphBothWays) {
  add("weights");
  add("weights.scale");
  model_.graph.nodes = {node("MatMulInteger", {"x", "weights", ""}, {"sum"}),
                        node("Cast", {"sum"}, {"cast"}),
                        node("Mul", {"x.scale", "weights.scale"}, {"scales"}),
                        node("Mul", {"cast", "scales"}, {"y"}),
                        node("Relu", {"y"}, {""}),
                        node("Sigmoid", {"y"}, {})};
  const OnnxLinks links(model_);
  const auto& nodes = model_.graph.nodes;
  EXPECT_EQ(links.consumer(nodes[0]), &nodes[1]);
  EXPECT_EQ(links.consumer(nodes[3]), &nodes[4]);  // the first of two
  EXPECT_EQ(links.consumer(nodes[4]), nullptr);
  EXPECT_EQ(links.consumer(nodes[5]), nullptr);
  EXPECT_EQ(links.producer(nodes[3], 1), &nodes[2]);
  EXPECT_EQ(links.producer(nodes[0], 0), nullptr);
  EXPECT_EQ(links.producer(nodes[0], 9), nullptr);
  ASSERT_NE(links.constant(nodes[0], 1), nullptr);
  EXPECT_EQ(links.constant(nodes[0], 1)->name, "weights");
  EXPECT_EQ(links.constant(nodes[0], 2), nullptr);
  EXPECT_EQ(links.constant(nodes[0], 9), nullptr);
  ASSERT_NE(links.constant_scale(&nodes[3]), nullptr);
  EXPECT_EQ(links.constant_scale(&nodes[3])->name, "weights.scale");
  EXPECT_EQ(links.constant_scale(&nodes[1]), nullptr);
  EXPECT_EQ(links.constant_scale(nullptr), nullptr);
}

TEST_F(Links, OfATensorAreItsValues) {
  add("weights");
  EXPECT_EQ(values_of(model_.file.tensors[0]), std::vector<float>{2.5F});
}

}  // namespace
}  // namespace mynah
