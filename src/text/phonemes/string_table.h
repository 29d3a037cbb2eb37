// StringTable: strings by strings, sorted, read where they lie in a mapped file: it costs nothing
// at start, and a word a few pages.
//
// The bytes, little-endian: "MYNAHPT1"; u32 entries; u32 bytes of text; for each entry, sorted by
// the bytes of its key, u32 where it begins in the text, the lower 8 bits of the key's bytes and of
// the value's, the upper 8 of both; the text: each key and behind it its value.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mynah {

// Makes a table. Of equal keys the one that was added last holds.
class StringTableBuilder {
 public:
  // What a key or a value may have.
  static constexpr size_t kMostBytes = 0xFFFF;

  // False, and nothing is added: a string is too long, or the table would have 4 GiB.
  [[nodiscard]] bool add(std::string_view key, std::string_view value);

  [[nodiscard]] std::string finish();

 private:
  struct Entry {
    uint32_t begin = 0;
    uint16_t key = 0;
    uint16_t value = 0;
  };

  [[nodiscard]] std::string_view key_of(const Entry& entry) const;

  std::string text_;
  std::vector<Entry> entries_;
};

class StringTable {
 public:
  // One of nothing.
  StringTable() = default;

  // Nothing where the bytes are no such table; what its entries are is looked at when they are
  // asked for. `owner` keeps the bytes, and is kept.
  static std::optional<StringTable> open(std::string_view bytes, std::shared_ptr<const void> owner);

  // Of a builder's bytes.
  static StringTable of(std::string bytes);

  // It lives as long as the table.
  [[nodiscard]] std::optional<std::string_view> find(std::string_view key) const;

  [[nodiscard]] size_t size() const { return entries_.size() / kEntryBytes; }

 private:
  static constexpr size_t kEntryBytes = 8;

  struct Entry {
    std::string_view key;
    std::string_view value;
  };

  // Empty where it points outside of the text.
  [[nodiscard]] Entry entry(size_t number) const;

  std::shared_ptr<const void> owner_;
  std::string_view entries_;
  std::string_view text_;
};

}  // namespace mynah
