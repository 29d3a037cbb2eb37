#include "text/phonemes/pronouncing_table.h"

#include <algorithm>
#include <cstring>
#include <map>

#include <fmt/format.h>

#include "base/ascii.h"
#include "text/phonemes/arpabet.h"

namespace mynah {
namespace {

constexpr std::string_view kMagic = "MYNAHPT1";
constexpr size_t kHeaderBytes = 16;
constexpr size_t kEntryBytes = 8;
constexpr size_t kLongest = 255;

void append_u32(std::string& bytes, size_t value) {
  for (int shift = 0; shift < 32; shift += 8) {
    bytes += static_cast<char>((value >> shift) & 0xFFU);
  }
}

size_t u32_at(std::string_view bytes, size_t at) {
  uint32_t value = 0;
  std::memcpy(&value, bytes.data() + at, sizeof(value));
  return value;
}

std::string_view without_comment(std::string_view line) {
  return trimmed(line.substr(0, line.find('#')), " \t\r");
}

}  // namespace

Result<std::string> pack_pronouncing_dictionary(std::string_view text, std::string_view name) {
  std::map<std::string_view, std::string> words;
  for (size_t at = 0, number = 1; at < text.size(); ++number) {
    const size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = without_comment(text.substr(at, end - at));
    at = end + 1;
    if (line.empty() || line.starts_with(";;;")) {
      continue;
    }
    const std::string_view word = line.substr(0, line.find(' '));
    if (word.ends_with(')')) {
      continue;
    }
    auto phones = packed_arpabet(line.substr(word.size()));
    if (!phones || word.size() > kLongest || phones->size() > kLongest) {
      return fail(ErrorCode::InvalidInput,
                  fmt::format("{}, line {}: wanted a word and its phones as the CMU Pronouncing "
                              "Dictionary has them (\"donald D AA1 N AH0 L D\")",
                              name, number));
    }
    words.emplace(word, std::move(*phones));
  }
  std::string entries;
  std::string letters;
  for (const auto& [word, phones] : words) {
    append_u32(entries, letters.size());
    entries += static_cast<char>(word.size());
    entries += static_cast<char>(phones.size());
    entries += {'\0', '\0'};
    letters += word;
    letters += phones;
  }
  std::string table(kMagic);
  append_u32(table, words.size());
  append_u32(table, letters.size());
  return table + entries + letters;
}

Result<PronouncingTable> PronouncingTable::open(std::shared_ptr<const MappedFile> file) {
  const std::string_view bytes(reinterpret_cast<const char*>(file->bytes().data()),
                               file->bytes().size());
  const auto wrong = [&] {
    return fail(ErrorCode::InvalidInput,
                fmt::format("{}: wanted a table of pronunciations, found other bytes or a part of "
                            "one; bring it again with `mynah pull cmudict --force`",
                            file->path()));
  };
  if (bytes.size() < kHeaderBytes || !bytes.starts_with(kMagic)) {
    return wrong();
  }
  PronouncingTable table;
  table.words_ = u32_at(bytes, kMagic.size());
  const size_t letters = u32_at(bytes, kMagic.size() + 4);
  if (bytes.size() != kHeaderBytes + table.words_ * kEntryBytes + letters) {
    return wrong();
  }
  table.entries_ = bytes.substr(kHeaderBytes, table.words_ * kEntryBytes);
  table.text_ = bytes.substr(kHeaderBytes + table.entries_.size());
  table.file_ = std::move(file);
  return table;
}

PronouncingTable::Entry PronouncingTable::entry(size_t number) const {
  const size_t at = number * kEntryBytes;
  const size_t begin = u32_at(entries_, at);
  const auto letters = static_cast<uint8_t>(entries_[at + 4]);
  const auto phones = static_cast<uint8_t>(entries_[at + 5]);
  if (begin + letters + phones > text_.size()) {
    return {};
  }
  return {.word = text_.substr(begin, letters), .phones = text_.substr(begin + letters, phones)};
}

std::optional<std::string_view> PronouncingTable::find(std::string_view word) const {
  size_t first = 0;
  size_t last = words_;
  while (first < last) {
    const size_t middle = first + (last - first) / 2;
    if (entry(middle).word < word) {
      first = middle + 1;
    } else {
      last = middle;
    }
  }
  if (first == words_) {
    return std::nullopt;
  }
  const Entry found = entry(first);
  return found.word == word && !found.phones.empty() ? std::optional(found.phones) : std::nullopt;
}

}  // namespace mynah
