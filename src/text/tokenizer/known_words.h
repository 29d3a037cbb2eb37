// KnownWords: which tokens a text of exactly their bytes becomes, learnt as texts come.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace mynah {

// Most words are one token; not every token is what its own bytes join to. Looked up before a word
// is joined, so that a common one is joined once. May be asked and told by several threads at once:
// what they find out is the same.
class KnownWords {
 public:
  enum class Answer : uint8_t { NotKnown, Whole, Joined };

  explicit KnownWords(int32_t tokens) : answers_(static_cast<size_t>(tokens)) {}

  [[nodiscard]] Answer of(int32_t id) const {
    return answers_[static_cast<size_t>(id)].load(std::memory_order_relaxed);
  }

  void learn(int32_t id, bool is_whole) const {
    answers_[static_cast<size_t>(id)].store(is_whole ? Answer::Whole : Answer::Joined,
                                            std::memory_order_relaxed);
  }

 private:
  mutable std::vector<std::atomic<Answer>> answers_;
};

}  // namespace mynah
