#include "chat/kept_texts.h"

#include <algorithm>

namespace mynah {
namespace {

int64_t common(std::span<const int32_t> a, std::span<const int32_t> b) {
  return std::ranges::mismatch(a, b).in1 - a.begin();
}

}  // namespace

int64_t KeptTexts::shareable(const Text& text, std::span<const int32_t> tokens) {
  const int64_t alike = common(text.tokens, tokens);
  return alike >= text.from ? alike : 0;
}

std::optional<KeptTexts::Found> KeptTexts::find(const std::string& owner,
                                                const std::string& conversation,
                                                std::span<const int32_t> tokens, int64_t least) {
  auto best = texts_.end();
  int64_t length = std::max(kShortest, least) - 1;
  for (auto text = texts_.begin(); text != texts_.end(); ++text) {
    if (text->owner != owner) {
      continue;
    }
    const int64_t alike = shareable(*text, tokens);
    const bool is_better = alike > length || (alike == length && best != texts_.end() &&
                                              best->conversation != conversation &&
                                              text->conversation == conversation);
    if (is_better) {
      best = text;
      length = alike;
    }
  }
  if (best == texts_.end()) {
    return std::nullopt;
  }
  const bool own = best->conversation == conversation;
  const bool whole = own && length == std::ssize(best->tokens) && !best->stays;
  const Found found{.number = best->number,
                    .length = length,
                    .from = best->from,
                    .own = own,
                    .whole = whole,
                    .stays = best->stays,
                    .beginning = whole ? best->beginning
                                       : SharedBeginning{.text = best->number, .length = length}};
  if (found.whole) {
    texts_.erase(best);
  } else {
    texts_.splice(texts_.begin(), texts_, best);
  }
  return found;
}

int64_t KeptTexts::length_of_beginning(const std::string& owner,
                                       std::span<const int32_t> tokens) const {
  int64_t length = 0;
  for (const Text& text : texts_) {
    length = text.owner == owner ? std::max(length, shareable(text, tokens)) : length;
  }
  return length < kShortest ? 0 : length;
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

std::vector<uint64_t> KeptTexts::shrink(const Size& most, size_t texts) {
  std::vector<uint64_t> gone;
  Size left = size();
  while (!texts_.empty() &&
         (left.tokens > most.tokens || left.windows > most.windows || texts_.size() > texts)) {
    gone.push_back(texts_.back().number);
    texts_.pop_back();
    left = size();
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

KeptTexts::Size KeptTexts::size() const {
  SharedPositions all;
  int64_t windows = 0;
  for (const Text& text : texts_) {
    const auto length = std::ssize(text.tokens);
    all.add(text.number, length, text.beginning);
    // Of its window one that others begin with has what the longer one let go of since.
    const auto longer =
        text.stays ? std::ranges::find(texts_, text.beginning.text, &Text::number) : texts_.end();
    const bool is_alone = longer == texts_.end();
    windows += std::min({window_, length, is_alone ? length : std::ssize(longer->tokens) - length});
  }
  return {.tokens = all.total(), .windows = windows};
}

}  // namespace mynah
