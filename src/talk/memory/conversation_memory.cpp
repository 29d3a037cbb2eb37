#include "talk/memory/conversation_memory.h"

#include <algorithm>
#include <utility>

#include "base/ascii.h"
#include "talk/memory/quoted_memory.h"
#include "talk/memory/remembered_words.h"

namespace mynah::talk {
namespace {

// Items that a question is looked up in, and that a model is told at most.
constexpr size_t kLookedAt = 20;
constexpr size_t kMostTold = 5;

// Items that get a vector before the first question is looked up: about a second's work.
constexpr size_t kCaughtUp = 256;

bool is_about(const Recalled& found, bool by_meaning) {
  return by_meaning ? found.cosine.value_or(0) >= kLeastCosine : found.by_words;
}

}  // namespace

ConversationMemory::ConversationMemory(std::shared_ptr<MemoryStore> store, MeaningModel model,
                                       std::string front, std::string user)
    : store_(std::move(store)),
      model_(std::move(model)),
      front_(std::move(front)),
      user_(std::move(user)) {}

void ConversationMemory::begin_anew() {
  const std::lock_guard lock(mutex_);
  conversation_ = 0;
  caught_up_ = false;
  told_.clear();
}

Status ConversationMemory::keep(MemoryTurn turn) {
  if (trimmed(turn.text).empty()) {
    return {};
  }
  const bool is_users = turn.origin == MemoryOrigin::User;
  if (is_users && turn.who.empty()) {
    turn.who = user_;
  }
  const std::lock_guard lock(mutex_);
  Result<int64_t> kept = 0;
  // Once more where the conversation was forgotten meanwhile: what is said now is another one.
  for (const bool is_last : {false, true}) {
    if (conversation_ == 0) {
      MYNAH_TRY(conversation_, store_->begin_conversation(front_));
    }
    turn.conversation = conversation_;
    kept = store_->keep(turn);
    if (kept || kept.error().code != ErrorCode::NotFound || is_last) {
      break;
    }
    conversation_ = 0;
  }
  MYNAH_TRY(const int64_t id, std::move(kept));
  kept_.push_back(id);
  const std::string_view fact = is_users ? words_to_remember(turn.text) : std::string_view();
  if (!fact.empty()) {
    MYNAH_TRY_STATUS(store_->keep_fact(id, fact));
  }
  return {};
}

Result<Reminder> ConversationMemory::remind(std::string_view question,
                                            const std::stop_token& stop) {
  MemoryFilter filter{.origins = {MemoryOrigin::User}};
  std::set<int64_t> told;
  bool caught_up = false;
  {
    const std::lock_guard lock(mutex_);
    caught_up = caught_up_;
    if (conversation_ != 0) {
      filter.not_of = conversation_;
    }
    told = told_;
  }
  if (!caught_up) {
    MYNAH_TRY_STATUS(talk::make_vectors(*store_, model_, stop, kCaughtUp));
    const std::lock_guard lock(mutex_);
    caught_up_ = !stop.stop_requested();
  }
  MYNAH_TRY(auto found, recall(*store_, model_, question, filter, kLookedAt, stop));
  std::erase_if(found, [&](const Recalled& one) {
    return told.contains(one.item.id) || !is_about(one, model_.embedder != nullptr);
  });
  found.resize(std::min(found.size(), kMostTold));
  // The order in which it was said: what is said later may take back what was said before.
  std::ranges::sort(found, {}, [](const Recalled& one) { return one.item.id; });
  Reminder reminder{.quoted = quoted_memory(found), .items = {}};
  // A line each; what there was no room for is told another time.
  found.resize(static_cast<size_t>(std::ranges::count(reminder.quoted, '\n')));
  for (const Recalled& one : found) {
    reminder.items.push_back(
        {.item = one.item.id, .day = day_of(one.item.at_ms), .text = one.item.turn.text});
  }
  return reminder;
}

void ConversationMemory::told(const Reminder& reminder) {
  const std::lock_guard lock(mutex_);
  for (const RecalledWords& one : reminder.items) {
    told_.insert(one.item);
  }
}

size_t ConversationMemory::kept() const {
  const std::lock_guard lock(mutex_);
  return kept_.size();
}

Status ConversationMemory::forget_behind(size_t kept) {
  MemoryFilter filter;
  {
    const std::lock_guard lock(mutex_);
    if (kept >= kept_.size()) {
      return {};
    }
    filter.ids.assign(kept_.begin() + static_cast<ptrdiff_t>(kept), kept_.end());
    kept_.resize(kept);
  }
  MYNAH_TRY(const int64_t forgotten, store_->forget(filter));
  static_cast<void>(forgotten);
  return {};
}

}  // namespace mynah::talk
