// Real models against values computed without mynah (tools/tensor_file_oracle.py), where they are
// there.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <fstream>
#include <limits>
#include <map>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "formats/gguf.h"
#include "formats/gguf_writer.h"
#include "formats/onnx.h"
#include "formats/open.h"
#include "temporary_folder.h"
#include "tensor/quantize.h"
#include "test_paths.h"

namespace mynah {
namespace {

struct Golden {
  std::string dtype;
  std::string shape;
  double sum = 0.0;
  double absolute_sum = 0.0;
};

using GoldenFile = std::map<std::string, Golden>;

// real_files.txt: FILE NAME DTYPE SHAPE SUM ABSOLUTE_SUM, tab-separated.
GoldenFile golden_of(const std::string& file) {
  std::ifstream stream(test::source_path("tests/formats/real_files.txt"));
  GoldenFile golden;
  for (std::string line; std::getline(stream, line);) {
    std::istringstream fields(line);
    std::array<std::string, 6> field;
    for (std::string& value : field) {
      std::getline(fields, value, '\t');
    }
    if (field[0] == file) {
      golden[field[1]] = {field[2], field[3], std::stod(field[4]), std::stod(field[5])};
    }
  }
  return golden;
}

template <class T>
T element(const StoredTensor& tensor, int64_t i) {
  T value;
  std::memcpy(&value, tensor.bytes.data() + static_cast<size_t>(i) * sizeof(T), sizeof(T));
  return value;
}

double number_at(const StoredTensor& tensor, int64_t i) {
  switch (tensor.dtype) {
    case DType::F32:
      return element<float>(tensor, i);
    case DType::F16:
      return f16_to_f32(element<uint16_t>(tensor, i));
    case DType::I8:
      return element<int8_t>(tensor, i);
    case DType::I32:
      return element<int32_t>(tensor, i);
    default:
      return std::nan("");
  }
}

void expect_golden(const StoredTensor& tensor, const Golden& golden) {
  EXPECT_EQ(name(tensor.dtype), golden.dtype) << tensor.name;
  EXPECT_EQ(tensor.shape.str(), golden.shape) << tensor.name;
  double sum = 0.0;
  const int64_t count = tensor.shape.elements();
  for (int64_t i = 0; i < count; ++i) {
    sum += number_at(tensor, i);
  }
  // Each of the additions, here and in NumPy, rounds by at most half an epsilon of the sum so far.
  const double tolerance =
      static_cast<double>(count) * std::numeric_limits<double>::epsilon() * golden.absolute_sum;
  EXPECT_NEAR(sum, golden.sum, tolerance) << tensor.name;
}

struct RealFile {
  std::string name;
  bool shared = false;  // below the shared folder, not among the weights
};

std::ostream& operator<<(std::ostream& out, const RealFile& file) {
  return out << file.name;
}

std::string path_of(const RealFile& file) {
  return file.shared ? test::shared_path(file.name) : test::weights_path(file.name);
}

class RealFiles : public testing::TestWithParam<RealFile> {};

TEST_P(RealFiles, HoldTheTensorsThatTheOracleFound) {
  MYNAH_SKIP_WITHOUT(path_of(GetParam()));
  const GoldenFile golden = golden_of(GetParam().name);
  const auto file = open_tensor_file(path_of(GetParam()));
  ASSERT_TRUE(file) << file.error().message;
  ASSERT_FALSE(golden.empty());
  EXPECT_EQ(file->tensors.size(), golden.size());
  for (const StoredTensor& tensor : file->tensors) {
    const auto found = golden.find(tensor.name);
    ASSERT_NE(found, golden.end()) << tensor.name;
    expect_golden(tensor, found->second);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Oracle, RealFiles,
    testing::Values(RealFile{"tiny.en/model.bin"}, RealFile{"silero/silero_vad_16k.safetensors"},
                    RealFile{"pysilero/ggml-silero-v6.2.0.bin"},
                    RealFile{"formats/for-tests-ggml-tiny.bin", true},
                    RealFile{"formats/for-tests-ggml-tiny.en.bin", true},
                    RealFile{"formats/for-tests-ggml-parakeet-tdt.bin", true}));

TEST(RealFiles, ParakeetWithAnFftOfZeroIsRefusedAtItsHeader) {
  const std::string path = test::shared_path("formats/for-tests-ggml-parakeet-tdt-bad-nfft0.bin");
  MYNAH_SKIP_WITHOUT(path);
  const auto file = open_tensor_file(path);
  ASSERT_FALSE(file);
  EXPECT_EQ(file.error().message,
            path + ", byte 36: wanted n_fft to be 1 or more, found 0; the header is damaged");
}

TEST(RealFiles, GgmlHeadersAndVocabulariesAreMetadata) {
  const std::string path = test::shared_path("formats/for-tests-ggml-tiny.en.bin");
  MYNAH_SKIP_WITHOUT(path);
  const auto file = open_tensor_file(path);
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_EQ(std::get<int64_t>(file->metadata.at("n_audio_head")), 6);
  const auto& tokens = std::get<std::vector<std::string>>(file->metadata.at("vocabulary"));
  ASSERT_EQ(tokens.size(), 50257U);
  EXPECT_EQ(tokens[0], "!");
  EXPECT_EQ(tokens[220], " ");
}

TEST(RealFiles, TinyEnglishKeepsEveryByteAsGguf) {
  const std::string path = test::weights_path("tiny.en");
  MYNAH_SKIP_WITHOUT(path);
  const auto source = open_tensor_file(path);
  ASSERT_TRUE(source) << source.error().message;
  EXPECT_EQ(source->format, "ctranslate2");
  EXPECT_EQ(std::get<std::vector<std::string>>(source->metadata.at("vocabulary")).size(), 51864U);
  EXPECT_EQ(std::get<std::vector<int64_t>>(source->metadata.at("alignment_heads")).size(), 16U);
  const test::TemporaryFolder folder;
  const Status written = write_gguf(folder / "tiny.en.gguf", *source);
  ASSERT_TRUE(written) << written.error().message;
  const auto back = open_tensor_file(folder / "tiny.en.gguf");
  ASSERT_TRUE(back) << back.error().message;
  ASSERT_EQ(back->tensors.size(), source->tensors.size());
  for (const StoredTensor& tensor : source->tensors) {
    const StoredTensor* other = back->find(tensor.name);
    ASSERT_NE(other, nullptr) << tensor.name;
    EXPECT_EQ(other->shape, tensor.shape);
    EXPECT_TRUE(std::ranges::equal(other->bytes, tensor.bytes)) << tensor.name;
  }
}

// whisper.cpp's file was made from the network that the ONNX file holds in a body of an If; its
// convolutions are rounded to float16. (The safetensors file of the same wheel is another
// training.)
TEST(RealFiles, SileroIsTheSameInOnnxAndInGgml) {
  const std::string onnx_path = test::weights_path("silero/silero_vad.onnx");
  const std::string ggml_path = test::weights_path("pysilero/ggml-silero-v6.2.0.bin");
  MYNAH_SKIP_WITHOUT(onnx_path);
  MYNAH_SKIP_WITHOUT(ggml_path);
  const auto onnx = open_tensor_file(onnx_path);
  const auto ggml = open_tensor_file(ggml_path);
  ASSERT_TRUE(onnx) << onnx.error().message;
  ASSERT_TRUE(ggml) << ggml.error().message;
  constexpr std::string_view kPrefix = "_model.";
  for (const StoredTensor& rounded : ggml->tensors) {
    const StoredTensor* exact = onnx->find("If_0.then_branch/If_0_then_branch__Inline_0__" +
                                           rounded.name.substr(kPrefix.size()));
    ASSERT_NE(exact, nullptr) << rounded.name;
    ASSERT_EQ(exact->shape.elements(), rounded.shape.elements()) << rounded.name;
    for (int64_t i = 0; i < exact->shape.elements(); ++i) {
      const auto value = element<float>(*exact, i);
      ASSERT_EQ(number_at(rounded, i),
                rounded.dtype == DType::F16 ? f16_to_f32(f32_to_f16(value)) : value)
          << rounded.name << " at " << i;
    }
  }
}

TEST(RealFiles, SileroOnnxGraphHasItsBranchesAndConstants) {
  const std::string path = test::weights_path("silero/silero_vad.onnx");
  MYNAH_SKIP_WITHOUT(path);
  const auto mapped = MappedFile::open(path);
  ASSERT_TRUE(mapped);
  const auto model = read_onnx_model(*mapped);
  ASSERT_TRUE(model) << model.error().message;
  EXPECT_EQ(model->graph.inputs, (std::vector<std::string>{"input", "state", "sr"}));
  const auto branch = std::ranges::find(model->graph.nodes, "If", &OnnxNode::op_type);
  ASSERT_NE(branch, model->graph.nodes.end());
  const OnnxAttribute* then_branch = branch->find("then_branch");
  ASSERT_NE(then_branch, nullptr);
  ASSERT_EQ(then_branch->graphs.size(), 1U);
  const OnnxGraph& body = then_branch->graphs.front();
  EXPECT_EQ(body.scope, "If_0.then_branch/");
  const auto constant = std::ranges::find(body.nodes, "Constant", &OnnxNode::op_type);
  ASSERT_NE(constant, body.nodes.end());
  const OnnxAttribute* value = constant->find("value");
  ASSERT_NE(value, nullptr);
  EXPECT_NE(model->file.find(value->tensor), nullptr);
  EXPECT_EQ(value->tensor, body.scope + constant->outputs.front());
}

TEST(RealFiles, TorchScriptIsRefusedByTheNameItWouldRun) {
  const std::string path = test::weights_path("silero/silero_vad.jit");
  MYNAH_SKIP_WITHOUT(path);
  const auto file = open_tensor_file(path);
  ASSERT_FALSE(file);
  EXPECT_NE(file.error().message.find("__torch__"), std::string::npos) << file.error().message;
}

TEST(RealFiles, GgufVocabulariesHaveTheirPublishedSizes) {
  const std::map<std::string, size_t> sizes = {{"gpt-2", 50257},     {"llama-bpe", 128256},
                                               {"llama-spm", 32000}, {"phi-3", 32064},
                                               {"qwen2", 151936},    {"bert-bge", 30522}};
  for (const auto& [family, size] : sizes) {
    const std::string path = test::shared_path("tokenizers/ggml-vocab-" + family + ".gguf");
    MYNAH_SKIP_WITHOUT(path);
    const auto file = open_tensor_file(path);
    ASSERT_TRUE(file) << file.error().message;
    EXPECT_TRUE(file->tensors.empty());
    const auto& tokens =
        std::get<std::vector<std::string>>(file->metadata.at("tokenizer.ggml.tokens"));
    EXPECT_EQ(tokens.size(), size) << family;
    EXPECT_EQ(std::get<std::vector<int64_t>>(file->metadata.at("tokenizer.ggml.token_type")).size(),
              size);
  }
}

}  // namespace
}  // namespace mynah
