// What was said is kept as it was said, found by words and by meaning, and only a user's words are
// facts.
#include <algorithm>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "much.h"
#include "talk_memory/memory_fixture.h"

namespace mynah::talk::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class Memories : public MemoryTest {
 protected:
  void SetUp() override { open(); }
};

TEST_F(Memories, ATurnIsKeptAsItWasSaid) {
  const int64_t conversation = *store->begin_conversation("talk");
  const MemoryTurn said{.conversation = conversation,
                        .origin = MemoryOrigin::Assistant,
                        .who = "smollm2",
                        .language = "de",
                        .text = "Es ist drei Uhr. \"Ja\"; DROP TABLE items;--",
                        .played = "Es ist drei"};
  const int64_t id = *store->keep(said);
  open();
  const auto items = store->list({}, 10);
  ASSERT_TRUE(items);
  ASSERT_EQ(items->size(), 1U);
  const MemoryItem& kept = items->front();
  EXPECT_EQ(kept.id, id);
  EXPECT_EQ(kept.kind, MemoryKind::Turn);
  EXPECT_EQ(kept.at_ms, now_ms);
  EXPECT_EQ(kept.turn.conversation, conversation);
  EXPECT_EQ(kept.turn.origin, MemoryOrigin::Assistant);
  EXPECT_EQ(kept.turn.who, said.who);
  EXPECT_EQ(kept.turn.language, said.language);
  EXPECT_EQ(kept.turn.text, said.text);
  EXPECT_EQ(kept.turn.played, said.played);
}

TEST_F(Memories, OnlyWhatAUserSaidBecomesAFact) {
  const int64_t said = say("Remember that my sister lives in Ulm.");
  const int64_t fact = *store->keep_fact(said, " my sister lives in Ulm ");
  EXPECT_EQ(*store->keep_fact(said, "my sister lives in Ulm"), fact) << "a fact is kept once";
  const auto kept = store->list({.kind = MemoryKind::Fact}, 10);
  ASSERT_EQ(kept->size(), 1U);
  EXPECT_EQ(kept->front().turn.text, "my sister lives in Ulm");
  EXPECT_EQ(kept->front().source, said);
  EXPECT_EQ(kept->front().turn.who, "ada");

  const auto other_words = store->keep_fact(said, "my sister lives in Rome");
  ASSERT_FALSE(other_words);
  EXPECT_THAT(other_words.error().message, HasSubstr("found others"));
  for (const MemoryOrigin origin :
       {MemoryOrigin::Assistant, MemoryOrigin::Tool, MemoryOrigin::File}) {
    const int64_t turn = say("the door code is 1234", origin);
    const auto refused = store->keep_fact(turn, "the door code is 1234");
    ASSERT_FALSE(refused) << name_of(origin);
    EXPECT_EQ(refused.error().code, ErrorCode::InvalidInput);
    EXPECT_THAT(refused.error().message, HasSubstr(std::string(name_of(origin))));
  }
  const auto of_a_fact = store->keep_fact(fact, "Ulm");
  EXPECT_FALSE(of_a_fact) << "a fact is made of a turn, not of a fact";
  EXPECT_EQ(store->keep_fact(4711, "Ulm").error().code, ErrorCode::NotFound);
}

TEST_F(Memories, WordsFindWhatHasThem) {
  const int64_t cello = say("I have been playing the cello since school.");
  const int64_t piano = say("The piano is out of tune.");
  const int64_t both = say("Piano, piano: a cello and a piano play.");
  EXPECT_THAT(words("cello"), testing::UnorderedElementsAre(cello, both));
  EXPECT_THAT(words("Who plays the pianos?").front(), both);
  EXPECT_THAT(words("CELLO plays"), testing::UnorderedElementsAre(cello, both));
  EXPECT_THAT(words("bassoon"), IsEmpty());
  EXPECT_THAT(words("piano", {.ids = {cello, piano}}), ElementsAre(piano));
}

TEST_F(Memories, NothingInAQuestionIsAnOperator) {
  const int64_t id = say("near and not or the column text is here");
  for (const std::string asked : {"\"", "text:column", "near/2", "NOT here", "here*", "(here",
                                  "a OR", "^here", "{text}: here", "here\" OR \"", "-here",
                                  "here AND", "' ; DROP TABLE items; --", "\xFF\xFEhere"}) {
    const auto found = store->search_words(asked, {}, 10);
    ASSERT_TRUE(found) << asked << ": " << found.error().message;
  }
  EXPECT_THAT(words("text:here"), ElementsAre(id));
  EXPECT_THAT(words("?!"), IsEmpty());
  EXPECT_THAT(words(""), IsEmpty());
}

TEST_F(Memories, WordsOfOtherLanguagesAreFoundWithoutTheirAccents) {
  const int64_t id = say("Meine Tante heißt Zoë Müller und wohnt in Łódź.");
  EXPECT_THAT(words("muller"), ElementsAre(id));
  EXPECT_THAT(words("ZOE"), ElementsAre(id));
  const int64_t greek = say("Η Αθήνα είναι όμορφη");
  EXPECT_THAT(words("ΑΘΉΝΑ"), ElementsAre(greek));
}

TEST_F(Memories, MeaningFindsTheNearestFirst) {
  const int64_t north = say("north");
  const int64_t east = say("east");
  const int64_t tool = say("north by a tool", MemoryOrigin::Tool);
  const std::vector<MemoryVector> vectors = {{.id = north, .vector = {0, 1}},
                                             {.id = east, .vector = {1, 0}},
                                             {.id = tool, .vector = {0, 1}}};
  ASSERT_TRUE(store->keep_vectors("model", vectors));
  const std::vector<float> asked = {0.6F, 0.8F};
  const auto found = store->search_meaning("model", asked, {}, 10);
  ASSERT_TRUE(found);
  ASSERT_EQ(found->size(), 3U);
  EXPECT_EQ((*found)[0].id, north);
  EXPECT_NEAR((*found)[0].score, 0.8, 1e-6);
  EXPECT_EQ((*found)[1].id, tool);
  EXPECT_EQ((*found)[2].id, east);
  const auto of_users = store->search_meaning("model", asked, {.origins = {MemoryOrigin::User}}, 1);
  ASSERT_EQ(of_users->size(), 1U);
  EXPECT_EQ(of_users->front().id, north);
  const auto with_words = store->search_meaning("model", asked, {.containing = "EAST"}, 5);
  ASSERT_EQ(with_words->size(), 1U);
  EXPECT_EQ(with_words->front().id, east);
  EXPECT_TRUE(store->search_meaning("another model", asked, {}, 10)->empty());
}

TEST_F(Memories, VectorsOfAnotherModelAreMadeAgain) {
  const int64_t first = say("first");
  const int64_t second = say("second");
  ASSERT_TRUE(
      store->keep_vectors("old", std::vector<MemoryVector>{{.id = first, .vector = {1, 0}}}));
  auto without = store->without_vector("old", 10);
  ASSERT_EQ(without->size(), 1U);
  EXPECT_EQ(without->front().id, second);
  without = store->without_vector("new", 10);
  ASSERT_EQ(without->size(), 2U);
  EXPECT_EQ(without->front().id, first);
  ASSERT_TRUE(store->search_meaning("old", std::vector<float>{1, 0}, {}, 10));
  ASSERT_TRUE(
      store->keep_vectors("new", std::vector<MemoryVector>{{.id = first, .vector = {0, 1, 0}}}));
  EXPECT_TRUE(store->search_meaning("old", std::vector<float>{1, 0}, {}, 10)->empty());
  EXPECT_EQ(store->search_meaning("new", std::vector<float>{0, 1, 0}, {}, 10)->size(), 1U);
}

TEST_F(Memories, FiltersMeanWhatAllOfTheirPartsSay) {
  const int64_t one = *store->begin_conversation("chat");
  const int64_t two = *store->begin_conversation("chat");
  now_ms = 1000;
  say("old user words", MemoryOrigin::User, one);
  now_ms = 2000;
  say("assistant words", MemoryOrigin::Assistant, one);
  const int64_t last = say("remember: New words", MemoryOrigin::User, two);
  ASSERT_TRUE(store->keep_fact(last, "New words"));
  EXPECT_THAT(texts({.conversation = one}), ElementsAre("old user words", "assistant words"));
  EXPECT_THAT(texts({.not_of = one}), ElementsAre("remember: New words", "New words"));
  EXPECT_THAT(texts({.origins = {MemoryOrigin::Assistant}}), ElementsAre("assistant words"));
  EXPECT_THAT(texts({.before_ms = 2000}), ElementsAre("old user words"));
  EXPECT_THAT(texts({.kind = MemoryKind::Fact}), ElementsAre("New words"));
  EXPECT_THAT(texts({.containing = "NEW"}), ElementsAre("remember: New words", "New words"));
  EXPECT_THAT(texts({.kind = MemoryKind::Turn, .containing = "new"}),
              ElementsAre("remember: New words"));
  const auto newest = store->list({}, 2);
  ASSERT_EQ(newest->size(), 2U);
  EXPECT_EQ(newest->front().turn.text, "remember: New words") << "the oldest of the newest first";
}

TEST_F(Memories, WhatIsNoTextIsRefusedOrMended) {
  const int64_t conversation = *store->begin_conversation("test");
  const auto keep = [&](std::string text) {
    return store->keep({.conversation = conversation, .text = std::move(text)});
  };
  EXPECT_EQ(keep(" \n\t").error().code, ErrorCode::InvalidInput);
  EXPECT_EQ(keep(std::string(MemoryStore::kMostText + 1, 'a')).error().code,
            ErrorCode::InvalidInput);
  EXPECT_EQ(store->keep({.conversation = 4711, .text = "words"}).error().code, ErrorCode::NotFound);
  ASSERT_TRUE(keep(std::string("a\0b\xFF\xC3 c", 7)));
  EXPECT_THAT(texts(), ElementsAre("a\xEF\xBF\xBD"
                                   "b\xEF\xBF\xBD\xEF\xBF\xBD c"));
}

TEST_F(Memories, ATextOfTenMegabytesIsKeptAndFound) {
  std::string long_text;
  for (int i = 0; long_text.size() < mynah::test::much(10'000'000); ++i) {
    long_text += std::string(60, static_cast<char>(97 + i % 26)) + std::to_string(i % 500) + " ";
  }
  long_text += "needle";
  const int64_t id = say(long_text);
  EXPECT_THAT(words("needle"), ElementsAre(id));
  EXPECT_EQ(store->find(std::vector<int64_t>{id})->front().turn.text, long_text);
}

TEST_F(Memories, ThreadsKeepAndSearchAtOnce) {
  const int64_t conversation = *store->begin_conversation("test");
  constexpr int kEach = 25;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < kEach; ++i) {
        const auto id = store->keep(
            {.conversation = conversation, .text = fmt::format("thread {} says {}", t, i)});
        const std::vector<MemoryVector> vector = {
            {.id = id.value_or(0), .vector = {static_cast<float>(t), static_cast<float>(i)}}};
        EXPECT_TRUE(store->keep_vectors("model", vector));
        EXPECT_TRUE(store->search_words("says", {}, 5));
        EXPECT_TRUE(store->search_meaning("model", std::vector<float>{1, 1}, {}, 5));
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(store->counts()->turns, 4 * kEach);
  EXPECT_EQ(store->counts()->without_vector, 0);
  EXPECT_EQ(store->search_meaning("model", std::vector<float>{1, 1}, {}, 1000)->size(), 4U * kEach);
}

}  // namespace
}  // namespace mynah::talk::test
