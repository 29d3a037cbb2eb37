// WordCache: the tokens of words that a text has had before, while it is encoded.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

namespace mynah {

// Joining a word costs some twenty looks into tables; a text says most of its words again. Keeps
// where a word stood and where its tokens stand among those of the text, so that nothing is copied
// but them. A word that falls on another's place takes it.
class WordCache {
 public:
  // Of one text, whose words must live as long as the cache. A short text has none: it would cost
  // more than it saves.
  explicit WordCache(size_t text_bytes) : entries_(text_bytes < kShort ? 0 : kEntries) {}

  // Appends the word's tokens as encode(word) does, which appends them to ids.
  template <class Encode>
  void append(std::string_view word, std::vector<int32_t>& ids, const Encode& encode) {
    if (entries_.empty() || word.size() > kLongest) {
      encode(word);
      return;
    }
    Entry& entry = entries_[std::hash<std::string_view>()(word) % kEntries];
    if (entry.word != word) {
      entry = {.word = word, .first = ids.size(), .count = 0};
      encode(word);
      entry.count = ids.size() - entry.first;
      return;
    }
    for (size_t i = 0; i < entry.count; ++i) {
      ids.push_back(ids[entry.first + i]);
    }
  }

 private:
  static constexpr size_t kShort = 2048;
  static constexpr size_t kLongest = 64;  // bytes: longer ones are said once
  static constexpr size_t kEntries = 8192;

  struct Entry {
    std::string_view word;
    size_t first = 0;  // of its tokens among the text's
    size_t count = 0;
  };

  std::vector<Entry> entries_;
};

}  // namespace mynah
