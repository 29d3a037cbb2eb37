// KeptTexts: texts that a model remembers though nobody writes on them, so that what another begins
// with is not read twice.
#pragma once

#include <cstdint>
#include <list>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "chat/early_change.h"

namespace mynah {

// Not thread-safe.
class KeptTexts {
 public:
  struct Text {
    uint64_t number = 0;
    std::string owner;
    std::vector<int32_t> tokens;  // that the model has read
  };

  // A beginning that was found.
  struct Found {
    uint64_t number = 0;
    int64_t length = 0;  // tokens that are alike
    bool whole = false;  // the kept text ends there: it is taken out, and goes on as the new one
  };

  // The longest beginning of `tokens` that a text of the owner has, of kShortest tokens at least.
  [[nodiscard]] std::optional<Found> find(const std::string& owner,
                                          std::span<const int32_t> tokens);

  // Where a text of the owner stands that differs near its beginning and has the most in common
  // behind that.
  [[nodiscard]] std::optional<EarlyChange> find_change(const std::string& owner,
                                                       std::span<const int32_t> tokens) const;

  void add(Text text);

  // Lets go of one, if it is there.
  void remove(uint64_t number);

  // Lets go of the texts that were of no use for longest until all that is kept is at most `most`
  // tokens; their numbers.
  [[nodiscard]] std::vector<uint64_t> shrink(int64_t most);

  // Lets go of an owner's texts; their numbers.
  [[nodiscard]] std::vector<uint64_t> forget(const std::string& owner);

  // Lets go of all.
  void clear() { texts_.clear(); }

  // A text that begins as another costs as much as if it were alone: an upper bound.
  [[nodiscard]] int64_t tokens() const;

  // Less costs more to look after than to read again.
  static constexpr int64_t kShortest = 8;

 private:
  std::list<Text> texts_;  // what was of use last is first
};

}  // namespace mynah
