// Decode steps run as a card's graphs: the same bits as the operations one by one, from the first
// token to the last that a text has room for, and one copy up and one down a token.
#include <algorithm>
#include <cstring>
#include <memory>
#include <set>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cuda/counting_processor.h"
#include "models/whisper/decoder.h"
#include "models/whisper/generate.h"
#include "models/whisper/tiny_model.h"
#include "nn/weights.h"

namespace mynah::whisper {
namespace {

using cuda::Calls;
using cuda::CountedSimt;

constexpr int64_t kTokens = 448;  // of Whisper's longest text
constexpr int64_t kVocabulary = 96;

// A step is found again by the bytes of its launches' arguments. A compiler that cannot clear what
// lies between their fields (clang, which the sanitizers have) finds few: bits are compared there,
// not how often graphs were run.
#if __has_builtin(__builtin_clear_padding)
constexpr bool kStepsAreFound = true;
#else
constexpr bool kStepsAreFound = false;
#endif

// A decoder of random weights that hears two utterances of random states.
class SmallDecoder {
 public:
  explicit SmallDecoder(Backend& backend, bool penalises = false)
      : backend_(backend), penalises_(penalises) {
    Config config = test::tiny_config(false);
    config.n_vocab = kVocabulary;
    config.n_text_ctx = kTokens;
    const std::shared_ptr<const TensorFile> file = test::tiny_checkpoint(config, "openai");
    const Weights weights(file->tensors, file, backend, {});
    auto decoder = Decoder::load(weights / "decoder", config);
    EXPECT_TRUE(decoder.has_value()) << decoder.error().message;
    decoder_ = std::move(*decoder);
    const Lengths lengths{50, 20};
    const std::vector<float> states = test::seeded_uniform("states", lengths.total() * kWidth);
    cross_ = decoder_.cross_cache(
        ops::from_host(backend, std::span<const float>(states), {lengths.total(), kWidth}),
        lengths);
  }

  // Every step's logits, ids and log probabilities, as bytes: tokens sampled from the first to the
  // last that `capacity` has room for, `lanes` sequences of which one ends after every `ends`
  // steps.
  [[nodiscard]] std::vector<std::byte> decode(StepRunner& steps, int64_t capacity, int64_t lanes,
                                              int64_t ends) const {
    KvCache cache = decoder_.new_cache(lanes, capacity);
    std::vector<Lane> next;
    next.reserve(static_cast<size_t>(lanes));
    for (int64_t i = 0; i < lanes; ++i) {
      next.push_back({.sequence = cache.add(), .count = 1, .context = i % 2});
    }
    std::vector<int32_t> tokens(next.size(), 1);
    std::vector<std::vector<int32_t>> said(tokens.size());
    std::vector<std::byte> all;
    for (int64_t step = 0; step < capacity; ++step) {
      if (step > 0 && step % ends == 0 && tokens.size() > 1) {
        tokens.pop_back();
        said.pop_back();
        next.pop_back();
      }
      const auto n = static_cast<int64_t>(tokens.size());
      cache.reserve(next);
      std::vector<std::byte> result(static_cast<size_t>(n * (kVocabulary + 2)) * sizeof(float));
      steps.run(
          [&](const BufferRef& memory) { this->step(tokens, said, next, step, cache, memory); },
          result);
      std::memcpy(tokens.data(), result.data(), tokens.size() * sizeof(int32_t));
      for (size_t i = 0; i < tokens.size(); ++i) {
        said[i].push_back(tokens[i]);
      }
      all.insert(all.end(), result.begin(), result.end());
    }
    return all;
  }

 private:
  static constexpr int64_t kWidth = 16;

  // What was said is penalised, what was said last but three never comes: none at first, in the
  // end every token.
  static void penalise(std::span<const int32_t> said, SampleRow& rule,
                       std::vector<TokenPenalty>& penalties) {
    rule.penalties_begin = static_cast<int32_t>(penalties.size());
    const std::set<int32_t> once(said.begin(), said.end());
    for (const int32_t token : once) {
      const bool never = said.size() > 3 && said[said.size() - 4] == token;
      penalties.push_back({.token = token, .factor = never ? TokenPenalty::kNever : 1.3F});
    }
    rule.penalties_count = static_cast<int32_t>(once.size());
  }

  // One token of each sequence: its id, its log probability and the logits are left in memory.
  void step(std::span<const int32_t> tokens, std::span<const std::vector<int32_t>> said,
            std::span<const Lane> lanes, int64_t number, KvCache& cache,
            const BufferRef& memory) const {
    std::vector<SampleRow> rules;
    std::vector<TokenPenalty> penalties;
    const auto n = static_cast<int64_t>(tokens.size());
    for (int64_t i = 0; i < n; ++i) {
      const auto random = static_cast<float>((number * 37 + i * 11) % 64);
      rules.push_back({.temperature = 1.0F, .uniform = random / 64.0F});
      if (penalises_) {
        penalise(said[static_cast<size_t>(i)], rules.back(), penalties);
      }
    }
    const Tensor logits = decoder_.logits(decoder_.forward(tokens, lanes, cache, cross_));
    const auto at = [&](int64_t offset, int64_t columns, DType dtype) {
      return Tensor(memory, static_cast<size_t>(offset * n) * sizeof(float), {n, columns}, dtype,
                    backend_.device());
    };
    ops::sample_into(backend_, logits, {.rows = rules, .penalties = penalties},
                     {.ids = at(0, 1, DType::I32), .log_probabilities = at(1, 1, DType::F32)});
    ops::copy_into(backend_, logits, at(2, kVocabulary, DType::F32));
  }

  Backend& backend_;
  bool penalises_;
  Decoder decoder_;
  CrossCache cross_;
};

class DecodeSteps : public testing::Test {
 protected:
  ThreadPool pool_{1};
  CountedSimt simt_{pool_};
};

TEST_F(DecodeSteps, AsGraphsHaveTheBitsOfOperationsOneByOneForAWholeText) {
  const SmallDecoder decoder(*simt_.backend);
  const auto plain = make_plain_step_runner(*simt_.backend);
  const auto graphs = simt_.backend->make_step_runner();
  const std::vector<std::byte> wanted = decoder.decode(*plain, kTokens, 1, kTokens);
  EXPECT_EQ(simt_.processor->take_calls().replays, 0);
  EXPECT_EQ(decoder.decode(*graphs, kTokens, 1, kTokens), wanted);
  [[maybe_unused]] const Calls first = simt_.processor->take_calls();
  // Another graph for each number of segments of 128 keys and each room of the cache (128, 256,
  // 448): four. Each is launched one by one the first time.
  if (kStepsAreFound) {
    EXPECT_EQ(first.captures, 4);
    EXPECT_EQ(first.replays, kTokens - 4);
  }
  // The next text finds them.
  // A cache's memory comes from the device the first time, from the pool, in its order, later.
  EXPECT_EQ(decoder.decode(*graphs, kTokens, 1, kTokens), wanted);
  (void)simt_.processor->take_calls();
  EXPECT_EQ(decoder.decode(*graphs, kTokens, 1, kTokens), wanted);
  [[maybe_unused]] const Calls second = simt_.processor->take_calls();
  if (kStepsAreFound) {
    EXPECT_EQ(second.captures, 0);
    EXPECT_EQ(second.replays, kTokens);
  }
}

TEST_F(DecodeSteps, HaveTheSameBitsWhereTheDriverHasNoGraphs) {
  const SmallDecoder decoder(*simt_.backend);
  const auto plain = make_plain_step_runner(*simt_.backend);
  const auto refused = simt_.backend->make_step_runner();
  simt_.processor->refuse_captures();
  constexpr int64_t kSome = 140;
  EXPECT_EQ(decoder.decode(*refused, kSome, 1, kSome), decoder.decode(*plain, kSome, 1, kSome));
  EXPECT_EQ(simt_.processor->take_calls().replays, 0);
}

TEST_F(DecodeSteps, OfABatchThatShrinksHaveTheSameBits) {
  const SmallDecoder decoder(*simt_.backend);
  const auto plain = make_plain_step_runner(*simt_.backend);
  const auto graphs = simt_.backend->make_step_runner();
  constexpr int64_t kSome = 70;
  constexpr int64_t kLanes = 5;
  const std::vector<std::byte> wanted = decoder.decode(*plain, kSome, kLanes, 12);
  (void)simt_.processor->take_calls();
  EXPECT_EQ(decoder.decode(*graphs, kSome, kLanes, 12), wanted);
  EXPECT_TRUE(simt_.processor->take_calls().replays > 50 || !kStepsAreFound);
  EXPECT_EQ(decoder.decode(*graphs, kSome, kLanes, 12), wanted);
  EXPECT_TRUE(simt_.processor->take_calls().replays == kSome || !kStepsAreFound);
}

TEST_F(DecodeSteps, TakeOneCopyUpOneGraphAndOneCopyDownAToken) {
  if (!kStepsAreFound) {
    GTEST_SKIP() << "this compiler's steps are not found again";
  }
  const SmallDecoder decoder(*simt_.backend);
  const auto graphs = simt_.backend->make_step_runner();
  constexpr int64_t kSome = 40;
  // A cache's memory comes from the device the first time, from the pool, in its order, later.
  (void)decoder.decode(*graphs, kSome, 3, kSome);
  (void)decoder.decode(*graphs, kSome, 3, kSome);
  const int known = simt_.processor->take_calls().graphs;
  (void)decoder.decode(*graphs, kSome, 3, kSome);
  EXPECT_EQ(simt_.processor->take_calls(),
            (Calls{.uploads = kSome, .downloads = kSome, .replays = kSome, .graphs = known}));
}

TEST_F(DecodeSteps, WithPenaltiesAreTheSameGraphsHoweverManyTokensArePenalised) {
  const SmallDecoder free(*simt_.backend);
  const SmallDecoder decoder(*simt_.backend, true);
  const auto plain = make_plain_step_runner(*simt_.backend);
  const auto graphs = simt_.backend->make_step_runner();
  const std::vector<std::byte> wanted = decoder.decode(*plain, kTokens, 1, kTokens);
  EXPECT_NE(free.decode(*plain, kTokens, 1, kTokens), wanted) << "no penalty changed anything";
  (void)simt_.processor->take_calls();
  EXPECT_EQ(decoder.decode(*graphs, kTokens, 1, kTokens), wanted);
  // As without penalties: four.
  [[maybe_unused]] const Calls first = simt_.processor->take_calls();
  if (kStepsAreFound) {
    EXPECT_EQ(first.captures, 4);
    EXPECT_EQ(first.replays, kTokens - 4);
  }
  // A cache's memory comes from the device the first time, from the pool, in its order, later.
  EXPECT_EQ(decoder.decode(*graphs, kTokens, 1, kTokens), wanted);
  (void)simt_.processor->take_calls();
  EXPECT_EQ(decoder.decode(*graphs, kTokens, 1, kTokens), wanted);
  [[maybe_unused]] const Calls second = simt_.processor->take_calls();
  if (kStepsAreFound) {
    EXPECT_EQ(second.captures, 0);
    EXPECT_EQ(second.replays, kTokens);
  }
  EXPECT_EQ(second.uploads, kTokens);
  EXPECT_EQ(second.downloads, kTokens);
}

TEST_F(DecodeSteps, WithPenaltiesOfABatchThatShrinksHaveTheSameBits) {
  const SmallDecoder decoder(*simt_.backend, true);
  const auto plain = make_plain_step_runner(*simt_.backend);
  const auto graphs = simt_.backend->make_step_runner();
  constexpr int64_t kSome = 70;
  constexpr int64_t kLanes = 5;
  const std::vector<std::byte> wanted = decoder.decode(*plain, kSome, kLanes, 12);
  EXPECT_EQ(decoder.decode(*graphs, kSome, kLanes, 12), wanted);
  (void)simt_.processor->take_calls();
  EXPECT_EQ(decoder.decode(*graphs, kSome, kLanes, 12), wanted);
  EXPECT_TRUE(simt_.processor->take_calls().replays == kSome || !kStepsAreFound);
}

// Whole decoding of two windows, three ways and with penalties, graphs against operations one by
// one.
TEST_F(DecodeSteps, OfGreedySampledAndBeamSearchGiveTheSameTexts) {
  Backend& backend = *simt_.backend;
  const std::shared_ptr<const Model> model = test::tiny_model(false, backend);
  ASSERT_NE(model, nullptr);
  const auto rules = TokenRules::create(model->tokenizer(), {}, backend);
  ASSERT_TRUE(rules.has_value()) << rules.error().message;
  const Lengths lengths{50, 30};
  const std::vector<float> states = test::seeded_uniform("states", lengths.total() * 16);
  const CrossCache cross = model->decoder().cross_cache(
      ops::from_host(backend, std::span<const float>(states), {lengths.total(), 16}), lengths);
  const std::vector<int32_t> start = model->tokenizer().sot_sequence(-1, false);
  const std::vector<GenerateRequest> requests = {
      {.utterance = 0, .prompt = start, .sot_index = 0, .seed = 1},
      {.utterance = 1, .prompt = start, .sot_index = 0, .seed = 2}};
  Generator generator = model->generator(*rules);
  const auto plain = make_plain_step_runner(backend);
  const Generator eager{.decoder = generator.decoder,
                        .rules = generator.rules,
                        .special = generator.special,
                        .backend = backend,
                        .steps = *plain,
                        .after_step = {}};
  for (const GenerateOptions& options :
       {GenerateOptions{.max_new_tokens = 4},
        GenerateOptions{.sampling = {.temperature = 0.8F}, .best_of = 2, .max_new_tokens = 4},
        GenerateOptions{.beam_size = 3, .max_new_tokens = 4},
        GenerateOptions{.sampling = {.no_repeat_ngram_size = 2}, .max_new_tokens = 8},
        GenerateOptions{.sampling = {.repetition_penalty = 1.3F, .no_repeat_ngram_size = 3},
                        .beam_size = 3,
                        .max_new_tokens = 12}}) {
    const std::vector<Generated> wanted = eager.run(requests, options, cross, {});
    (void)simt_.processor->take_calls();
    const std::vector<Generated> found = generator.run(requests, options, cross, {});
    // The first token is the prompt's, and the first step of a shape is launched one by one.
    EXPECT_TRUE(simt_.processor->take_calls().replays >= options.max_new_tokens - 2 ||
                !kStepsAreFound);
    ASSERT_EQ(found.size(), wanted.size());
    for (size_t i = 0; i < found.size(); ++i) {
      EXPECT_EQ(found[i].tokens, wanted[i].tokens);
      EXPECT_GE(found[i].tokens.size(), 1U);
      EXPECT_EQ(found[i].log_probabilities, wanted[i].log_probabilities);
      EXPECT_EQ(found[i].sum_log_probability, wanted[i].sum_log_probability);
    }
  }
}

}  // namespace
}  // namespace mynah::whisper
