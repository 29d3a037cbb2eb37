// Kokoro as mynah keeps it: the bits of the ONNX file, in one mapped file.
#include <algorithm>
#include <cstring>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "formats/open.h"
#include "models/kokoro/checkpoint.h"
#include "models/kokoro/real_file.h"
#include "store/convert.h"
#include "temporary_folder.h"
#include "test_paths.h"

namespace mynah {
namespace {

using kokoro::numbers_of;
using test::TemporaryFolder;
using ::testing::HasSubstr;

class RealKokoro : public ::testing::Test {
 protected:
  void SetUp() override { MYNAH_SKIP_WITHOUT(source); }

  Result<Converted> convert(const std::string& target, std::optional<DType> storage) {
    return convert_model(source, target, {.name = "kokoro", .storage = storage}, quiet, {});
  }

  const std::string source = kokoro::real_file();
  TemporaryFolder folder;
  StoreObserver quiet;
};

TEST_F(RealKokoro, keeps_every_bit_in_int8_and_brings_its_phonemes) {
  const auto converted = convert(folder / "m.gguf", std::nullopt);
  ASSERT_TRUE(converted.has_value()) << converted.error().message;
  EXPECT_EQ(converted->family, "kokoro");
  EXPECT_EQ(converted->storage, "i8");
  // No larger than what came.
  EXPECT_LT(std::filesystem::file_size(folder / "m.gguf"), std::filesystem::file_size(source));
  const auto wanted = kokoro::read_real_file();
  ASSERT_TRUE(wanted.has_value()) << wanted.error().message;
  const auto file = open_tensor_file(folder / "m.gguf");
  ASSERT_TRUE(file.has_value()) << file.error().message;
  const auto found = kokoro::read_checkpoint(*file);
  ASSERT_TRUE(found.has_value()) << found.error().message;
  EXPECT_EQ(found->phonemes, kokoro::Phonemes::of_kokoro_82m());
  ASSERT_EQ(found->tensors.size(), wanted->tensors.size());
  for (const StoredTensor& tensor : wanted->tensors) {
    const auto same = std::ranges::find(found->tensors, tensor.name, &StoredTensor::name);
    ASSERT_NE(same, found->tensors.end()) << tensor.name;
    EXPECT_EQ(same->shape, tensor.shape) << tensor.name;
    const std::vector<float> before = numbers_of(tensor);
    const std::vector<float> after = numbers_of(*same);
    ASSERT_EQ(std::memcmp(before.data(), after.data(), before.size() * sizeof(float)), 0)
        << tensor.name;
  }
}

TEST_F(RealKokoro, is_rounded_to_the_type_asked_for) {
  ASSERT_TRUE(convert(folder / "f32.gguf", DType::F32).has_value());
  const TensorFile exact = *open_tensor_file(folder / "f32.gguf");
  for (const DType storage : {DType::BF16, DType::Q8_0}) {
    const auto converted = convert(folder / "m.gguf", storage);
    ASSERT_TRUE(converted.has_value()) << converted.error().message;
    EXPECT_EQ(converted->storage, name(storage));
    const TensorFile file = *open_tensor_file(folder / "m.gguf");
    const auto dtype_of = [&](const std::string& tensor) { return file.find(tensor)->dtype; };
    EXPECT_EQ(dtype_of("bert_encoder.weight"), storage);
    EXPECT_EQ(dtype_of("predictor.lstm.weight_hh_l0_reverse"), storage);
    EXPECT_EQ(dtype_of("decoder.encode.conv1.weight"),
              storage == DType::Q8_0 ? DType::I8 : storage);
    for (const char* kept : {"bert_encoder.bias", "text_encoder.embedding.weight",
                             "decoder.F0_conv.weight", "predictor.N.1.pool.weight"}) {
      EXPECT_EQ(dtype_of(kept), exact.find(kept)->dtype) << kept;
    }
    for (const StoredTensor& tensor : exact.tensors) {
      const std::vector<float> wanted = numbers_of(tensor);
      const std::vector<float> found = numbers_of(*file.find(tensor.name));
      float most = 0.0F;
      float worst = 0.0F;
      for (size_t i = 0; i < wanted.size(); ++i) {
        most = std::max(most, std::abs(wanted[i]));
        worst = std::max(worst, std::abs(found[i] - wanted[i]));
      }
      // Half a step of 127 whose size is rounded to f16 too, or half a unit in the last of bf16's 8
      // bits.
      EXPECT_LE(worst, most / 127 * (0.5F + 127 * 0x1p-11F) + 0x1p-25F)
          << tensor.name << " " << name(storage);
    }
  }
}

TEST_F(RealKokoro, converts_what_it_converted) {
  ASSERT_TRUE(convert(folder / "a.gguf", std::nullopt).has_value());
  const auto again = convert_model(folder / "a.gguf", folder / "b.gguf",
                                   {.name = "kokoro", .storage = {}}, quiet, {});
  ASSERT_TRUE(again.has_value()) << again.error().message;
  EXPECT_EQ(test::read_file(folder / "b.gguf"), test::read_file(folder / "a.gguf"));
}

TEST_F(RealKokoro, takes_the_phonemes_that_lie_beside_it) {
  std::filesystem::create_directories(folder / "own");
  std::filesystem::create_symlink(source, folder / "own/kokoro.onnx");
  test::write_file(folder / "own/config.json", R"({"n_token": 178, "vocab": {"a": 7}})");
  const auto converted = convert_model(folder / "own/kokoro.onnx", folder / "m.gguf",
                                       {.name = "kokoro", .storage = {}}, quiet, {});
  ASSERT_TRUE(converted.has_value()) << converted.error().message;
  const auto checkpoint = kokoro::read_checkpoint(*open_tensor_file(folder / "m.gguf"));
  ASSERT_TRUE(checkpoint && checkpoint->phonemes);
  EXPECT_EQ(checkpoint->phonemes->size(), 1U);
  EXPECT_EQ(checkpoint->phonemes->id(U'a'), 7);
  test::write_file(folder / "own/config.json", R"({"vocab": {"a": 700}})");
  const auto refused = convert_model(folder / "own/kokoro.onnx", folder / "n.gguf",
                                     {.name = "kokoro", .storage = {}}, quiet, {});
  ASSERT_FALSE(refused.has_value());
  EXPECT_THAT(refused.error().message, HasSubstr("own/config.json: wanted single phonemes"));
}

TEST_F(RealKokoro, refuses_a_file_that_was_cut) {
  std::string bytes = test::read_file(source);
  bytes.resize(bytes.size() / 2);
  test::write_file(folder / "cut.onnx", bytes);
  const auto got = convert_model(folder / "cut.onnx", folder / "m.gguf",
                                 {.name = "kokoro", .storage = {}}, quiet, {});
  ASSERT_FALSE(got.has_value());
  EXPECT_THAT(got.error().message, HasSubstr("cut.onnx"));
  EXPECT_FALSE(std::filesystem::exists(folder / "m.gguf"));
}

TEST(ConvertKokoro, refuses_onnx_files_of_other_networks) {
  const std::string other = test::source_path("tests/fuzz/corpus/kokoro_onnx/good-lstm");
  const TemporaryFolder folder;
  StoreObserver quiet;
  const auto got =
      convert_model(other, folder / "m.gguf", {.name = "kokoro", .storage = {}}, quiet, {});
  ASSERT_FALSE(got.has_value());
  EXPECT_THAT(got.error().message,
              HasSubstr("wanted a Whisper, Silero or Kokoro model, an embedding model's "
                        "folder or a language model's GGUF, found 3 tensors "
                        "that are none's, the first named 'w'"));
}

}  // namespace
}  // namespace mynah
