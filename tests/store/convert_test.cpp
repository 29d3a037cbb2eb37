#include "store/convert.h"

#include <cmath>
#include <cstring>
#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "formats/open.h"
#include "models/whisper/names.h"
#include "temporary_folder.h"
#include "tensor/quantize.h"
#include "test_paths.h"
#include "text/vocabulary.h"

namespace mynah {
namespace {

using test::TemporaryFolder;
using ::testing::HasSubstr;

// Row 0 of a matrix as numbers.
std::vector<float> first_row(const StoredTensor& tensor) {
  std::vector<float> values(static_cast<size_t>(tensor.shape[1]));
  dequantize(tensor.dtype, tensor.bytes.data(), values);
  if (!tensor.row_scales.empty()) {
    float scale = 0;
    std::memcpy(&scale, tensor.row_scales.data(), sizeof(scale));
    for (float& value : values) {
      value *= scale;
    }
  }
  return values;
}

float largest(const std::vector<float>& values) {
  float most = 0;
  for (const float value : values) {
    most = std::max(most, std::abs(value));
  }
  return most;
}

// The most that rounding a row whose largest value is `most` may change a value by.
float rounding_bound(DType dtype, float most) {
  switch (dtype) {
    case DType::F32:
      return 0;
    case DType::F16:  // half a unit in the last of 11 bits, and subnormals
      return most * 0x1p-11F + 0x1p-25F;
    case DType::BF16:
      return most * 0x1p-8F;
    case DType::I8:
      return most / 127 * 0.5001F;
    case DType::Q8_0:  // the scale is rounded to f16 as well: 127 steps of 2^-11 of it
      return most / 127 * (0.5F + 127 * 0x1p-11F);
    case DType::Q5_0:  // scale = largest / -16: the other end, +15, is cut
      return most / 16 * (1.0F + 16 * 0x1p-11F);
    case DType::Q4_0:
      return most / 8 * (1.0F + 8 * 0x1p-11F);
    case DType::Q5_1:  // 31 steps from least to most, least and scale in f16
      return 2 * most / 31 * 0.5F + 3 * most * 0x1p-11F;
    case DType::Q4_1:
      return 2 * most / 15 * 0.5F + 3 * most * 0x1p-11F;
    default:
      ADD_FAILURE() << "no bound for " << name(dtype);
      return 0;
  }
}

class RealTinyEn : public ::testing::Test {
 protected:
  void SetUp() override { MYNAH_SKIP_WITHOUT(source + "/model.bin"); }

  Result<Converted> convert(const std::string& target, std::optional<DType> storage) {
    return convert_model(source, target, {.name = "tiny.en", .storage = storage}, quiet, {});
  }

  const std::string source = test::weights_path("tiny.en");
  TemporaryFolder folder;
  StoreObserver quiet;
};

TEST_F(RealTinyEn, keeps_every_value_sizes_heads_and_vocabulary) {
  const auto converted = convert(folder / "m.gguf", std::nullopt);
  ASSERT_TRUE(converted.has_value()) << converted.error().message;
  EXPECT_EQ(converted->family, "whisper");
  EXPECT_EQ(converted->storage, "f16");
  const TensorFile before = *open_tensor_file(source);
  const TensorFile after = *open_tensor_file(folder / "m.gguf");
  const auto wanted = whisper::read_checkpoint(before, "tiny.en");
  const auto found = whisper::read_checkpoint(after, "");
  ASSERT_TRUE(found.has_value()) << found.error().message;
  EXPECT_EQ(found->config, wanted->config);
  ASSERT_EQ(found->tensors.size(), wanted->tensors.size());
  for (const StoredTensor& tensor : wanted->tensors) {
    const StoredTensor* same = after.find(tensor.name);
    ASSERT_NE(same, nullptr) << tensor.name;
    EXPECT_EQ(same->dtype, tensor.dtype) << tensor.name;
    EXPECT_EQ(same->shape, tensor.shape) << tensor.name;
    EXPECT_TRUE(std::ranges::equal(same->bytes, tensor.bytes)) << tensor.name;
  }
  const auto& tokens =
      std::get<std::vector<std::string>>(after.metadata.at("tokenizer.ggml.tokens"));
  // tokenizer.json leaves out the timestamps, which vocabulary.txt has.
  Vocabulary found_tokens = vocabulary_of_printable(tokens);
  const Vocabulary wanted_tokens = *load_vocabulary(source + "/tokenizer.json");
  ASSERT_GE(found_tokens.size(), wanted_tokens.size());
  found_tokens.resize(wanted_tokens.size());
  EXPECT_EQ(found_tokens, wanted_tokens);
}

TEST_F(RealTinyEn, rounds_matrices_to_each_storage_type_and_nothing_else) {
  const TensorFile before = *open_tensor_file(source);
  const auto original = *whisper::read_checkpoint(before, "tiny.en");
  for (const DType storage : {DType::F32, DType::BF16, DType::I8, DType::Q8_0, DType::Q5_0,
                              DType::Q5_1, DType::Q4_0, DType::Q4_1}) {
    const auto converted = convert(folder / "m.gguf", storage);
    ASSERT_TRUE(converted.has_value()) << converted.error().message;
    EXPECT_EQ(converted->storage, name(storage));
    const TensorFile after = *open_tensor_file(folder / "m.gguf");
    const auto checkpoint = whisper::read_checkpoint(after, "");
    ASSERT_TRUE(checkpoint.has_value()) << checkpoint.error().message;
    int matrices = 0;
    for (const StoredTensor& tensor : original.tensors) {
      const StoredTensor* rounded = after.find(tensor.name);
      ASSERT_NE(rounded, nullptr) << tensor.name;
      if (rounded->dtype != storage) {
        EXPECT_EQ(rounded->dtype, tensor.dtype) << tensor.name;
        continue;
      }
      ++matrices;
      EXPECT_EQ(rounded->row_scales.empty(), storage != DType::I8) << tensor.name;
      const std::vector<float> wanted = first_row(tensor);
      const std::vector<float> found = first_row(*rounded);
      const float bound = rounding_bound(storage, largest(wanted));
      for (size_t i = 0; i < wanted.size(); ++i) {
        ASSERT_NEAR(found[i], wanted[i], bound) << tensor.name << " " << name(storage) << " " << i;
      }
    }
    // 4 layers of 6 encoder and 10 decoder matrices, and the token embedding where it is not int8.
    EXPECT_EQ(matrices, 4 * 16 + (storage == DType::I8 ? 0 : 1)) << name(storage);
  }
}

TEST_F(RealTinyEn, converts_what_it_converted) {
  ASSERT_TRUE(convert(folder / "a.gguf", DType::Q8_0).has_value());
  const auto again = convert_model(folder / "a.gguf", folder / "b.gguf",
                                   {.name = "tiny.en", .storage = {}}, quiet, {});
  ASSERT_TRUE(again.has_value()) << again.error().message;
  EXPECT_EQ(test::read_file(folder / "b.gguf"), test::read_file(folder / "a.gguf"));
  // int8 with its scales, widened again.
  ASSERT_TRUE(convert(folder / "c.gguf", DType::I8).has_value());
  ASSERT_TRUE(convert_model(folder / "c.gguf", folder / "d.gguf",
                            {.name = "tiny.en", .storage = DType::F32}, quiet, {})
                  .has_value());
  const TensorFile int8 = *open_tensor_file(folder / "c.gguf");
  const TensorFile wide = *open_tensor_file(folder / "d.gguf");
  const std::string name = "decoder.blocks.3.mlp.2.weight";
  EXPECT_EQ(first_row(*wide.find(name)), first_row(*int8.find(name)));
}

TEST_F(RealTinyEn, needs_the_vocabulary_and_says_where_it_looked) {
  std::filesystem::create_directories(folder / "bare");
  std::filesystem::copy(source + "/model.bin", folder / "bare/model.bin");
  const auto got = convert_model(folder / "bare", folder / "m.gguf",
                                 {.name = "tiny.en", .storage = {}}, quiet, {});
  ASSERT_FALSE(got.has_value());
  EXPECT_THAT(got.error().message, HasSubstr("needs its vocabulary"));
  EXPECT_THAT(got.error().message, HasSubstr(folder / "bare"));
  EXPECT_FALSE(std::filesystem::exists(folder / "m.gguf"));
}

TEST_F(RealTinyEn, leaves_nothing_when_stopped) {
  std::stop_source stop;
  stop.request_stop();
  const auto got = convert_model(source, folder / "m.gguf", {.name = "tiny.en", .storage = {}},
                                 quiet, stop.get_token());
  ASSERT_FALSE(got.has_value());
  EXPECT_EQ(got.error().code, ErrorCode::Cancelled);
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(Convert, both_networks_of_silero_come_along) {
  const std::string source = test::weights_path("silero/silero_vad.onnx");
  MYNAH_SKIP_WITHOUT(source);
  const TemporaryFolder folder;
  StoreObserver quiet;
  const auto converted = convert_model(source, folder / "m.gguf",
                                       {.name = "silero", .storage = DType::Q4_0}, quiet, {});
  ASSERT_TRUE(converted.has_value()) << converted.error().message;
  EXPECT_EQ(converted->family, "silero");
  EXPECT_EQ(converted->storage, "f32");
  const TensorFile file = *open_tensor_file(folder / "m.gguf");
  int networks = 0;
  for (const StoredTensor& tensor : file.tensors) {
    networks += tensor.name.ends_with("forward_basis_buffer") ? 1 : 0;
  }
  EXPECT_EQ(networks, 2);
}

TEST(Convert, refuses_other_models_and_storage_types) {
  EXPECT_EQ(*parse_storage("int8"), DType::I8);
  EXPECT_EQ(*parse_storage("Q5_1"), DType::Q5_1);
  EXPECT_THAT(parse_storage("q3").error().message, HasSubstr("f32, f16, bf16, i8, q4_0"));
  EXPECT_FALSE(parse_storage("i64").has_value());
}

}  // namespace
}  // namespace mynah
