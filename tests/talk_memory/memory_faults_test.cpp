// Databases that are damaged, of others or of another version, disks that are full, two processes.
#include <algorithm>
#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "talk_memory/memory_fixture.h"

namespace mynah::talk::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
namespace fs = std::filesystem;

constexpr std::streamoff kPage = 4096;

class MemoryFaults : public MemoryTest {
 protected:
  [[nodiscard]] std::string database() const { return state() + "/memory.db"; }

  void fill(int count) {
    const int64_t conversation = *store->begin_conversation("test");
    for (int i = 0; i < count; ++i) {
      say(fmt::format("turn {} {}", i, std::string(200, 'a')), MemoryOrigin::User, conversation);
    }
  }

  // Noise over the pages from the first on, up to and without the last; -1: to the end.
  void damage(std::streamoff first, std::streamoff last) const {
    const auto size = static_cast<std::streamoff>(fs::file_size(database()));
    std::fstream file(database(), std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(first * kPage);
    const std::streamoff end = last < 0 ? size : std::min(size, last * kPage);
    ASSERT_GT(end, first * kPage);
    const std::string noise(static_cast<size_t>(end - first * kPage), '\x5A');
    file.write(noise.data(), static_cast<std::streamsize>(noise.size()));
  }

  void execute(const char* sql) const {
    sqlite3* opened = nullptr;
    ASSERT_EQ(sqlite3_open(database().c_str(), &opened), SQLITE_OK);
    ASSERT_EQ(sqlite3_exec(opened, sql, nullptr, nullptr, nullptr), SQLITE_OK);
    sqlite3_close(opened);
  }

  [[nodiscard]] static mode_t mode_of(const std::string& path) {
    struct stat info{};
    EXPECT_EQ(::stat(path.c_str(), &info), 0) << path;
    return info.st_mode & 07777U;
  }
};

TEST_F(MemoryFaults, NobodyElseMayLook) {
  fs::create_directories(state());
  fs::permissions(state(), fs::perms::all);
  open();
  say("a secret");
  EXPECT_EQ(mode_of(state()), 0700U);
  int files = 0;
  for (const auto& entry : fs::directory_iterator(state())) {
    EXPECT_EQ(mode_of(entry.path()), 0600U) << entry.path();
    ++files;
  }
  EXPECT_GE(files, 3) << "database, log, lock";
}

TEST_F(MemoryFaults, WhatCanBeReadOfADamagedOneIsKept) {
  open();
  fill(300);
  store.reset();
  const auto pages = static_cast<std::streamoff>(fs::file_size(database())) / kPage;
  damage(pages / 2, pages / 2 + 4);
  open();
  ASSERT_THAT(told, SizeIs(1));
  EXPECT_THAT(told.front(), HasSubstr("was damaged"));
  const size_t saved = texts().size();
  EXPECT_GT(saved, 100U);
  EXPECT_LT(saved, 300U);
  EXPECT_EQ(words("turn").size(), std::min<size_t>(saved, 100)) << "words are found again";
  EXPECT_TRUE(fs::exists(database() + ".damaged-1"));
  ASSERT_TRUE(store->forget({.ids = {store->list({}, 1)->front().id}}));
  EXPECT_FALSE(fs::exists(database() + ".damaged-1")) << "what is forgotten may stand in it";
}

TEST_F(MemoryFaults, OneThatIsNoneAtAllBeginsAnew) {
  open();
  fill(3);
  store.reset();
  damage(0, -1);
  open();
  EXPECT_THAT(texts(), IsEmpty());
  ASSERT_THAT(told, SizeIs(1));
  say("words");
  EXPECT_THAT(texts(), ElementsAre("words"));
}

TEST_F(MemoryFaults, WhatWasToBeForgottenIsNotSaved) {
  open();
  fill(200);
  const int64_t secret = say("the secret word is qzxcanary");
  store.reset();
  execute(fmt::format("INSERT INTO gone(item) VALUES({})", secret).c_str());
  const auto pages = static_cast<std::streamoff>(fs::file_size(database())) / kPage;
  damage(pages / 2, pages / 2 + 1);
  open();
  ASSERT_THAT(told, SizeIs(1));
  EXPECT_THAT(texts({.containing = "qzxcanary"}), IsEmpty());
  EXPECT_FALSE(fs::exists(database() + ".damaged-1"));
}

TEST_F(MemoryFaults, OneOfANewerMynahIsLeftAlone) {
  open();
  fill(3);
  store.reset();
  execute("PRAGMA user_version=2");
  const auto opened = open_sqlite_memory(options());
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, ErrorCode::Unsupported);
  EXPECT_THAT(opened.error().message, HasSubstr("newer mynah"));
  execute("PRAGMA user_version=1");
  open();
  EXPECT_EQ(texts().size(), 3U);
}

TEST_F(MemoryFaults, AnotherProgramsDatabaseIsLeftAlone) {
  fs::create_directories(state());
  execute("CREATE TABLE bookmarks(url TEXT); INSERT INTO bookmarks VALUES('x')");
  const auto opened = open_sqlite_memory(options());
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, ErrorCode::InvalidInput);
  EXPECT_THAT(opened.error().message, HasSubstr("another program's"));
  execute("INSERT INTO bookmarks VALUES('y')");
}

TEST_F(MemoryFaults, AFullDiskIsSaidAndWhatWasKeptStays) {
  MemoryOptions small = options();
  small.most_bytes = 60 * kPage;
  auto opened = open_sqlite_memory(std::move(small));
  ASSERT_TRUE(opened) << opened.error().message;
  store = *std::move(opened);
  const int64_t conversation = *store->begin_conversation("test");
  size_t kept = 0;
  while (true) {
    const auto id = store->keep({.conversation = conversation, .text = std::string(2000, 'b')});
    if (!id) {
      EXPECT_EQ(id.error().code, ErrorCode::Environment);
      EXPECT_THAT(id.error().message, HasSubstr("no room is left"));
      break;
    }
    ASSERT_LT(++kept, 1000U);
  }
  EXPECT_EQ(texts().size(), kept);
  open();
  EXPECT_EQ(texts().size(), kept);
  EXPECT_THAT(told, IsEmpty());
}

TEST_F(MemoryFaults, TwoProcessesHaveOneMemory) {
  open();
  say("from the parent");
  ASSERT_TRUE(store->search_meaning("model", std::vector<float>{1, 0}, {}, 5));
  constexpr int kTurns = 40;
  store.reset();
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    auto own = open_sqlite_memory({.folder = state()});
    bool good = own.has_value();
    for (int i = 0; good && i < kTurns; ++i) {
      const int64_t conversation = (*own)->begin_conversation("child").value_or(0);
      const auto id =
          (*own)->keep({.conversation = conversation, .text = fmt::format("child {}", i)});
      good = id && (*own)->keep_vectors("model",
                                        std::vector<MemoryVector>{{.id = *id, .vector = {1, 0}}});
    }
    ::_exit(good ? 0 : 1);
  }
  open();
  for (int i = 0; i < kTurns; ++i) {
    say(fmt::format("parent {}", i));
    ASSERT_TRUE(store->search_meaning("model", std::vector<float>{1, 0}, {}, 5));
  }
  int state = 0;
  ASSERT_EQ(::waitpid(child, &state, 0), child);
  EXPECT_TRUE(WIFEXITED(state) && WEXITSTATUS(state) == 0);
  EXPECT_EQ(texts().size(), 2U * kTurns + 1);
  EXPECT_EQ(store->search_meaning("model", std::vector<float>{1, 0}, {}, 1000)->size(),
            static_cast<size_t>(kTurns))
      << "what another process kept is found";
}

TEST_F(MemoryFaults, AFolderThatMayNotBeWrittenToIsSaid) {
  std::ofstream(folder / "file") << "x";
  auto opened = open_sqlite_memory({.folder = folder / "file/memory"});
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, ErrorCode::Environment);
}

}  // namespace
}  // namespace mynah::talk::test
