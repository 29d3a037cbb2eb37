// KeptTexts: texts that a model remembers though nobody writes on them, so that what another begins
// with is not read twice.
#pragma once

#include <cstdint>
#include <list>
#include <optional>
#include <span>
#include <string>
#include <vector>

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

  void add(Text text);

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
