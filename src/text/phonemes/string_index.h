// Strings numbered in the order in which they came, one after the other in one piece of memory: a
// hundred thousand words cost a hundred thousand times 12 bytes beside their letters.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mynah {

class StringIndex {
 public:
  // Makes room for as many strings.
  void reserve(size_t strings);

  // The number of the string, which is new or was there. At most 2^24 - 1 of them, and 4 GiB.
  uint32_t add(std::string_view key);

  [[nodiscard]] std::optional<uint32_t> find(std::string_view key) const;

  [[nodiscard]] size_t size() const { return ends_.size(); }

  // Valid until the next add().
  [[nodiscard]] std::string_view at(uint32_t number) const;

  void shrink_to_fit();

 private:
  // Where the key stands or would stand.
  [[nodiscard]] size_t slot_of(std::string_view key, size_t hash) const;
  void rebuild(size_t slots);

  std::string bytes_;
  std::vector<uint32_t> ends_;  // of each string in bytes_
  // As many as a power of two, with linear probing: 0, or the number + 1 in the upper 24 bits and
  // eight bits of the hash, by which most other strings are told without a look at them.
  std::vector<uint32_t> slots_;
};

}  // namespace mynah
