// A tiny Kokoro on every backend, layer by layer, against PyTorch (tools/export_kokoro_golden.py):
// a checkpoint as PyTorch writes it, read as a user's is. No noise, phases from zero.
#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "formats/open.h"
#include "golden_backend.h"
#include "models/kokoro/checkpoint.h"
#include "models/kokoro/model.h"
#include "oracle_arrays.h"
#include "tensor/device_error.h"
#include "tensor/fault_watch.h"
#include "tensor/watched_backend.h"

namespace mynah::kokoro {
namespace {

constexpr WeightOptions kExact{.storage = DType::F32, .precision = Precision::Exact};
constexpr size_t kSpectrumRows = 16;  // of which the golden file has the first

std::string folder() {
  return test::source_path("tests/models/kokoro/golden/");
}

Result<Checkpoint> read_tiny() {
  MYNAH_TRY(const TensorFile file, open_tensor_file(folder() + "tiny.pth"));
  return read_checkpoint(file);
}

class KokoroGolden : public testing::TestWithParam<DeviceKind> {
 protected:
  void SetUp() override {
    backend_ = test::golden_backend(GetParam(), pool_);
    ASSERT_NE(backend_, nullptr);
    auto golden = test::OracleArrays::open(folder() + "golden.npz");
    ASSERT_TRUE(golden.has_value()) << golden.error().message;
    golden_ = *std::move(golden);
    auto checkpoint = read_tiny();
    ASSERT_TRUE(checkpoint.has_value()) << checkpoint.error().message;
    weights_ = std::make_unique<Weights>(std::move(checkpoint->tensors), checkpoint->owner,
                                         *backend_, kExact);
    const auto sizes = read_sizes(*weights_);
    ASSERT_TRUE(sizes.has_value()) << sizes.error().message;
    sizes_ = *sizes;
  }

  [[nodiscard]] Tensor given(const std::string& name) const {
    return golden_.tensor(*backend_, name);
  }

  [[nodiscard]] Tensor style(bool acoustic) const {
    const std::vector<float> both = golden_.values("style");
    const auto half = std::span<const float>(both);
    return ops::from_host(*backend_,
                          acoustic ? half.first(half.size() / 2) : half.last(half.size() / 2),
                          {1, sizes_.style});
  }

  // The phonemes, pauses around them.
  [[nodiscard]] std::vector<int32_t> phonemes() const {
    std::vector<int32_t> ids = golden_.values<int32_t>("ids");
    ids.insert(ids.begin(), 0);
    ids.push_back(0);
    return ids;
  }

  // Each phoneme's row as often as it has frames.
  [[nodiscard]] Tensor in_time(const Tensor& rows) const {
    const std::vector<int32_t> places = phonemes_of(golden_.values<int32_t>("frames"));
    return ops::gather_rows(
        *backend_, rows,
        ops::from_host(*backend_, std::span<const int32_t>(places), {std::ssize(places)}));
  }

  // Sums of some hundred numbers, a dozen layers deep: some thousand roundings of the largest.
  void expect_close(const Tensor& found, const std::string& name) const {
    expect_close(ops::to_host(*backend_, found), name);
  }

  void expect_close(const std::vector<float>& found, const std::string& name) const {
    const std::vector<float> wanted = golden_.values(name);
    EXPECT_LE(test::distance(found, wanted), 1000.0F * 0x1p-24F * test::largest(wanted)) << name;
  }

  void expect_block(const AdaInBlock::Sizes& sizes, const std::string& module,
                    const std::string& input, const std::string& output, bool acoustic) const {
    AdaInBlock::Sizes styled = sizes;
    styled.style = sizes_.style;
    const auto block = AdaInBlock::load(*weights_ / module, styled);
    ASSERT_TRUE(block.has_value()) << block.error().message;
    expect_close((*block)(given(input), style(acoustic)), output);
  }

  ThreadPool pool_{2};
  std::unique_ptr<Backend> backend_;
  test::OracleArrays golden_;
  std::unique_ptr<Weights> weights_;
  Sizes sizes_;
};

TEST_P(KokoroGolden, SizesAreThoseOfTheFile) {
  EXPECT_EQ(sizes_.style, 4);
  EXPECT_EQ(sizes_.hidden, 8);
  EXPECT_EQ(sizes_.embedding, 6);
  EXPECT_EQ(sizes_.width, 24);
  EXPECT_EQ(sizes_.inner, 10);
  EXPECT_EQ(sizes_.decoder, 12);
  EXPECT_EQ(sizes_.seen, 3);
  EXPECT_EQ(sizes_.generator, 16);
}

TEST_P(KokoroGolden, Albert) {
  const auto albert = Albert::load(*weights_ / "bert", sizes_);
  ASSERT_TRUE(albert.has_value()) << albert.error().message;
  const auto narrow =
      Linear::load(*weights_ / "bert_encoder", {.in = sizes_.width, .out = sizes_.hidden});
  ASSERT_TRUE(narrow.has_value()) << narrow.error().message;
  const std::vector<int32_t> ids = phonemes();
  const Tensor heard = (*albert)(ids, {std::ssize(ids)});
  expect_close(heard, "albert");
  expect_close((*narrow)(given("albert")), "heard");
}

TEST_P(KokoroGolden, Durations) {
  const auto predictor = DurationPredictor::load(*weights_ / "predictor", sizes_);
  ASSERT_TRUE(predictor.has_value()) << predictor.error().message;
  const Prosody prosody = (*predictor)(given("heard"), style(false), 1.0F);
  expect_close(prosody.x, "prosody");
  EXPECT_EQ(prosody.frames, golden_.values<int32_t>("frames"));
}

TEST_P(KokoroGolden, Melody) {
  const auto shared =
      BiLstm::load(*weights_ / "predictor.shared",
                   {.in = sizes_.hidden + sizes_.style, .hidden = sizes_.hidden / 2});
  ASSERT_TRUE(shared.has_value()) << shared.error().message;
  const Tensor prosody = in_time(given("prosody"));
  expect_close((*shared)(prosody, Lengths{prosody.dim(0)}), "shared");
  const int64_t half = sizes_.hidden / 2;
  for (const std::string curve : {"F0", "N"}) {
    const std::string module = "predictor." + curve;
    expect_block({.in = sizes_.hidden, .out = sizes_.hidden}, module + ".0", "shared", curve + ".0",
                 false);
    expect_block({.in = sizes_.hidden, .out = half, .upsamples = true}, module + ".1", curve + ".0",
                 curve + ".1", false);
    expect_block({.in = half, .out = half}, module + ".2", curve + ".1", curve + ".2", false);
  }
  const auto melody = MelodyPredictor::load(*weights_ / "predictor", sizes_);
  ASSERT_TRUE(melody.has_value()) << melody.error().message;
  const Melody found = (*melody)(prosody, style(false));
  expect_close(found.pitch, "F0");
  expect_close(found.energy, "N");
}

TEST_P(KokoroGolden, Text) {
  const auto encoder = TextEncoder::load(*weights_ / "text_encoder", sizes_);
  ASSERT_TRUE(encoder.has_value()) << encoder.error().message;
  expect_close((*encoder)(phonemes()), "text");
}

TEST_P(KokoroGolden, Decoder) {
  const int64_t in = sizes_.decoder + sizes_.seen + 2;
  const std::string module = "decoder.";
  expect_block({.in = sizes_.hidden + 2, .out = sizes_.decoder}, module + "encode",
               module + "encode.in", module + "encode", true);
  for (const std::string place : {"0", "1", "2", "3"}) {
    const bool last = place == "3";
    const std::string name = module + "decode." + place;
    expect_block({.in = in, .out = last ? sizes_.generator : sizes_.decoder, .upsamples = last},
                 name, name + ".in", name, true);
  }
  const auto decoder = Decoder::load(*weights_ / "decoder", sizes_);
  ASSERT_TRUE(decoder.has_value()) << decoder.error().message;
  expect_close(
      (*decoder)(in_time(given("text")), {.pitch = given("F0"), .energy = given("N")}, style(true)),
      "decoder.decode.3");
}

TEST_P(KokoroGolden, Generator) {
  const auto generator = Generator::load(*weights_ / "decoder.generator", sizes_);
  ASSERT_TRUE(generator.has_value()) << generator.error().message;
  const Tensor spectrum =
      generator->spectrum(given("decoder.decode.3"), given("harmonics"), style(true));
  std::vector<float> rows;
  const std::vector<float> all = ops::to_host(*backend_, spectrum);
  for (size_t at = 0; at < all.size(); at += kSpectrumRows * 2 * kBins) {
    rows.insert(rows.end(), all.begin() + static_cast<std::ptrdiff_t>(at),
                all.begin() + static_cast<std::ptrdiff_t>(at + 2 * kBins));
  }
  expect_close(rows, "spectrum");
  expect_close(generator->samples(spectrum), "samples");
}

// Sines at the pitch, some of it without voice: the middle of a frame, where the window is one, is
// the sum of its bins. PyTorch sums phases in f32: thousands of radians, a ten-thousandth each.
TEST_P(KokoroGolden, Source) {
  const auto generator = Generator::load(*weights_ / "decoder.generator", sizes_);
  ASSERT_TRUE(generator.has_value()) << generator.error().message;
  const std::vector<float> rows = ops::to_host(*backend_, generator->harmonics(given("F0")));
  const std::vector<float> source = golden_.values("source");
  const int64_t frames = std::ssize(source) / kHop + 1;
  ASSERT_EQ(std::ssize(rows), frames * 2 * kBins);
  double most = 0.0;
  for (int64_t frame = 0; frame < frames; ++frame) {
    double middle = 0.0;
    for (int64_t bin = 0; bin < kBins; ++bin) {
      const size_t at = static_cast<size_t>(frame * 2 * kBins + bin);
      const double twice = bin == 0 || bin == kBins - 1 ? 1.0 : 2.0;
      const double sign = bin % 2 == 0 ? 1.0 : -1.0;  // half of kFft turns by pi for each bin
      middle += twice * sign * static_cast<double>(rows[at]) *
                std::cos(static_cast<double>(rows[at + kBins])) / kFft;
    }
    const size_t sample = static_cast<size_t>(frame * kHop);
    if (sample < source.size()) {
      most = std::max(most, std::abs(middle - static_cast<double>(source[sample])));
    }
  }
  EXPECT_LT(most, 1e-3 * static_cast<double>(test::largest(source)));
}

TEST_P(KokoroGolden, AllTogether) {
  const auto model = Kokoro::load(*weights_);
  ASSERT_TRUE(model.has_value()) << model.error().message;
  const Speech speech = model->speak(golden_.values<int32_t>("ids"), golden_.values("style"), 1.0F);
  EXPECT_EQ(speech.frames, golden_.values<int32_t>("frames"));
  EXPECT_EQ(speech.samples.size(), golden_.values("samples").size());
}

// The acoustic stage on one device, the vocoder on another: durations as on the first alone. The
// samples of this tiny model hang on the last bits of phases, so that no two kinds of device agree
// on them; another device of the same kind gives the same bits, though all goes through the host.
TEST_P(KokoroGolden, TheVocoderOnAnotherDevice) {
  const std::vector<int32_t> ids = golden_.values<int32_t>("ids");
  const std::vector<float> style = golden_.values("style");
  const auto alone = Kokoro::load(*weights_);
  ASSERT_TRUE(alone.has_value()) << alone.error().message;
  const Speech wanted = alone->speak(ids, style, 1.0F);
  for (const DeviceKind device : {DeviceKind::Ref, DeviceKind::Cpu, DeviceKind::Simt}) {
    SCOPED_TRACE(test::golden_device(device));
    const auto vocoder = test::golden_backend(device, pool_);
    auto checkpoint = read_tiny();
    ASSERT_TRUE(checkpoint.has_value());
    const auto model = Kokoro::load(
        *weights_, Weights(std::move(checkpoint->tensors), checkpoint->owner, *vocoder, kExact));
    ASSERT_TRUE(model.has_value()) << model.error().message;
    const Speech speech = model->speak(ids, style, 1.0F);
    EXPECT_EQ(speech.frames, wanted.frames);
    ASSERT_EQ(speech.samples.size(), wanted.samples.size());
    EXPECT_THAT(speech.samples, testing::Each(testing::Not(testing::IsNan())));
    if (device == GetParam()) {
      EXPECT_EQ(speech.samples, wanted.samples) << "the same kind of device: the same bits";
    }
  }
}

// Two watches of one device share its tensors.
TEST_P(KokoroGolden, OneDeviceCopiesNothing) {
  const std::vector<int32_t> ids = golden_.values<int32_t>("ids");
  const std::vector<float> style = golden_.values("style");
  const auto alone = Kokoro::load(*weights_);
  ASSERT_TRUE(alone.has_value()) << alone.error().message;
  WatchedBackend acoustic(*backend_);
  WatchedBackend vocoder(*backend_);
  const auto weights = [&](Backend& backend) {
    auto checkpoint = read_tiny();
    return Weights(std::move(checkpoint->tensors), checkpoint->owner, backend, kExact);
  };
  const auto model = Kokoro::load(weights(acoustic), weights(vocoder));
  ASSERT_TRUE(model.has_value()) << model.error().message;
  const Speech speech = model->speak(ids, style, 1.0F);
  EXPECT_EQ(speech.samples, alone->speak(ids, style, 1.0F).samples);
  EXPECT_GT(acoustic.operations(), 0U);
  EXPECT_GT(vocoder.operations(), 0U);
}

// Whatever operation goes wrong: an error, or a sentence of some length.
TEST_P(KokoroGolden, DurationsThatAreNoNumbersAreAnErrorOfTheDevice) {
  FaultWatch fault;
  WatchedBackend watched(*backend_, &fault);
  auto checkpoint = read_tiny();
  ASSERT_TRUE(checkpoint.has_value());
  const auto model =
      Kokoro::load(Weights(std::move(checkpoint->tensors), checkpoint->owner, watched, kExact));
  ASSERT_TRUE(model.has_value()) << model.error().message;
  fault.arm(FaultKind::Nan, 3);
  EXPECT_THROW(static_cast<void>(
                   model->speak(golden_.values<int32_t>("ids"), golden_.values("style"), 1.0F)),
               DeviceError);
}

TEST(KokoroSizes, ThatCannotBeAreRefused) {
  RefBackend backend;
  const auto message = [&](const std::string& name, const Shape& shape) {
    auto checkpoint = read_tiny();
    EXPECT_TRUE(checkpoint.has_value());
    const std::vector<float> values(static_cast<size_t>(shape.elements()), 0.0F);
    for (StoredTensor& tensor : checkpoint->tensors) {
      if (tensor.name == name) {
        tensor.shape = shape;
        tensor.bytes = std::as_bytes(std::span(values));
      }
    }
    const auto model =
        Kokoro::load(Weights(std::move(checkpoint->tensors), checkpoint->owner, backend, kExact));
    return model ? "loaded" : model.error().message;
  };
  using testing::HasSubstr;
  EXPECT_THAT(message("bert_encoder.weight", {7, 24}), HasSubstr("a multiple of 2 as size 0"));
  EXPECT_THAT(message("bert_encoder.weight", {8, 25}), HasSubstr("a multiple of 12 as size 1"));
  EXPECT_THAT(message("decoder.generator.ups.0.weight", {18, 9, 20}),
              HasSubstr("a multiple of 4 as size 0 of Kokoro's, found shape (18, 9, 20)"));
  EXPECT_THAT(message("decoder.encode.norm1.fc.weight", {20}), HasSubstr("found shape (20)"));
  // Possible, but not beside the others.
  EXPECT_THAT(message("bert_encoder.weight", {10, 24}), HasSubstr("bert_encoder"));
  EXPECT_THAT(message("decoder.asr_res.0.weight", {5, 8, 1}), HasSubstr("decoder"));
}

std::string case_name(const testing::TestParamInfo<DeviceKind>& info) {
  return test::golden_device(info.param);
}

INSTANTIATE_TEST_SUITE_P(Backends, KokoroGolden,
                         testing::Values(DeviceKind::Ref, DeviceKind::Cpu, DeviceKind::Simt),
                         case_name);

}  // namespace
}  // namespace mynah::kokoro
