// ConversationMemory: what one conversation keeps, and is reminded of.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <set>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "talk/memory/memory_store.h"
#include "talk/memory/recall.h"

namespace mynah::talk {

// Words of another conversation that a model is told.
struct RecalledWords {
  int64_t item = 0;
  std::string day;  // that they were said on: "2026-11-30"
  std::string text;
};

// What a model is to be told with a question: words of other conversations.
struct Reminder {
  std::string quoted;                // as quoted_memory() writes them; "": nothing
  std::vector<RecalledWords> items;  // that are quoted
};

// Any number of threads may use it.
class ConversationMemory {
 public:
  // `front`: what it is held with ("chat", "talk"). `user`: who is held to speak; "": nobody knows.
  ConversationMemory(std::shared_ptr<MemoryStore> store, MeaningModel model, std::string front,
                     std::string user);

  // Keeps a turn of this conversation, MemoryTurn::conversation aside, and what a user asks in it
  // to be remembered as a fact. A user's turn without a name gets this one's. A text without words
  // is passed over.
  Status keep(MemoryTurn turn);

  // Nothing of this conversation, which the model has, and of others nothing that it was told().
  // The first time what has no vector gets one, up to some hundreds: who kept it may have ended
  // before it did.
  Result<Reminder> remind(std::string_view question, const std::stop_token& stop);

  // The model has it in its conversation.
  void told(const Reminder& reminder);

  // How many turns were kept by this one.
  [[nodiscard]] size_t kept() const;

  // Forgets for good the turns that were kept behind the first so many, as MemoryStore::forget().
  Status forget_behind(size_t kept);

  // What is kept from here on is another conversation.
  void begin_anew();

  // As make_vectors(), for whoever has time: what was just said is found by its words already.
  Status make_vectors(const std::stop_token& stop) {
    return talk::make_vectors(*store_, model_, stop);
  }

  [[nodiscard]] MemoryStore& store() { return *store_; }

 private:
  std::shared_ptr<MemoryStore> store_;
  MeaningModel model_;
  std::string front_;
  std::string user_;
  mutable std::mutex mutex_;
  std::vector<int64_t> kept_;
  bool caught_up_ = false;    // what others left without a vector has one
  int64_t conversation_ = 0;  // mutex_'s, as the next one; 0: nothing was kept yet
  std::set<int64_t> told_;    // items that the model was reminded of
};

}  // namespace mynah::talk
