// MemoryStore: what conversations leave, kept and found again, and forgotten for good. It knows
// texts and vectors, and no model.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace mynah::talk {

// Who brought a text. Only a user's words become facts, and only they are recalled for a model
// unless it is asked for more; what a tool, a file or the model itself said is kept as such.
enum class MemoryOrigin : uint8_t { User, Assistant, Tool, File };

// "user", "assistant", "tool", "file".
[[nodiscard]] std::string_view name_of(MemoryOrigin origin);
[[nodiscard]] std::optional<MemoryOrigin> memory_origin_of(std::string_view name);

// A turn as it was said, or a fact: the words of a user's turn that are to be remembered.
enum class MemoryKind : uint8_t { Turn, Fact };

// What is kept of a turn.
struct MemoryTurn {
  int64_t conversation = 0;  // of MemoryStore::begin_conversation()
  MemoryOrigin origin = MemoryOrigin::User;
  std::string who{};       // a name, of the user, the tool, the file or the model; "": nobody knows
  std::string language{};  // ISO 639-1; "": nobody knows
  std::string text{};
  // Of what the assistant said aloud: the words that were played. None: it was not spoken.
  std::optional<std::string> played{};
};

struct MemoryItem {
  int64_t id = 0;  // of the store's, never given twice
  MemoryKind kind = MemoryKind::Turn;
  int64_t source = 0;  // of a fact: the turn it was said in
  int64_t at_ms = 0;   // since 1970
  MemoryTurn turn;     // of a fact: its source's, with the fact's words
};

// Which items are meant: those that all of it is true of.
struct MemoryFilter {
  std::vector<int64_t> ids{};  // empty: any
  std::optional<int64_t> conversation{};
  std::optional<int64_t> not_of{};  // no turn or fact of that conversation
  std::optional<MemoryKind> kind{};
  std::vector<MemoryOrigin> origins{};  // empty: any
  std::optional<int64_t> before_ms{};
  std::string containing{};  // words as they stand, whatever their case (of ASCII letters); "": any

  [[nodiscard]] bool empty() const {
    return ids.empty() && !conversation && !not_of && !kind && origins.empty() && !before_ms &&
           containing.empty();
  }
};

// An item that was found, and how near it is: of a search by words bm25 (more is better), of one by
// meaning the cosine.
struct FoundItem {
  int64_t id = 0;
  double score = 0;
};

struct MemoryVector {
  int64_t id = 0;
  std::vector<float> vector;  // as long as one
};

struct MemoryCounts {
  int64_t conversations = 0;
  int64_t turns = 0;
  int64_t facts = 0;
  int64_t without_vector = 0;  // of any model
};

// Any number of threads may use it, and several processes the same store.
class MemoryStore {
 public:
  MemoryStore() = default;
  virtual ~MemoryStore() = default;
  MemoryStore(const MemoryStore&) = delete;
  MemoryStore& operator=(const MemoryStore&) = delete;

  // `front`: what it was held with ("chat", "talk").
  virtual Result<int64_t> begin_conversation(std::string_view front) = 0;

  // Keeps a turn; its id. Broken UTF-8 becomes U+FFFD. InvalidInput for a text without words or of
  // more than kMostText bytes; NotFound for a conversation that is not there or was forgotten.
  virtual Result<int64_t> keep(const MemoryTurn& turn) = 0;

  // Makes words of a user's turn a fact; its id. InvalidInput where the turn is not a user's, or
  // does not have these words. What is a fact already gets no second.
  virtual Result<int64_t> keep_fact(int64_t turn, std::string_view words) = 0;

  // The newest `most` of them, the oldest of these first.
  virtual Result<std::vector<MemoryItem>> list(const MemoryFilter& filter, int64_t most) = 0;

  // Items by their ids, in that order; what is not there is left out.
  virtual Result<std::vector<MemoryItem>> find(std::span<const int64_t> ids) = 0;

  // The `most` items that have words of `text`, the best first. Nothing in `text` is an operator.
  virtual Result<std::vector<FoundItem>> search_words(std::string_view text,
                                                      const MemoryFilter& filter, size_t most) = 0;

  // The `most` items whose vectors of that model have the largest cosine with `vector`, exactly,
  // the nearest first. Requires a vector of finite numbers.
  virtual Result<std::vector<FoundItem>> search_meaning(std::string_view model,
                                                        std::span<const float> vector,
                                                        const MemoryFilter& filter,
                                                        size_t most) = 0;

  // The oldest `most` items that have no vector of that model.
  virtual Result<std::vector<MemoryItem>> without_vector(std::string_view model, size_t most) = 0;

  // The turn before an item in its conversation; none: it is the first.
  virtual Result<std::optional<MemoryItem>> turn_before(const MemoryItem& item) = 0;

  // Keeps vectors, each in place of the one that its item had. An item that was forgotten meanwhile
  // gets none.
  virtual Status keep_vectors(std::string_view model, std::span<const MemoryVector> vectors) = 0;

  // Forgets what the filter means, with the facts that were made of it and the turn that a fact was
  // made of; how many items. Vectors of their conversations go, too: those of neighbours may be
  // made of them. Once it returns no file of the store has a byte of them; ended in the middle,
  // that is finished when the store is opened next. Busy where another process reads for longer
  // than some seconds: then it is forgotten for everybody, and finished later likewise.
  virtual Result<int64_t> forget(const MemoryFilter& filter) = 0;

  virtual Result<MemoryCounts> counts() = 0;

  static constexpr size_t kMostText = size_t{16} << 20;
};

}  // namespace mynah::talk
