#include "chat/kept_texts.h"

#include <algorithm>

namespace mynah {
namespace {

int64_t common(std::span<const int32_t> a, std::span<const int32_t> b) {
  return std::ranges::mismatch(a, b).in1 - a.begin();
}

}  // namespace

std::optional<KeptTexts::Found> KeptTexts::find(const std::string& owner,
                                                const std::string& conversation,
                                                std::span<const int32_t> tokens) {
  auto best = texts_.end();
  int64_t length = kShortest - 1;
  for (auto text = texts_.begin(); text != texts_.end(); ++text) {
    if (text->owner != owner) {
      continue;
    }
    const int64_t alike = common(text->tokens, tokens);
    const bool is_better = alike > length || (alike == length && best != texts_.end() &&
                                              best->conversation != conversation &&
                                              text->conversation == conversation);
    if (is_better && (rewinds_ || alike == std::ssize(text->tokens))) {
      best = text;
      length = alike;
    }
  }
  if (best == texts_.end()) {
    return std::nullopt;
  }
  const bool own = best->conversation == conversation;
  const Found found{.number = best->number,
                    .length = length,
                    .own = own,
                    .whole = own && length == std::ssize(best->tokens) && !best->stays};
  if (found.whole) {
    texts_.erase(best);
  } else {
    texts_.splice(texts_.begin(), texts_, best);
  }
  return found;
}

std::optional<EarlyChange> KeptTexts::find_change(const std::string& owner,
                                                  const std::string& conversation,
                                                  std::span<const int32_t> tokens) const {
  std::optional<EarlyChange> most;
  for (const Text& text : texts_) {
    if (text.owner != owner || text.conversation != conversation) {
      continue;
    }
    auto change = find_early_change(text.tokens, tokens);
    if (change && (!most || change->alike_behind > most->alike_behind)) {
      most = std::move(change);
    }
  }
  return most;
}

void KeptTexts::remove(uint64_t number) {
  std::erase_if(texts_, [&](const Text& text) { return text.number == number; });
}

int64_t KeptTexts::alike(const std::string& owner, std::span<const int32_t> tokens) const {
  int64_t length = 0;
  for (const Text& text : texts_) {
    length = text.owner == owner ? std::max(length, common(text.tokens, tokens)) : length;
  }
  return length;
}

void KeptTexts::add(Text text) {
  remove(text.number);
  texts_.push_front(std::move(text));
}

std::vector<uint64_t> KeptTexts::shrink(int64_t most, size_t texts) {
  std::vector<uint64_t> gone;
  int64_t left = tokens();
  while ((left > most || texts_.size() > texts) && !texts_.empty()) {
    left -= static_cast<int64_t>(texts_.back().tokens.size());
    gone.push_back(texts_.back().number);
    texts_.pop_back();
  }
  return gone;
}

std::vector<uint64_t> KeptTexts::forget(const std::string& owner) {
  std::vector<uint64_t> gone;
  std::erase_if(texts_, [&](const Text& text) {
    if (text.owner != owner) {
      return false;
    }
    gone.push_back(text.number);
    return true;
  });
  return gone;
}

int64_t KeptTexts::tokens() const {
  int64_t all = 0;
  for (const Text& text : texts_) {
    all += static_cast<int64_t>(text.tokens.size());
  }
  return all;
}

}  // namespace mynah
