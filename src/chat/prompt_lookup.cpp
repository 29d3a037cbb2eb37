#include "chat/prompt_lookup.h"

#include <cstddef>

namespace mynah {
namespace {

constexpr int64_t kSome = 4;  // right in a row
constexpr int64_t kMany = 16;

// What is thought before anything was seen: too little of the first two for a guess to pay.
constexpr std::array kFirstChances = {0.15, 0.25, 0.55, 0.8, 0.9};
// Guesses that this counts as, and what is left of a guess that was seen one guess later.
constexpr double kFirstWeight = 4;
constexpr double kStays = 0.97;

// Tokens are below 2^21 (place::is_possible has them below 2^24): what two keys share by chance
// only makes a guess worse.
uint64_t key_of(std::span<const int32_t> tokens) {
  constexpr unsigned kBits = 21;
  uint64_t key = 0;
  for (const int32_t token : tokens) {
    key = (key << kBits) ^ static_cast<uint64_t>(token);
  }
  return key;
}

}  // namespace

PromptLookup::PromptLookup(std::span<const int32_t> prompt) {
  text_.reserve(prompt.size());
  for (const int32_t token : prompt) {
    add(token);
  }
  for (size_t i = 0; i < records_.size(); ++i) {
    records_[i] = {.right = kFirstWeight * kFirstChances[i], .all = kFirstWeight};
  }
}

PromptLookup::Trust PromptLookup::trust(int64_t right_in_a_row) const {
  if (right_in_a_row == 0) {
    return by_three_ ? ThreeAlike : TwoAlike;
  }
  return right_in_a_row < kSome ? FewRight : right_in_a_row < kMany ? SomeRight : ManyRight;
}

// Looks up before it remembers, so that a text does not find its own end.
void PromptLookup::add(int32_t token) {
  text_.push_back(token);
  const auto length = std::ssize(text_);
  const std::span<const int32_t> text = text_;
  if (next_ < 0) {
    look_up();
  }
  if (length >= 2) {
    behind_two_[key_of(text.last(2))] = length;
  }
  if (length >= 3) {
    behind_three_[key_of(text.last(3))] = length;
  }
}

void PromptLookup::look_up() {
  const std::span<const int32_t> text = text_;
  const auto find = [&](const auto& places, size_t alike) {
    if (text.size() < alike) {
      return false;
    }
    const auto found = places.find(key_of(text.last(alike)));
    next_ = found == places.end() ? -1 : found->second;
    return next_ >= 0;
  };
  by_three_ = find(behind_three_, 3);
  if (!by_three_) {
    static_cast<void>(find(behind_two_, 2));
  }
}

void PromptLookup::take(int32_t token) {
  if (next_ >= 0) {
    const bool is_right = text_[static_cast<size_t>(next_)] == token;
    Record& record = records_[trust(right_)];
    record.right = kStays * record.right + (is_right ? 1 : 0);
    record.all = kStays * record.all + 1;
    right_ = is_right ? right_ + 1 : 0;
    next_ = is_right ? next_ + 1 : -1;
  }
  add(token);
}

int32_t PromptLookup::at(int64_t i, std::span<const int32_t> behind) const {
  const auto length = std::ssize(text_);
  return i < length ? text_[static_cast<size_t>(i)] : behind[static_cast<size_t>(i - length)];
}

std::optional<PromptLookup::Guess> PromptLookup::guess(std::span<const int32_t> behind) const {
  if (next_ < 0) {
    return std::nullopt;
  }
  const auto count = std::ssize(behind);
  for (int64_t i = 0; i < count; ++i) {
    if (behind[static_cast<size_t>(i)] != at(next_ + i, behind)) {
      return std::nullopt;
    }
  }
  const Record& record = records_[trust(right_ + count)];
  return Guess{.token = at(next_ + count, behind), .chance = record.right / record.all};
}

}  // namespace mynah
