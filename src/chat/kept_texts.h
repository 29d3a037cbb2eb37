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
  // `window`: positions of which a text keeps more than of others (LanguageFacts::window_bytes).
  explicit KeptTexts(int64_t window = 0) : window_(window) {}

  struct Text {
    uint64_t number = 0;
    std::string owner;
    std::string conversation;     // of the owner's
    std::vector<int32_t> tokens;  // that the model has read
    int64_t from = 0;             // the fewest of them that another may begin with
    SharedBeginning beginning = {};
    bool stays = false;  // others begin with it, nobody goes on with itself
  };

  // What texts keep, in positions: of all, and of their windows.
  struct Size {
    int64_t tokens = 0;
    int64_t windows = 0;
  };

  // A beginning that was found.
  struct Found {
    uint64_t number = 0;
    int64_t length = 0;         // tokens that are alike
    int64_t from = 0;           // Text::from
    bool own = false;           // of the conversation
    bool whole = false;         // the kept text is taken out, and goes on as the new one
    bool stays = false;         // Text::stays
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
  // and so many texts; their numbers.
  [[nodiscard]] std::vector<uint64_t> shrink(const Size& most, size_t texts);

  // Lets go of an owner's texts; their numbers.
  [[nodiscard]] std::vector<uint64_t> forget(const std::string& owner);

  // Lets go of all.
  void clear() { texts_.clear(); }

  // Positions that texts share count once. What is alike and was read apart costs as much as other
  // tokens.
  [[nodiscard]] Size size() const;

  // Less costs more to look after than to read again.
  static constexpr int64_t kShortest = 8;

 private:
  // How many of `tokens` another text may begin with of that one.
  [[nodiscard]] static int64_t shareable(const Text& text, std::span<const int32_t> tokens);

  int64_t window_;
  std::list<Text> texts_;  // what was of use last is first
};

}  // namespace mynah
