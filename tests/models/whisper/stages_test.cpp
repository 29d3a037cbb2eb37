// The encoder on one device and the decoder on another: with cached silence, with caches of their
// own, and with nothing copied where both are on one.
#include <cstring>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "golden_backend.h"
#include "models/whisper/alignment.h"
#include "models/whisper/tiny_model.h"
#include "tensor/device_error.h"
#include "tensor/fault_watch.h"
#include "tensor/watched_backend.h"

namespace mynah::whisper {
namespace {

using testing::AllOf;
using testing::Each;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

// Blobs in memory.
class MemoryCache final : public BlobCache {
 public:
  [[nodiscard]] std::optional<Blob> find(std::string_view name) const override {
    const auto found = blobs.find(std::string(name));
    if (found == blobs.end()) {
      return std::nullopt;
    }
    return Blob{.bytes = *found->second, .owner = found->second};
  }

  Status add(std::string_view name, std::span<const std::byte> bytes) override {
    blobs.try_emplace(std::string(name),
                      std::make_shared<const std::vector<std::byte>>(bytes.begin(), bytes.end()));
    return {};
  }

  Status commit() override { return {}; }

  void release_pages() const override {}

  [[nodiscard]] std::vector<std::string> silence() const {
    std::vector<std::string> names;
    for (const auto& [name, blob] : blobs) {
      if (name.starts_with("silence")) {
        names.push_back(name);
      }
    }
    return names;
  }

  std::map<std::string, std::shared_ptr<const std::vector<std::byte>>> blobs;
};

constexpr int kTokens = 4;  // the simulation takes a third of a second for one

struct Written {
  std::vector<int32_t> tokens;
  double score = 0;
  std::vector<double> word_starts;
};

StageOptions on(Backend& backend, std::shared_ptr<BlobCache> cache = nullptr,
                std::optional<DType> storage = std::nullopt) {
  return {.backend = &backend,
          .storage = storage,
          .precision = Precision::Exact,
          .cache = std::move(cache)};
}

// Tokens and words of a short noise, heard with silence behind it.
Written write_down(const Model& model) {
  const std::vector<float> samples = test::seeded_uniform("waveform", 2000);
  const AudioWindow window{.samples = samples, .frames = 20};
  Lengths frames;
  const Tensor mel = model.log_mel(std::span(&window, 1), frames);
  const SilenceCache& silence = model.silence();
  CrossCache cross =
      model.cross_cache(model.encoder().forward(mel, frames, encoder_tail(&silence)), frames);
  cross.silence = &silence;
  auto rules =
      TokenRules::create(model.tokenizer(), {.timestamps = false}, model.decoder_backend());
  EXPECT_TRUE(rules.has_value());
  GenerateRequest request;
  request.prompt = model.tokenizer().sot_sequence(-1, false);
  request.prompt.push_back(model.tokenizer().special().no_timestamps);
  const auto generated =
      model.generator(*rules).run(std::span(&request, 1), {.max_new_tokens = kTokens}, cross, {});
  Written written{.tokens = generated.at(0).tokens,
                  .score = generated.at(0).sum_log_probability,
                  .word_starts = {}};
  const AlignmentRequest align{.utterance = 0,
                               .positions = 10,
                               .sot_sequence = model.tokenizer().sot_sequence(-1, false),
                               .text_tokens = written.tokens,
                               .language = "en"};
  const auto aligned = align_words(model, cross, std::span(&align, 1));
  for (const WordTiming& word : aligned.at(0)) {
    written.word_starts.push_back(word.start_s);
  }
  return written;
}

class WhisperStages : public testing::Test {
 protected:
  ThreadPool pool_{2};
  std::unique_ptr<Backend> ref_ = test::golden_backend(DeviceKind::Ref, pool_);
  std::unique_ptr<Backend> cpu_ = test::golden_backend(DeviceKind::Cpu, pool_);
  std::unique_ptr<Backend> simt_ = test::golden_backend(DeviceKind::Simt, pool_);
};

TEST_F(WhisperStages, TwoDevicesWriteWhatOneDoes) {
  const Written wanted = write_down(*test::tiny_model(false, *cpu_));
  ASSERT_EQ(wanted.tokens.size(), static_cast<size_t>(kTokens));
  ASSERT_FALSE(wanted.word_starts.empty());
  const std::vector<std::pair<Backend*, Backend*>> pairs = {
      {cpu_.get(), ref_.get()}, {cpu_.get(), simt_.get()}, {simt_.get(), cpu_.get()}};
  for (const auto& [encoder, decoder] : pairs) {
    const auto model = test::tiny_model(false, on(*encoder), on(*decoder));
    SCOPED_TRACE(model->device());
    EXPECT_EQ(model->device(), encoder->device().str() + "," + decoder->device().str());
    EXPECT_EQ(model->parts(), 1);
    const Written found = write_down(*model);
    EXPECT_EQ(found.tokens, wanted.tokens);
    EXPECT_NEAR(found.score, wanted.score, 0.01);  // of four logarithms, each some -5
    EXPECT_EQ(found.word_starts, wanted.word_starts);
  }
}

// Two watches of one device: as the device itself, and nothing goes through the host for them.
TEST_F(WhisperStages, OneDeviceCopiesNothing) {
  for (Backend* device : {cpu_.get(), simt_.get()}) {
    const auto plain = test::tiny_model(false, *device);
    WatchedBackend encoder(*device);
    WatchedBackend decoder(*device);
    const auto watched = test::tiny_model(false, on(encoder), on(decoder));
    SCOPED_TRACE(watched->device());
    EXPECT_EQ(watched->device(), plain->device());
    EXPECT_EQ(watched->parts(), device->parts());
    const Tensor states = ops::zeros(encoder, {20, 16});
    EXPECT_EQ(ops::hand_over(encoder, decoder, states).raw(), states.raw());
    const Written wanted = write_down(*plain);
    const Written found = write_down(*watched);
    EXPECT_EQ(found.tokens, wanted.tokens);
    EXPECT_EQ(found.score, wanted.score);
    EXPECT_EQ(found.word_starts, wanted.word_starts);
    EXPECT_GT(encoder.operations(), 0U);
    EXPECT_GT(decoder.operations(), 0U);
  }
}

TEST_F(WhisperStages, EachStageKeepsItsHalfOfSilence) {
  const auto of_encoder = std::make_shared<MemoryCache>();
  const auto of_decoder = std::make_shared<MemoryCache>();
  const auto load = [&] {
    return test::tiny_model(false, on(*cpu_, of_encoder), on(*simt_, of_decoder));
  };
  const Written first = write_down(*load());
  EXPECT_THAT(of_encoder->silence(), AllOf(Not(IsEmpty()), Each(HasSubstr("silence.encoder."))));
  EXPECT_THAT(of_decoder->silence(), AllOf(Not(IsEmpty()), Each(HasSubstr("silence.decoder."))));
  // Read by the next: no encoder hears the silence again.
  WatchedBackend encoder(*cpu_);
  const auto again = test::tiny_model(false, on(encoder, of_encoder), on(*simt_, of_decoder));
  const uint64_t before = encoder.operations();
  static_cast<void>(again->silence());
  EXPECT_EQ(encoder.operations(), before);
  const Written second = write_down(*again);
  EXPECT_EQ(second.tokens, first.tokens);
  EXPECT_EQ(second.score, first.score);
}

// The decoder's half hangs on what the encoder made of silence: of an encoder with other weights it
// is another, or the text would depend on which run came first.
TEST_F(WhisperStages, SilenceOfAnotherEncoderIsAnother) {
  const auto cache = std::make_shared<MemoryCache>();
  const auto of_coarse = std::make_shared<MemoryCache>();
  const auto together = test::tiny_model(false, on(*cpu_, cache), on(*cpu_, cache));
  static_cast<void>(together->silence());
  const std::vector<std::string> before = cache->silence();
  const auto apart = test::tiny_model(false, on(*cpu_, of_coarse, DType::BF16), on(*cpu_, cache));
  static_cast<void>(apart->silence());
  const std::vector<std::string> after = cache->silence();
  EXPECT_EQ(after.size(), before.size() + static_cast<size_t>(apart->config().n_text_layer));
  EXPECT_THAT(after, testing::Contains(HasSubstr("bf16")));
}

TEST_F(WhisperStages, EachStageHasItsOwnStorageType) {
  const Written exact = write_down(*test::tiny_model(false, *cpu_));
  const auto coarse_decoder = test::tiny_model(false, on(*cpu_), on(*simt_, nullptr, DType::I8));
  const Written found = write_down(*coarse_decoder);
  EXPECT_EQ(found.tokens.size(), exact.tokens.size());
  EXPECT_NE(found.score, exact.score) << "int8 is not f32";
}

// A device that gives no numbers must not leave any for later runs; the next try may go well.
TEST_F(WhisperStages, SilenceThatIsNoNumberIsAnErrorAndIsNotKept) {
  const auto cache = std::make_shared<MemoryCache>();
  FaultWatch fault;
  WatchedBackend watched(*cpu_, &fault);
  const auto model = test::tiny_model(false, on(watched, cache), on(watched, cache));
  fault.arm(FaultKind::Nan, 5);
  EXPECT_THROW(static_cast<void>(model->silence()), DeviceError);
  EXPECT_THAT(cache->silence(), IsEmpty());
  fault.disarm();
  EXPECT_EQ(write_down(*model).tokens, write_down(*test::tiny_model(false, *cpu_)).tokens);
}

}  // namespace
}  // namespace mynah::whisper
