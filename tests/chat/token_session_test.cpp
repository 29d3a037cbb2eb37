// Texts that grow, are cut, forked and forgotten in one session of a small model.
#include "chat/token_session.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "backend/ref/ref_backend.h"

namespace mynah {
namespace {

int32_t next(LanguageModel::Session& session, uint64_t text, int64_t begin,
             std::vector<int32_t> tokens) {
  const auto chosen = session.step(
      {.forks = {},
       .forgotten = {},
       .steps = {
           {.text = text, .begin = begin, .tokens = std::move(tokens), .wishes = {TokenWish{}}}}});
  EXPECT_TRUE(chosen) << chosen.error().message;
  return chosen ? chosen->front().token : -1;
}

class TokenSessionTest : public ::testing::Test {
 protected:
  void SetUp() override { load("llama"); }

  void load(const std::string& name) {
    const auto loaded = load_language_model(
        std::string(MYNAH_SOURCE_DIR) + "/tests/models/llama/golden/" + name + ".gguf", {},
        *backend_);
    ASSERT_TRUE(loaded) << loaded.error().message;
    model_ = *loaded;
  }

  std::unique_ptr<Backend> backend_ = make_ref_backend();
  std::shared_ptr<const LanguageModel> model_;
};

TEST_F(TokenSessionTest, ATextThatIsCutGoesOnAsOneThatWasNeverLonger) {
  const auto session = model_->session();
  next(*session, 1, 0, {1, 17, 30, 5, 9});
  const int32_t cut = next(*session, 1, 3, {8, 2});
  EXPECT_EQ(cut, next(*session, 2, 0, {1, 17, 30, 8, 2}));
  EXPECT_EQ(next(*session, 1, 5, {4}), next(*session, 2, 5, {4}));
}

// Of models with states: a text that goes on, whoever went on from it meanwhile, and no other.
TEST_F(TokenSessionTest, ATextWithStatesGoesOnAtItsEnd) {
  for (const char* name : {"lfm2", "qwen35"}) {
    load(name);
    EXPECT_EQ(model_->facts().rewinds, 0);
    EXPECT_GT(model_->facts().state_bytes, 0U);
    const auto session = model_->session();
    next(*session, 1, 0, {1, 17, 30, 5, 9});
    const auto fork = [&](int64_t length) {
      return session->step(
          {.forks = {{.from = 1, .to = 2, .length = length}}, .forgotten = {}, .steps = {}});
    };
    ASSERT_TRUE(fork(5));
    const int32_t alone = next(*session, 3, 0, {1, 17, 30, 5, 9, 8, 2});
    EXPECT_EQ(next(*session, 1, 5, {8, 2}), alone) << name;
    EXPECT_EQ(next(*session, 2, 5, {8, 2}), alone) << name;
    EXPECT_FALSE(fork(3)) << name;
    const auto cut =
        session->step({.forks = {},
                       .forgotten = {},
                       .steps = {{.text = 1, .begin = 3, .tokens = {8}, .wishes = {}}}});
    ASSERT_FALSE(cut) << name;
    EXPECT_EQ(cut.error().code, ErrorCode::InvalidInput);
    EXPECT_EQ(next(*session, 1, 0, {1, 17, 30, 5, 9, 8, 2}), alone) << name << ": begun anew";
  }
}

// More of them than are kept, in any order, the same again and again.
TEST_F(TokenSessionTest, EachTextHasItsOwnOfTheTokensThatMayCome) {
  const auto session = model_->session();
  const auto vocabulary = static_cast<size_t>(model_->facts().vocabulary);
  ASSERT_GE(vocabulary, 17U + 20U);
  const auto allowed = [&](size_t token) {
    TokenWish wish;
    wish.allowed.assign((vocabulary + 31) / 32, 0);
    wish.allowed[token / 32] = 1U << (token % 32);
    return wish;
  };
  int64_t begin = 0;
  for (const size_t from : {0U, 0U, 17U, 3U, 0U, 17U}) {
    StepRequest request;
    for (uint64_t text = 0; text < 20; ++text) {
      request.steps.push_back({.text = text + 1,
                               .begin = begin,
                               .tokens = {1},
                               .wishes = {text % 5 == 4 ? TokenWish() : allowed(from + text)}});
    }
    const auto chosen = session->step(request);
    ASSERT_TRUE(chosen) << chosen.error().message;
    for (size_t text = 0; text < 20; ++text) {
      if (text % 5 == 4) {
        EXPECT_EQ((*chosen)[text].token, (*chosen)[4].token) << "one without a form";
      } else {
        EXPECT_EQ((*chosen)[text].token, static_cast<int32_t>(from + text));
      }
    }
    ++begin;
  }
}

TEST_F(TokenSessionTest, WhatIsNotThereIsRefused) {
  const auto session = model_->session();
  const auto refused = [&](const StepRequest& request) {
    const auto chosen = session->step(request);
    return !chosen && chosen.error().code == ErrorCode::InvalidInput;
  };
  EXPECT_TRUE(
      refused({.forks = {{.from = 9, .to = 2, .length = 1}}, .forgotten = {}, .steps = {}}));
  TextStep step{.text = 1, .begin = 1, .tokens = {1}, .wishes = {}};
  EXPECT_TRUE(refused({.forks = {}, .forgotten = {}, .steps = {step}}));
  step.begin = 0;
  EXPECT_TRUE(refused({.forks = {}, .forgotten = {}, .steps = {step, step}}));
  step.tokens = {-1};
  EXPECT_TRUE(refused({.forks = {}, .forgotten = {}, .steps = {step}}));
}

}  // namespace
}  // namespace mynah
