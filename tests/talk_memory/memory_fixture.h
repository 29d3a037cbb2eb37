// A memory in a folder of its own, with a clock that a test sets.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "talk/memory/sqlite_memory.h"
#include "temporary_folder.h"

namespace mynah::talk::test {

class MemoryTest : public testing::Test {
 protected:
  [[nodiscard]] MemoryOptions options() {
    return {.folder = state(),
            .tell = [this](const std::string& said) { told.push_back(said); },
            .now_ms = [this] { return now_ms; }};
  }

  void open() {
    store.reset();
    auto opened = open_sqlite_memory(options());
    ASSERT_TRUE(opened) << opened.error().message;
    store = *std::move(opened);
  }

  [[nodiscard]] std::string state() const { return folder / "memory"; }

  // Keeps a turn; a conversation of its own, or one that was begun.
  int64_t say(const std::string& text, MemoryOrigin origin = MemoryOrigin::User,
              int64_t conversation = 0) {
    if (conversation == 0) {
      conversation = *store->begin_conversation("test");
    }
    const auto kept = store->keep({.conversation = conversation,
                                   .origin = origin,
                                   .who = "ada",
                                   .language = "en",
                                   .text = text});
    EXPECT_TRUE(kept) << kept.error().message;
    return kept.value_or(0);
  }

  // Texts, the oldest first.
  [[nodiscard]] std::vector<std::string> texts(const MemoryFilter& filter = {}) const {
    std::vector<std::string> all;
    const auto items = store->list(filter, 1'000'000);
    EXPECT_TRUE(items) << items.error().message;
    for (const MemoryItem& item : items.value_or(std::vector<MemoryItem>())) {
      all.push_back(item.turn.text);
    }
    return all;
  }

  // Ids that words find, the best first.
  [[nodiscard]] std::vector<int64_t> words(const std::string& asked,
                                           const MemoryFilter& filter = {}) const {
    std::vector<int64_t> ids;
    const auto found = store->search_words(asked, filter, 100);
    EXPECT_TRUE(found) << found.error().message;
    for (const FoundItem& one : found.value_or(std::vector<FoundItem>())) {
      ids.push_back(one.id);
    }
    return ids;
  }

  mynah::test::TemporaryFolder folder;
  int64_t now_ms = 1'700'000'000'000;
  std::vector<std::string> told;
  std::unique_ptr<MemoryStore> store;
};

}  // namespace mynah::talk::test
