// What is forgotten is in no file any more, whenever the process ends.
#include "talk/memory/forgetting.h"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/wait.h>
#include <unistd.h>

#include "talk/memory/meaning_index.h"
#include "talk_memory/memory_fixture.h"

namespace mynah::talk::test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
namespace fs = std::filesystem;

// One word, in the form in which FTS5 keeps it, too; of which an index may leave out the beginning.
constexpr const char* kCanary = "qzxcanary77jumped";
constexpr const char* kCanaryEnd = "nary77jump";

class Forgettings : public MemoryTest {
 protected:
  void SetUp() override { open(); }

  // Its vector, unlike any other.
  [[nodiscard]] static std::vector<float> canary_vector() {
    std::vector<float> vector;
    for (int i = 0; i < 384; ++i) {
      vector.push_back(0.05F * std::sin(static_cast<float>(i * i)));
    }
    return vector;
  }

  // Other things that are kept, so that there are pages, segments and a tree.
  void fill(int count) {
    const int64_t conversation = *store->begin_conversation("test");
    for (int i = 0; i < count; ++i) {
      const int64_t id = say(fmt::format("we spoke of subject {} and of qz{}", i, i * 7),
                             MemoryOrigin::User, conversation);
      std::vector<float> vector(384, 0.01F);
      vector[static_cast<size_t>(i) % vector.size()] = 0.9F;
      ASSERT_TRUE(
          store->keep_vectors("model", std::vector<MemoryVector>{{.id = id, .vector = vector}}));
    }
  }

  // A turn of several pages and a fact.
  int64_t keep_canary() {
    const int64_t id =
        say(fmt::format("remember {} is {}", kCanary, std::string(9000, 'x') + kCanary));
    EXPECT_TRUE(store->keep_fact(id, fmt::format("{} is", kCanary)));
    EXPECT_TRUE(store->keep_vectors(
        "model", std::vector<MemoryVector>{{.id = id, .vector = canary_vector()}}));
    return id;
  }

  // Names of files that have it, or its vector.
  [[nodiscard]] std::vector<std::string> files_with_canary() const {
    const HalfVector halves = halves_of(canary_vector());
    std::string vector(32, '\0');
    std::memcpy(vector.data(), halves.data() + 8, vector.size());
    std::vector<std::string> names;
    for (const auto& entry : fs::recursive_directory_iterator(folder.path())) {
      if (!entry.is_regular_file()) {
        continue;
      }
      const std::string bytes = mynah::test::read_file(entry.path());
      if (bytes.contains(kCanaryEnd) || bytes.contains(vector)) {
        names.push_back(entry.path().filename());
      }
    }
    return names;
  }

  // Forgets in a process of its own, which is killed after a while.
  void forget_and_die(std::chrono::microseconds after) {
    store.reset();
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      auto opened = open_sqlite_memory({.folder = state()});
      ::_exit(opened && (*opened)->forget({.containing = kCanary}) ? 0 : 1);
    }
    std::this_thread::sleep_for(after);
    ::kill(child, SIGKILL);
    int ended = 0;
    ASSERT_EQ(::waitpid(child, &ended, 0), child);
    ASSERT_TRUE(WIFSIGNALED(ended) || (WIFEXITED(ended) && WEXITSTATUS(ended) == 0));
  }

  // Marks as what a process leaves that ends right after that.
  void mark(const std::vector<int64_t>& ids) {
    store.reset();
    const Database database = *Database::open(state() + "/memory.db");
    ASSERT_TRUE(database.keep_safely());
    ASSERT_TRUE(Forgetting(database, state()).mark(ids));
  }
};

TEST_F(Forgettings, NothingOfItIsInAnyFile) {
  fill(60);
  keep_canary();
  ASSERT_THAT(files_with_canary(), testing::Not(IsEmpty())) << "or the search finds nothing";
  const size_t before = texts().size();
  EXPECT_EQ(*store->forget({.containing = kCanary}), 2);
  EXPECT_THAT(files_with_canary(), IsEmpty()) << "while the memory is open";
  EXPECT_EQ(texts().size(), before - 2);
  EXPECT_THAT(words(kCanary), IsEmpty());
  const auto near = store->search_meaning("model", canary_vector(), {}, 1000);
  EXPECT_EQ(near->size(), 60U) << "other conversations are as they were";
  store.reset();
  EXPECT_THAT(files_with_canary(), IsEmpty());
  open();
  EXPECT_EQ(words("subject").size(), 60U) << "the others are found as before";
}

TEST_F(Forgettings, AFactGoesWithItsTurnAndTheTurnWithItsFact) {
  const int64_t turn = say("remember that I like tea");
  const int64_t fact = *store->keep_fact(turn, "I like tea");
  say("what a day");
  EXPECT_EQ(*store->forget({.ids = {fact}}), 2) << "its words are the turn's";
  EXPECT_THAT(texts(), ElementsAre("what a day"));
  EXPECT_EQ(*store->forget({.ids = {turn, fact, 4711}}), 0);
}

TEST_F(Forgettings, AllOfItAndWhatWasNeverSaid) {
  fill(5);
  EXPECT_EQ(*store->forget({.containing = "never said"}), 0);
  EXPECT_EQ(*store->forget({}), 5);
  const auto counts = store->counts();
  EXPECT_EQ(counts->turns + counts->facts + counts->conversations, 0);
  say("a new beginning");
  EXPECT_THAT(texts(), ElementsAre("a new beginning"));
}

TEST_F(Forgettings, AConversationGoesWhole) {
  const int64_t one = *store->begin_conversation("chat");
  say("first", MemoryOrigin::User, one);
  say("second", MemoryOrigin::Assistant, one);
  say("other");
  EXPECT_EQ(*store->forget({.conversation = one}), 2);
  EXPECT_THAT(texts(), ElementsAre("other"));
  EXPECT_EQ(store->counts()->conversations, 1);
  EXPECT_EQ(store->keep({.conversation = one, .text = "third"}).error().code, ErrorCode::NotFound);
}

TEST_F(Forgettings, AProcessThatDiesInTheMiddleHasItFinishedByTheNext) {
  fill(30);
  mark({keep_canary()});
  ASSERT_THAT(files_with_canary(), testing::Not(IsEmpty())) << "or it was not in the middle";
  open();
  EXPECT_THAT(files_with_canary(), IsEmpty());
  EXPECT_EQ(texts({.containing = kCanary}).size(), 0U);
  EXPECT_EQ(texts().size(), 30U);
}

TEST_F(Forgettings, NoMatterWhenItIsKilled) {
  fill(30);
  keep_canary();
  const auto begun = std::chrono::steady_clock::now();
  ASSERT_TRUE(store->forget({.containing = kCanary}));
  const auto about = std::chrono::duration_cast<std::chrono::microseconds>(
      std::chrono::steady_clock::now() - begun);
  constexpr int kRounds = 16;
  int unfinished = 0;
  for (int round = 0; round < kRounds; ++round) {
    if (texts({.containing = kCanary}).empty()) {
      keep_canary();
    }
    forget_and_die(about * 3 * round / kRounds);
    unfinished += files_with_canary().empty() ? 0 : 1;
    open();
    const bool is_known = !texts({.containing = kCanary}).empty();
    if (!is_known) {
      ASSERT_THAT(files_with_canary(), IsEmpty()) << "in round " << round;
    }
    ASSERT_GE(texts().size(), 30U);
  }
  RecordProperty("unfinished", unfinished);
  ASSERT_TRUE(store->forget({.containing = kCanary}));
  EXPECT_THAT(files_with_canary(), IsEmpty());
  EXPECT_EQ(words("subject").size(), 30U);
}

TEST_F(Forgettings, AReaderElsewhereHasItFinishedLater) {
  fill(10);
  keep_canary();
  MemoryOptions hasty = options();
  hasty.patience = std::chrono::milliseconds(20);
  store = *open_sqlite_memory(std::move(hasty));
  sqlite3* reader = nullptr;
  ASSERT_EQ(sqlite3_open((state() + "/memory.db").c_str(), &reader), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(reader, "BEGIN; SELECT count(*) FROM items;", nullptr, nullptr, nullptr),
            SQLITE_OK);
  const auto forgotten = store->forget({.containing = kCanary});
  ASSERT_FALSE(forgotten);
  EXPECT_EQ(forgotten.error().code, ErrorCode::Busy);
  EXPECT_THAT(texts({.containing = kCanary}), IsEmpty()) << "it is gone for everybody";
  sqlite3_close(reader);
  open();
  EXPECT_THAT(files_with_canary(), IsEmpty());
}

}  // namespace
}  // namespace mynah::talk::test
