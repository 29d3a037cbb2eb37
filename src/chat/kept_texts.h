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
#include "chat/shared_positions.h"

namespace mynah {

// Not thread-safe.
class KeptTexts {
 public:
  // `rewinds`: LanguageFacts::rewinds; without it a text goes on at its end alone.
  explicit KeptTexts(bool rewinds) : rewinds_(rewinds) {}

  struct Text {
    uint64_t number = 0;
    std::string owner;
    std::string conversation;     // of the owner's
    std::vector<int32_t> tokens;  // that the model has read
    SharedBeginning beginning = {};
    bool stays = false;  // others begin with it, nobody goes on with itself
  };

  // A beginning that was found.
  struct Found {
    uint64_t number = 0;
    int64_t length = 0;         // tokens that are alike
    bool own = false;           // of the conversation
    bool whole = false;         // the kept text is taken out, and goes on as the new one
    SharedBeginning beginning;  // of the new one
  };

  // The longest beginning of `tokens` that a text of the owner has, of so many tokens at least, and
  // of kShortest; of two that are as long the conversation's. Texts of others stay, whole as they
  // are.
  [[nodiscard]] std::optional<Found> find(const std::string& owner, const std::string& conversation,
                                          std::span<const int32_t> tokens, int64_t least = 0);

  // How long it would be; 0: there is none.
  [[nodiscard]] int64_t length_of_beginning(const std::string& owner,
                                            std::span<const int32_t> tokens) const;

  // Where a text of the conversation stands that differs near its beginning and has the most in
  // common behind that.
  [[nodiscard]] std::optional<EarlyChange> find_change(const std::string& owner,
                                                       const std::string& conversation,
                                                       std::span<const int32_t> tokens) const;

  // How many tokens the longest beginning of `tokens` has that any text of the owner has.
  [[nodiscard]] int64_t alike(const std::string& owner, std::span<const int32_t> tokens) const;

  void add(Text text);

  // Lets go of one, if it is there.
  void remove(uint64_t number);

  // Lets go of the texts that were of no use for longest until all that is kept is at most `most`
  // tokens and so many texts; their numbers.
  [[nodiscard]] std::vector<uint64_t> shrink(int64_t most, size_t texts);

  // Lets go of an owner's texts; their numbers.
  [[nodiscard]] std::vector<uint64_t> forget(const std::string& owner);

  // Lets go of all.
  void clear() { texts_.clear(); }

  // Those that texts share once. What is alike and was read apart costs as much as other tokens.
  [[nodiscard]] int64_t tokens() const;

  // Less costs more to look after than to read again.
  static constexpr int64_t kShortest = 8;

 private:
  // How many of `tokens` another text may begin with of that one.
  [[nodiscard]] int64_t shareable(const Text& text, std::span<const int32_t> tokens) const;

  bool rewinds_;
  std::list<Text> texts_;  // what was of use last is first
};

}  // namespace mynah
