// Tiny models layer by layer against openai/whisper (tools/export_whisper_golden.py).
#include <algorithm>
#include <cmath>
#include <cstring>

#include <gtest/gtest.h>

#include "formats/open.h"
#include "golden_backend.h"
#include "models/whisper/generate.h"
#include "models/whisper/names.h"
#include "models/whisper/tiny_model.h"
#include "test_paths.h"

namespace mynah::whisper {
namespace {

// The encoder on one device, the decoder on it too or on another.
struct GoldenCase {
  bool multilingual;
  DeviceKind encoder;
  DeviceKind decoder;
};

std::string case_name(const testing::TestParamInfo<GoldenCase>& info) {
  const GoldenCase& c = info.param;
  return std::string(c.multilingual ? "multilingual_" : "english_") +
         test::golden_device(c.encoder) +
         (c.decoder == c.encoder ? "" : "_" + test::golden_device(c.decoder));
}

class WhisperGolden : public testing::TestWithParam<GoldenCase> {
 protected:
  void SetUp() override {
    const GoldenCase& c = GetParam();
    backend_ = test::golden_backend(c.encoder, pool_);
    ASSERT_NE(backend_, nullptr);
    if (c.decoder != c.encoder) {
      decoder_backend_ = test::golden_backend(c.decoder, pool_);
      ASSERT_NE(decoder_backend_, nullptr);
    }
    const std::string name = GetParam().multilingual ? "multilingual" : "english";
    auto golden =
        open_tensor_file(test::source_path("tests/models/whisper/golden/" + name + ".safetensors"));
    ASSERT_TRUE(golden.has_value()) << golden.error().message;
    golden_ = std::move(*golden);
    model_ = test::tiny_model(c.multilingual, exactly_on(*backend_), exactly_on(decoder_side()));
    ASSERT_NE(model_, nullptr);
  }

  static StageOptions exactly_on(Backend& backend) {
    return {.backend = &backend, .storage = {}, .precision = Precision::Exact, .cache = nullptr};
  }

  [[nodiscard]] Backend& decoder_side() const {
    return decoder_backend_ == nullptr ? *backend_ : *decoder_backend_;
  }

  template <class T>
  std::vector<T> golden(const std::string& name) const {
    const StoredTensor* tensor = golden_.find(name);
    EXPECT_NE(tensor, nullptr) << name;
    std::vector<T> values(tensor == nullptr ? 0 : tensor->bytes.size() / sizeof(T));
    if (tensor != nullptr) {
      std::memcpy(values.data(), tensor->bytes.data(), tensor->bytes.size());
    }
    return values;
  }

  // The worst difference against the bound that rounding gives: each of `additions` on the way to
  // a value can add half a unit in the last place of the largest one (Higham 2002, section 3.1),
  // in both programs.
  void expect_close(const std::string& name, const std::vector<float>& found, int additions) {
    const std::vector<float> wanted = golden<float>(name);
    ASSERT_EQ(found.size(), wanted.size()) << name;
    float largest = 0;
    for (const float value : wanted) {
      largest = std::max(largest, std::abs(value));
    }
    const float bound = largest * static_cast<float>(additions) * 0x1p-23F;
    size_t worst = 0;
    for (size_t i = 0; i < found.size(); ++i) {
      if (!(std::abs(found[i] - wanted[i]) <= std::abs(found[worst] - wanted[worst]))) {
        worst = i;
      }
    }
    EXPECT_LE(std::abs(found[worst] - wanted[worst]), bound)
        << name << " at " << worst << ": wanted " << wanted[worst] << ", found " << found[worst];
  }

  // The seeded input (n_mels, frames) as the encoder takes it: (frames, n_mels).
  Tensor mel() const {
    const Config& c = model_->config();
    const std::vector<float> values = test::seeded_uniform("mel", c.n_mels * c.window_frames());
    return ops::transpose(*backend_, ops::from_host(*backend_, std::span<const float>(values),
                                                    {c.n_mels, c.window_frames()}));
  }

  CrossCache listen(std::vector<AudioEncoder::LayerKeys>* kept = nullptr) const {
    const Lengths frames{model_->config().window_frames()};
    states_ = model_->encoder().forward(mel(), frames, {}, kept);
    return model_->cross_cache(states_, frames);
  }

  std::vector<int32_t> start() const {
    const auto language = model_->tokenizer().language_token("en");
    return model_->tokenizer().sot_sequence(language.value_or(-1), false);
  }

  void expect_tokens(const std::string& kind, bool timestamps, int beam_size, float patience) {
    RuleOptions rule_options;
    rule_options.timestamps = timestamps;
    rule_options.max_initial_timestamp_s = 0;
    rule_options.suppress_tokens = golden<int32_t>("suppressed");
    const auto rules = TokenRules::create(model_->tokenizer(), rule_options, decoder_side());
    ASSERT_TRUE(rules.has_value()) << rules.error().message;
    GenerateRequest request;
    request.prompt = start();
    if (!timestamps) {
      request.prompt.push_back(model_->tokenizer().special().no_timestamps);
    }
    GenerateOptions options;
    options.beam_size = beam_size;
    options.patience = patience;
    options.max_new_tokens = 20;
    const CrossCache cross = listen();
    const std::vector<Generated> results =
        model_->generator(*rules).run(std::span(&request, 1), options, cross, std::stop_token());
    ASSERT_EQ(results.size(), 1U);
    EXPECT_EQ(results[0].tokens, golden<int32_t>("tokens." + kind)) << kind;
    // The mean of twenty logits' differences, each as exact as the logits are.
    const std::vector<float> score = golden<float>("score." + kind);
    EXPECT_NEAR(results[0].mean_log_probability(), score[0], 20.0F * kDecoderAdditions * 0x1p-23F);
    EXPECT_NEAR(results[0].no_speech_probability, score[1],
                score[1] * 20.0F * kDecoderAdditions * 0x1p-23F);
  }

  // Additions on the way to a value: the convolutions' products, then each layer's.
  static constexpr int kEncoderAdditions = 128 * 3 + 16 * 3 + 2 * (16 + 8 + 50 + 16 + 16 + 64 + 32);
  static constexpr int kDecoderAdditions =
      kEncoderAdditions + 2 * (16 + 8 + 7 + 16 + 16 + 8 + 50 + 16 + 16 + 64 + 48) + 16;

  ThreadPool pool_{2};
  std::unique_ptr<Backend> backend_;          // the encoder's
  std::unique_ptr<Backend> decoder_backend_;  // where it is another
  TensorFile golden_;
  std::shared_ptr<const Model> model_;

  // Whether another case has shown how texts are written there: by what computes the decoder, and
  // on a simulated card, which takes ten seconds, in one language.
  [[nodiscard]] static bool is_written_as_elsewhere() {
    const GoldenCase& c = GetParam();
    return c.decoder != c.encoder || (c.multilingual && c.decoder == DeviceKind::Simt);
  }

  mutable Tensor states_;
};

TEST_P(WhisperGolden, EncoderMatchesTheReferenceLayerByLayer) {
  std::vector<AudioEncoder::LayerKeys> kept;
  (void)listen(&kept);
  ASSERT_EQ(kept.size(), 2U);
  for (size_t i = 0; i < kept.size(); ++i) {
    const std::string layer = "encoder." + std::to_string(i);
    expect_close(layer + ".key", ops::to_host(*backend_, kept[i].keys), kEncoderAdditions);
    expect_close(layer + ".value", ops::to_host(*backend_, kept[i].values), kEncoderAdditions);
  }
  expect_close("encoder.states", ops::to_host(*backend_, states_), kEncoderAdditions);
}

TEST_P(WhisperGolden, DecoderMatchesTheReferenceLayerByLayer) {
  const CrossCache cross = listen();
  std::vector<int32_t> tokens = start();
  const std::vector<int32_t> text = {11, 345, 6789,
                                     static_cast<int32_t>(50000 % model_->config().n_vocab)};
  tokens.insert(tokens.end(), text.begin(), text.end());
  KvCache cache = model_->decoder().new_cache(1, 32);
  const Lane lane{.sequence = cache.add(), .count = static_cast<int64_t>(tokens.size())};
  std::vector<Tensor> queries;
  const Tensor hidden =
      model_->decoder().forward(tokens, std::span(&lane, 1), cache, cross, &queries);
  for (size_t i = 0; i < queries.size(); ++i) {
    expect_close("decoder." + std::to_string(i) + ".cross_query",
                 ops::to_host(decoder_side(), queries[i]), kDecoderAdditions);
  }
  const std::vector<float> logits = ops::to_host(decoder_side(), model_->decoder().logits(hidden));
  std::vector<float> some;  // every 97th
  const auto vocabulary = static_cast<size_t>(model_->config().n_vocab);
  for (size_t row = 0; row < tokens.size(); ++row) {
    for (size_t column = 0; column < vocabulary; column += 97) {
      some.push_back(logits[row * vocabulary + column]);
    }
  }
  expect_close("decoder.logits", some, kDecoderAdditions);
}

TEST_P(WhisperGolden, GreedyDecodingWithTimestampRulesGivesTheReferencesTokens) {
  expect_tokens("greedy", true, 1, 1.0F);
}

TEST_P(WhisperGolden, GreedyDecodingWithoutTimestampsGivesTheReferencesTokens) {
  expect_tokens("plain", false, 1, 1.0F);
}

TEST_P(WhisperGolden, BeamSearchGivesTheReferencesTokens) {
  expect_tokens("beam", true, 3, 1.0F);
}

TEST_P(WhisperGolden, PatientBeamSearchGivesTheReferencesTokens) {
  expect_tokens("patient", false, 2, 2.0F);
}

// Beside each other, of one batch: texts that begin with more and more of the one that is written
// whole.
TEST_P(WhisperGolden, ATextThatIsBegunGoesOnAsItWouldByItself) {
  if (is_written_as_elsewhere()) {
    return;
  }
  RuleOptions rule_options;
  rule_options.max_initial_timestamp_s = 0;
  const auto rules = TokenRules::create(model_->tokenizer(), rule_options, decoder_side());
  ASSERT_TRUE(rules.has_value()) << rules.error().message;
  const CrossCache cross = listen();
  const Generator generator = model_->generator(*rules);
  for (const int beam_size : {1, 2}) {
    const GenerateOptions options{.beam_size = beam_size, .max_new_tokens = 20};
    std::vector<GenerateRequest> requests = {{.prompt = start()}};
    const Generated whole = generator.run(requests, options, cross, {}).at(0);
    ASSERT_GT(whole.tokens.size(), 4U);
    requests.clear();
    for (const size_t count :
         {size_t{0}, size_t{1}, whole.tokens.size() / 2, whole.tokens.size() - 1}) {
      const auto tokens = std::span(whole.tokens).first(count);
      const auto likely = std::span(whole.log_probabilities).first(count);
      requests.push_back({.prompt = start(),
                          .begun = {tokens.begin(), tokens.end()},
                          .begun_log_probabilities = {likely.begin(), likely.end()}});
    }
    const std::vector<Generated> all = generator.run(requests, options, cross, {});
    for (size_t i = 0; i < all.size(); ++i) {
      EXPECT_EQ(all[i].no_speech_probability, whole.no_speech_probability);
      EXPECT_EQ(all[i].tokens.size(), all[i].log_probabilities.size());
      ASSERT_GE(all[i].tokens.size(), requests[i].begun.size());
      EXPECT_TRUE(std::ranges::equal(std::span(all[i].tokens).first(requests[i].begun.size()),
                                     requests[i].begun));
      if (beam_size == 1) {  // more beams may find a likelier end
        EXPECT_EQ(all[i].tokens, whole.tokens);
        EXPECT_NEAR(all[i].sum_log_probability, whole.sum_log_probability,
                    20.0 * 20.0 * kDecoderAdditions * 0x1p-23);
      }
    }
  }
}

// What is found with penalties for repetition: tokens and the sum of their log probabilities.
struct Penalised {
  struct Found {
    std::vector<int32_t> tokens;
    double sum_log_probability;
  };

  GenerateOptions options;
  Found english;
  Found multilingual;
};

// As mynah found them when it read the logits back and changed them on the host, on ref, cpu and
// simt alike.
std::vector<Penalised> penalised() {
  return {
      {{.sampling = {.no_repeat_ngram_size = 3}, .max_new_tokens = 20},
       {{47708, 35771, 36128, 50003, 37015, 37015, 37015, 50003, 37015, 50003,
         50003, 37015, 21276, 37015, 37015, 4894,  37015, 37015, 21276, 50003},
        -85.5728998},
       {{25673, 25673, 26747, 26747, 25673, 25673, 25673, 28583, 28583, 47284,
         13045, 25673, 25673, 38097, 38097, 25673, 25673, 28825, 25673, 25673},
        -85.5551119}},
      {{.sampling = {.repetition_penalty = 1.05F, .no_repeat_ngram_size = 2}, .max_new_tokens = 20},
       {{47708, 35771, 36128, 50003, 37015, 37015, 21276, 37015, 50003, 50003,
         4894,  4894,  37015, 13230, 37015, 34658, 37015, 43908, 37015, 9341},
        -95.4277353},
       {{25673, 26747, 26747, 25673, 25673, 38097, 46010, 25673, 28583, 47284,
         13045, 25673, 45622, 48887, 15022, 28406, 28406, 38097, 25673, 28825},
        -93.3174357}},
      {{.sampling = {.temperature = 0.2F, .repetition_penalty = 1.3F, .no_repeat_ngram_size = 3},
        .best_of = 2,
        .max_new_tokens = 20},
       {{47708, 35771, 36128, 37015, 50003, 43742, 37023, 9341,  17289, 21276,
         4894,  12569, 17807, 41649, 46359, 15959, 2757,  13230, 34658, 48382},
        -104.583403},
       {{26747, 25673, 7047,  45622, 10019, 16359, 15022, 33451, 16635, 17289,
         25274, 40541, 13366, 40060, 42111, 20548, 20177, 48940, 20245, 38097},
        -94.3070741}},
      {{.sampling = {.repetition_penalty = 1.3F, .no_repeat_ngram_size = 3},
        .beam_size = 3,
        .max_new_tokens = 20},
       {{31219, 37023, 21276, 37015, 50003, 2757,  16501, 13230, 17289, 42961,
         34658, 4894,  12569, 9341,  20162, 35362, 50141, 44854, 36128, 34473},
        -97.799088},
       {{26747, 25673, 45622, 48887, 46208, 11054, 40032, 29619, 37023, 37015,
         50141, 9341,  24974, 22981, 23233, 4250,  48940, 45623, 17715, 22863},
        -92.7965317}},
  };
}

TEST_P(WhisperGolden, PenaltiesForRepetitionGiveTheTokensThatTheyGaveOnTheHost) {
  if (is_written_as_elsewhere()) {
    return;
  }
  RuleOptions rule_options;
  rule_options.timestamps = false;
  const auto rules = TokenRules::create(model_->tokenizer(), rule_options, decoder_side());
  ASSERT_TRUE(rules.has_value()) << rules.error().message;
  const GenerateRequest request{.prompt = start()};
  const CrossCache cross = listen();
  for (const Penalised& row : penalised()) {
    const Penalised::Found& wanted = GetParam().multilingual ? row.multilingual : row.english;
    const std::vector<Generated> found = model_->generator(*rules).run(
        std::span(&request, 1), row.options, cross, std::stop_token());
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0].tokens, wanted.tokens);
    // Twenty logits' differences, each as exact as the logits are.
    EXPECT_NEAR(found[0].sum_log_probability, wanted.sum_log_probability,
                20.0 * 20.0 * kDecoderAdditions * 0x1p-23);
  }
}

TEST_P(WhisperGolden, LanguageDetectionGivesTheReferencesLanguage) {
  if (!GetParam().multilingual) {
    EXPECT_EQ(golden_.find("language"), nullptr);
    return;
  }
  const std::vector<LanguageGuess> guesses = model_->detect_language(listen());
  EXPECT_EQ(guesses.at(0).token, golden<int32_t>("language").at(0));
  EXPECT_NEAR(guesses.at(0).probability, golden<float>("language.probability").at(0),
              20.0F * kDecoderAdditions * 0x1p-23F);
}

TEST_P(WhisperGolden, LogMelMatchesTheReferenceOnASeededWaveform) {
  const std::vector<float> samples = test::seeded_uniform("waveform", 4000);
  const AudioWindow window{.samples = samples, .frames = 40};
  Lengths frames;
  const Tensor mel = model_->log_mel(std::span(&window, 1), frames);
  // The reference computes a spectrum in f32: 400 additions of squares, on a scale where a factor
  // of ten is a quarter; frames near silence are clamped eight decades below the loudest, where
  // rounding of the loudest is 1e-7 of it and the frame's own part begins.
  const std::vector<float> wanted = golden<float>("log_mel");
  const std::vector<float> found = ops::to_host(*backend_, mel);
  ASSERT_EQ(found.size(), wanted.size());
  for (size_t i = 0; i < found.size(); ++i) {
    EXPECT_NEAR(found[i], wanted[i], 1e-4F) << i;
  }
}

std::vector<GoldenCase> golden_cases() {
  std::vector<GoldenCase> cases;
  for (const bool multilingual : {false, true}) {
    for (const DeviceKind device : {DeviceKind::Ref, DeviceKind::Cpu, DeviceKind::Simt}) {
      cases.push_back({multilingual, device, device});
    }
    cases.push_back({multilingual, DeviceKind::Cpu, DeviceKind::Ref});
    cases.push_back({multilingual, DeviceKind::Simt, DeviceKind::Cpu});
  }
  cases.push_back({false, DeviceKind::Cpu, DeviceKind::Simt});  // of the slower kind one is enough
  return cases;
}

INSTANTIATE_TEST_SUITE_P(Models, WhisperGolden, testing::ValuesIn(golden_cases()), case_name);

TEST(WhisperNames, EveryProducersCheckpointBecomesTheSameTensors) {
  for (const bool multilingual : {false, true}) {
    const Config config = test::tiny_config(multilingual);
    const auto openai = test::tiny_checkpoint(config, "openai");
    const auto wanted = read_checkpoint(*openai, "");
    ASSERT_TRUE(wanted.has_value()) << wanted.error().message;
    EXPECT_EQ(wanted->config, config);
    for (const char* producer : {"huggingface", "ctranslate2"}) {
      const auto file = test::tiny_checkpoint(config, producer);
      const auto found = read_checkpoint(*file, "");
      ASSERT_TRUE(found.has_value()) << producer << ": " << found.error().message;
      EXPECT_EQ(found->config, config) << producer;
      ASSERT_EQ(found->tensors.size(), wanted->tensors.size()) << producer;
      for (const StoredTensor& tensor : wanted->tensors) {
        const auto same = std::ranges::find(found->tensors, tensor.name, &StoredTensor::name);
        ASSERT_NE(same, found->tensors.end()) << producer << ": " << tensor.name;
        EXPECT_EQ(same->shape, tensor.shape) << tensor.name;
        EXPECT_TRUE(std::ranges::equal(same->bytes, tensor.bytes)) << producer << tensor.name;
      }
    }
  }
}

TEST(WhisperNames, AMissingTensorAndAWrongShapeAreNamed) {
  const auto whole = test::tiny_checkpoint(test::tiny_config(false), "openai");
  TensorFile file = *whole;
  const auto named = [&](const char* name) {
    return std::ranges::find(file.tensors, name, &StoredTensor::name);
  };
  named("decoder.blocks.1.mlp.0.bias")->shape = {16, 4};
  auto result = read_checkpoint(file, "");
  ASSERT_TRUE(result.has_value()) << "a vector may have two dimensions";
  named("encoder.blocks.1.attn.key.weight")->shape = {8, 32};
  result = read_checkpoint(file, "");
  ASSERT_FALSE(result.has_value());
  EXPECT_NE(result.error().message.find("encoder.blocks.1.attn.key.weight"), std::string::npos);
  EXPECT_NE(result.error().message.find("(8, 32)"), std::string::npos);
  file.tensors.erase(named("decoder.ln.weight"));
  file.tensors.erase(named("encoder.blocks.1.attn.key.weight"));
  result = read_checkpoint(file, "");
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().code, ErrorCode::InvalidInput);
}

}  // namespace
}  // namespace mynah::whisper
