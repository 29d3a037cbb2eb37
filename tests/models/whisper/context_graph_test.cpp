// Words that may be said: what a text earns that writes them, and that decoding finds them.
#include "models/whisper/context_graph.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <random>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "backend/cuda/cuda_backend.h"
#include "backend/ref/ref_backend.h"
#include "models/whisper/generate.h"
#include "models/whisper/tiny_model.h"

namespace mynah::whisper {
namespace {

constexpr WordBonus kBonus{.begin = 1, .go_on = 4, .most = 9};

// The tiny vocabulary has all bytes, and words (" w300") that are no part of another.
class ContextGraphTest : public testing::Test {
 protected:
  [[nodiscard]] const WhisperTokenizer& tokenizer() const { return model_->tokenizer(); }

  [[nodiscard]] ContextGraph graph(const std::vector<std::string>& words) const {
    return {tokenizer(), words, {}, kBonus};
  }

  // What a text earns token by token, its end included.
  [[nodiscard]] std::vector<float> earned(const ContextGraph& graph, std::string_view text) const {
    std::vector<int32_t> tokens = tokenizer().encode(text);
    tokens.push_back(tokenizer().special().eot);
    std::vector<float> all;
    ContextGraph::State state;
    std::ranges::transform(tokens, std::back_inserter(all),
                           [&](int32_t token) { return graph.step(state, token); });
    return all;
  }

  [[nodiscard]] float total(const ContextGraph& graph, std::string_view text) const {
    float sum = 0;
    for (const float one : earned(graph, text)) {
      sum += one;
    }
    return sum;
  }

  RefBackend backend_;
  std::shared_ptr<const Model> model_ = test::tiny_model(false, backend_);
};

TEST_F(ContextGraphTest, EarnsByTheTokenUpToALimitAndKeepsWhatIsComplete) {
  const ContextGraph graph = this->graph({"ab"});  // space, a, b
  EXPECT_EQ(earned(graph, " ab"), (std::vector<float>{1, 4, 4, 0}));
  EXPECT_EQ(earned(graph, " ab!"), (std::vector<float>{1, 4, 4, 0, 0}));
  EXPECT_EQ(total(this->graph({"abcdefgh"}), " abcdefgh"), 9);
}

TEST_F(ContextGraphTest, TakesBackWhatIsNotCompleted) {
  const ContextGraph graph = this->graph({"abc"});
  EXPECT_EQ(earned(graph, " abd"), (std::vector<float>{1, 4, 4, -9, 0}));
  EXPECT_EQ(earned(graph, " ab"), (std::vector<float>{1, 4, 4, -9}));
  EXPECT_EQ(total(graph, " xabc"), 0) << "not where a word goes on";
  // A word of which more letters make another.
  EXPECT_EQ(earned(graph, " abcd"), (std::vector<float>{1, 4, 4, 0, -9, 0}));
  EXPECT_EQ(total(graph, " abc's"), 9);
}

TEST_F(ContextGraphTest, AWordEarnsOnce) {
  const ContextGraph graph = this->graph({"ab", "cd"});
  EXPECT_EQ(total(graph, " ab ab ab"), 9);
  EXPECT_EQ(total(graph, " ab cd ab"), 18);
}

TEST_F(ContextGraphTest, AWordOfManyEarnsLess) {
  const WordBonus usual;
  for (const size_t few : {size_t{0}, size_t{1}, size_t{200}}) {
    EXPECT_EQ(usual.among(few).most, usual.most) << few;
    EXPECT_EQ(usual.among(few).go_on, usual.go_on) << few;
  }
  const WordBonus among = usual.among(10'000);
  EXPECT_NEAR(among.most, 10 - 1.3 * std::log(50.0), 1e-4);
  EXPECT_NEAR(among.go_on, among.most / 2, 1e-4);
  EXPECT_EQ(among.begin, usual.begin);
  EXPECT_EQ(usual.among(1'000'000'000).most, 0);
  std::vector<std::string> words;
  for (int i = 0; i < 10'000; ++i) {
    words.push_back("q" + std::to_string(10'000 + i));
  }
  const ContextGraph many(tokenizer(), words, {});
  EXPECT_LT(many.most(), among.most) << "with a capital, too";
  EXPECT_EQ(total(many, " q12345"), many.most());
}

TEST_F(ContextGraphTest, TimestampsEndAWord) {
  const ContextGraph graph = this->graph({"ab"});
  const int32_t at = tokenizer().special().timestamp_begin + 5;
  const std::vector<int32_t> word = tokenizer().encode(" ab");
  ASSERT_EQ(word.size(), 3U);
  ContextGraph::State state;
  EXPECT_EQ(graph.step(state, word[0]), 1);
  EXPECT_EQ(graph.step(state, at), -1);
  EXPECT_EQ(graph.step(state, word[0]) + graph.step(state, word[1]) + graph.step(state, word[2]),
            9);
  EXPECT_EQ(graph.step(state, at), 0);
  EXPECT_EQ(state.node, 0);
}

TEST_F(ContextGraphTest, CapitalsAreAsWrittenButForTheBeginOfASentence) {
  const ContextGraph graph = this->graph({"zoë", "ÉB"});
  EXPECT_EQ(total(graph, " zoë"), 9);
  EXPECT_EQ(total(graph, " Zoë"), 9);
  EXPECT_EQ(total(graph, " ZOË"), 0);
  EXPECT_EQ(total(graph, " ÉB"), 9);
  EXPECT_EQ(total(graph, " éB"), 0);
}

TEST_F(ContextGraphTest, ScriptsWithoutSpacesHaveTheirWordsAnywhere) {
  const ContextGraph graph = this->graph({"東京"});
  EXPECT_EQ(total(graph, "東京"), 9);
  EXPECT_EQ(total(graph, "は東京都です"), 9);
  EXPECT_EQ(total(graph, "東西"), 0);
}

TEST_F(ContextGraphTest, WordsThatCannotBeWrittenAreLeftOut) {
  const std::vector<int32_t> never = tokenizer().encode("#");
  const std::vector<std::string> words = {"C#", "", "w300"};
  const ContextGraph graph(tokenizer(), words, never, kBonus);
  EXPECT_EQ(total(graph, " C#"), 0);
  EXPECT_EQ(total(graph, " w300"), 9);
  EXPECT_TRUE(ContextGraph(tokenizer(), {}, {}).empty());
}

TEST_F(ContextGraphTest, BiasesAreOfTheTokensThatGoOn) {
  const ContextGraph graph = this->graph({"ac", "ab"});
  std::vector<TokenBias> biases = {{}};
  ContextGraph::State state;
  graph.add_biases(state, biases);
  EXPECT_TRUE(biases.empty());
  static_cast<void>(graph.step(state, tokenizer().encode(" ").front()));
  static_cast<void>(graph.step(state, tokenizer().encode("a").front()));
  graph.add_biases(state, biases);
  ASSERT_EQ(biases.size(), 2U);
  EXPECT_EQ(biases[0].token, tokenizer().encode("b").front());
  EXPECT_EQ(biases[1].token, tokenizer().encode("c").front());
  EXPECT_EQ(biases[0].bias, 9) << "4 more, and 5 that the others lose";
}

// The same by looking at every end of the text anew. Words are of tokens that are words themselves,
// so that each ends where the next begins.
float oracle(const std::vector<std::vector<int32_t>>& words, const std::vector<int32_t>& text) {
  const auto worth = [](size_t length) {
    return std::min(kBonus.most, kBonus.begin + kBonus.go_on * static_cast<float>(length - 1));
  };
  const auto begins = [&](std::span<const int32_t> part) {
    return std::ranges::any_of(words, [&](const std::vector<int32_t>& word) {
      return word.size() >= part.size() &&
             std::ranges::equal(std::span(word).first(part.size()), part);
    });
  };
  const auto is_word = [&](std::span<const int32_t> part) {
    return std::ranges::any_of(
        words, [&](const std::vector<int32_t>& word) { return std::ranges::equal(word, part); });
  };
  std::set<std::vector<int32_t>> said;  // a word earns once
  float kept = 0;
  size_t begin = 0;  // of what is a word's beginning
  float done = 0;    // kept of it
  for (size_t end = 0; end <= text.size(); ++end) {
    const auto part = [&] { return std::span(text).subspan(begin, end - begin); };
    const auto goes_on = [&] {
      return end < text.size() && begins(std::span(text).subspan(begin, end + 1 - begin));
    };
    // The longest end that goes on or is a word.
    while (!part().empty() && !goes_on() && !is_word(part())) {
      done = 0;
      do {
        ++begin;
      } while (!begins(part()));
    }
    if (!part().empty() && is_word(part())) {
      if (said.emplace(part().begin(), part().end()).second) {
        kept += worth(part().size()) - done;
        done = worth(part().size());
      }
    }
    if (!goes_on()) {
      begin = end;
      done = 0;
      begin += goes_on() ? 0 : 1;
    }
  }
  return kept;
}

TEST_F(ContextGraphTest, AgreesWithAnOracleThatLooksAtEveryEndAnew) {
  std::mt19937 dice(33);
  const auto some = [&](size_t most) { return 1 + dice() % most; };
  for (int round = 0; round < 2000; ++round) {
    std::vector<std::string> phrases;
    std::vector<std::vector<int32_t>> words;
    for (size_t i = some(5); i > 0; --i) {
      std::string phrase;
      for (size_t k = some(4); k > 0; --k) {
        phrase += " w30" + std::to_string(dice() % 3);
      }
      words.push_back(tokenizer().encode(phrase));
      phrases.push_back(phrase.substr(1));
    }
    std::string text;
    for (size_t k = some(12); k > 0; --k) {
      text += " w30" + std::to_string(dice() % 3);
    }
    ASSERT_EQ(total(graph(phrases), text), oracle(words, tokenizer().encode(text)))
        << testing::PrintToString(phrases) << text;
  }
}

// Decoding with random weights on two devices.
class WordsInDecoding : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (std::string_view(GetParam()) == "simt") {
      backend_ = make_simt_backend(pool_);
    } else {
      backend_ = std::make_unique<RefBackend>();
    }
    model_ = test::tiny_model(false, *backend_);
    ASSERT_NE(model_, nullptr);
    auto rules = TokenRules::create(model_->tokenizer(), {.timestamps = false}, *backend_);
    ASSERT_TRUE(rules.has_value());
    rules_ = std::make_unique<TokenRules>(std::move(*rules));
    const Lengths lengths{50, 30};
    const std::vector<float> states = test::seeded_uniform("states", lengths.total() * 16);
    cross_ = model_->decoder().cross_cache(
        ops::from_host(*backend_, std::span<const float>(states), {lengths.total(), 16}), lengths);
  }

  // Texts that begin with a space.
  [[nodiscard]] std::vector<Generated> run(const ContextGraph* first, const ContextGraph* second,
                                           int beam_size) const {
    std::vector<int32_t> start = model_->tokenizer().sot_sequence(-1, false);
    start.push_back(model_->tokenizer().special().no_timestamps);
    const std::vector<int32_t> space = model_->tokenizer().encode(" ");
    std::vector<GenerateRequest> requests = {
        {.utterance = 0, .prompt = start, .words = first, .seed = 1},
        {.utterance = 1, .prompt = start, .words = second, .seed = 2}};
    for (GenerateRequest& request : requests) {
      request.begun = space;
      request.begun_log_probabilities = {0};
    }
    return model_->generator(*rules_).run(requests, {.beam_size = beam_size, .max_new_tokens = 6},
                                          cross_, {});
  }

  ThreadPool pool_{1};
  std::unique_ptr<Backend> backend_;
  std::shared_ptr<const Model> model_;
  std::unique_ptr<TokenRules> rules_;
  CrossCache cross_;
};

TEST_P(WordsInDecoding, ABoostedPhraseWinsAndItsNeighboursTextIsAsWithout) {
  const std::vector<std::string> words = {"QXZ"};
  const std::vector<int32_t> wanted = model_->tokenizer().encode(" QXZ");
  ASSERT_EQ(wanted.size(), 4U);
  const ContextGraph graph(model_->tokenizer(), words, {}, {.begin = 1, .go_on = 13, .most = 40});
  for (const int beam_size : {1, 3}) {
    const std::vector<Generated> plain = run(nullptr, nullptr, beam_size);
    const std::vector<Generated> found = run(&graph, nullptr, beam_size);
    ASSERT_GE(plain[0].tokens.size(), 2U);
    EXPECT_NE(plain[0].tokens[1], wanted[1]);
    ASSERT_GE(found[0].tokens.size(), wanted.size());
    EXPECT_TRUE(std::ranges::equal(std::span(found[0].tokens).first(wanted.size()), wanted));
    EXPECT_EQ(found[1].tokens, plain[1].tokens);
    EXPECT_EQ(found[1].log_probabilities, plain[1].log_probabilities);
    // Log probabilities are the model's own: of 51,864 tokens none is likely.
    for (size_t k = 1; k < wanted.size(); ++k) {
      EXPECT_LT(found[0].log_probabilities[k], -4) << k;
    }
  }
}

TEST_P(WordsInDecoding, AWordThatIsNotCompletedChangesNothing) {
  const std::vector<Generated> plain = run(nullptr, nullptr, 3);
  // It begins as nothing that the model says.
  const std::vector<std::string> words = {"w41000 w41001"};
  const ContextGraph graph(model_->tokenizer(), words, {}, {.begin = 0.01F, .go_on = 4, .most = 9});
  const std::vector<Generated> found = run(&graph, &graph, 3);
  for (size_t i = 0; i < plain.size(); ++i) {
    EXPECT_EQ(found[i].tokens, plain[i].tokens);
    ASSERT_EQ(found[i].log_probabilities.size(), plain[i].log_probabilities.size());
    for (size_t k = 0; k < plain[i].log_probabilities.size(); ++k) {
      // The unlikely token that would have gone on has its bonus in the softmax.
      EXPECT_NEAR(found[i].log_probabilities[k], plain[i].log_probabilities[k], 0.01);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Devices, WordsInDecoding, testing::Values("ref", "simt"));

}  // namespace
}  // namespace mynah::whisper
