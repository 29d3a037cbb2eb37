#include "text/phonemes/string_table.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/check.h"

namespace mynah {
namespace {

constexpr std::string_view kMagic = "MYNAHPT1";
constexpr size_t kHeaderBytes = 16;
constexpr unsigned kByte = 8;
constexpr unsigned kLowByte = 0xFF;

void append_u32(std::string& bytes, size_t value) {
  for (unsigned shift = 0; shift < 32; shift += kByte) {
    bytes += static_cast<char>((value >> shift) & kLowByte);
  }
}

size_t u32_at(std::string_view bytes, size_t at) {
  uint32_t value = 0;
  std::memcpy(&value, bytes.data() + at, sizeof(value));
  return value;
}

size_t byte_at(std::string_view bytes, size_t at) {
  return static_cast<uint8_t>(bytes[at]);
}

}  // namespace

bool StringTableBuilder::add(std::string_view key, std::string_view value) {
  if (key.size() > kMostBytes || value.size() > kMostBytes ||
      text_.size() + key.size() + value.size() > UINT32_MAX) {
    return false;
  }
  entries_.push_back({.begin = static_cast<uint32_t>(text_.size()),
                      .key = static_cast<uint16_t>(key.size()),
                      .value = static_cast<uint16_t>(value.size())});
  text_ += key;
  text_ += value;
  return true;
}

std::string_view StringTableBuilder::key_of(const Entry& entry) const {
  return std::string_view(text_).substr(entry.begin, entry.key);
}

std::string StringTableBuilder::finish() {
  // The last of equal ones first, which std::unique keeps.
  std::ranges::reverse(entries_);
  std::ranges::stable_sort(entries_, {}, [this](const Entry& entry) { return key_of(entry); });
  const auto equal = [this](const Entry& a, const Entry& b) { return key_of(a) == key_of(b); };
  entries_.erase(std::ranges::unique(entries_, equal).begin(), entries_.end());
  // Neighbours of the list are neighbours of the text: a search touches fewer pages.
  std::string text;
  text.reserve(text_.size());
  std::string list;
  list.reserve(sizeof(Entry) * entries_.size());
  for (const Entry& entry : entries_) {
    append_u32(list, text.size());
    text.append(text_, entry.begin, size_t{entry.key} + entry.value);
    list += static_cast<char>(entry.key & kLowByte);
    list += static_cast<char>(entry.value & kLowByte);
    list += static_cast<char>(entry.key >> kByte);
    list += static_cast<char>(entry.value >> kByte);
  }
  std::string table(kMagic);
  append_u32(table, entries_.size());
  append_u32(table, text.size());
  return table + list + text;
}

std::optional<StringTable> StringTable::open(std::string_view bytes,
                                             std::shared_ptr<const void> owner) {
  if (bytes.size() < kHeaderBytes || !bytes.starts_with(kMagic)) {
    return std::nullopt;
  }
  const size_t entries = u32_at(bytes, kMagic.size());
  const size_t text = u32_at(bytes, kMagic.size() + sizeof(uint32_t));
  if (bytes.size() != kHeaderBytes + entries * kEntryBytes + text) {
    return std::nullopt;
  }
  StringTable table;
  table.entries_ = bytes.substr(kHeaderBytes, entries * kEntryBytes);
  table.text_ = bytes.substr(kHeaderBytes + table.entries_.size());
  table.owner_ = std::move(owner);
  return table;
}

StringTable StringTable::of(std::string bytes) {
  const auto kept = std::make_shared<const std::string>(std::move(bytes));
  auto table = open(*kept, kept);
  MYNAH_CHECK(table.has_value(), "a builder's bytes are a table");
  return *std::move(table);
}

StringTable::Entry StringTable::entry(size_t number) const {
  const size_t at = number * kEntryBytes;
  const size_t begin = u32_at(entries_, at);
  const size_t key = byte_at(entries_, at + 4) | byte_at(entries_, at + 6) << kByte;
  const size_t value = byte_at(entries_, at + 5) | byte_at(entries_, at + 7) << kByte;
  if (begin + key + value > text_.size()) {
    return {};
  }
  return {.key = text_.substr(begin, key), .value = text_.substr(begin + key, value)};
}

std::optional<std::string_view> StringTable::find(std::string_view key) const {
  size_t first = 0;
  size_t last = size();
  while (first < last) {
    const size_t middle = first + (last - first) / 2;
    if (entry(middle).key < key) {
      first = middle + 1;
    } else {
      last = middle;
    }
  }
  if (first == size()) {
    return std::nullopt;
  }
  const Entry found = entry(first);
  return found.key == key ? std::optional(found.value) : std::nullopt;
}

}  // namespace mynah
