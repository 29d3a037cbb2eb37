#include "text/phonemes/pronouncing_table.h"

#include <algorithm>
#include <unordered_set>
#include <utility>

#include <fmt/format.h>

#include "base/ascii.h"
#include "text/phonemes/arpabet.h"

namespace mynah {
namespace {

std::string_view without_comment(std::string_view line) {
  return trimmed(line.substr(0, line.find('#')), " \t\r");
}

}  // namespace

Result<std::string> pack_pronouncing_dictionary(std::string_view text, std::string_view name) {
  std::unordered_set<std::string_view> known;
  StringTableBuilder table;
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
    const bool first = known.insert(word).second;
    const auto phones = packed_arpabet(line.substr(word.size()));
    if (!phones || (first && !table.add(word, *phones))) {
      return fail(ErrorCode::InvalidInput,
                  fmt::format("{}, line {}: wanted a word and its phones as the CMU Pronouncing "
                              "Dictionary has them (\"donald D AA1 N AH0 L D\")",
                              name, number));
    }
  }
  return table.finish();
}

Result<PronouncingTable> PronouncingTable::open(const std::shared_ptr<const MappedFile>& file) {
  const std::string_view bytes(reinterpret_cast<const char*>(file->bytes().data()),
                               file->bytes().size());
  auto words = StringTable::open(bytes, file);
  if (!words) {
    return fail(ErrorCode::InvalidInput,
                fmt::format("{}: wanted a table of pronunciations, found other bytes or a part of "
                            "one; bring it again with `mynah pull cmudict --force`",
                            file->path()));
  }
  PronouncingTable table;
  table.words_ = *std::move(words);
  return table;
}

std::optional<std::string_view> PronouncingTable::find(std::string_view word) const {
  const auto phones = words_.find(word);
  return phones && !phones->empty() ? phones : std::nullopt;
}

}  // namespace mynah
