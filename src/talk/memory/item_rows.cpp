#include "talk/memory/item_rows.h"

#include <array>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "text/unicode.h"
#include "text/utf8.h"

namespace mynah::talk {
namespace {

constexpr std::array<std::string_view, 4> kOrigins = {"user", "assistant", "tool", "file"};

constexpr const char* kColumns =
    "items.id, items.conversation, items.kind, items.source, items.origin, items.who, "
    "items.language, items.at_ms, items.text, items.played";

std::string in_small_letters(std::string_view text) {
  return to_utf8(to_lower(to_code_points(text)));
}

}  // namespace

std::string_view name_of(MemoryOrigin origin) {
  return kOrigins.at(static_cast<size_t>(origin));
}

std::optional<MemoryOrigin> memory_origin_of(std::string_view name) {
  for (size_t i = 0; i < kOrigins.size(); ++i) {
    if (kOrigins.at(i) == name) {
      return static_cast<MemoryOrigin>(i);
    }
  }
  return std::nullopt;
}

Result<Statement> select_items(const Database& database, const std::string& rest) {
  return database.prepare(fmt::format("SELECT {} FROM items {}", kColumns, rest));
}

MemoryItem read_item(const Statement& row) {
  MemoryItem item;
  int column = 0;
  item.id = row.integer(column++);
  item.turn.conversation = row.integer(column++);
  item.kind = row.integer(column++) == 0 ? MemoryKind::Turn : MemoryKind::Fact;
  item.source = row.integer(column++);
  // A number that a damaged file has counts as what is trusted least.
  const int64_t origin = row.integer(column++);
  const bool is_known = origin >= 0 && origin < std::ssize(kOrigins);
  item.turn.origin = is_known ? static_cast<MemoryOrigin>(origin) : MemoryOrigin::File;
  item.turn.who = row.text(column++);
  item.turn.language = row.text(column++);
  item.at_ms = row.integer(column++);
  item.turn.text = row.text(column++);
  if (!row.is_null(column)) {
    item.turn.played = row.text(column);
  }
  return item;
}

std::string condition_of(const MemoryFilter& filter) {
  std::string all = "items.id NOT IN (SELECT item FROM gone)";
  if (!filter.ids.empty()) {
    all += fmt::format(" AND items.id IN ({})", fmt::join(filter.ids, ","));
  }
  if (filter.conversation) {
    all += fmt::format(" AND items.conversation = {}", *filter.conversation);
  }
  if (filter.not_of) {
    all += fmt::format(" AND items.conversation <> {}", *filter.not_of);
  }
  if (filter.kind) {
    all += fmt::format(" AND items.kind = {}", static_cast<int>(*filter.kind));
  }
  if (!filter.origins.empty()) {
    std::vector<int> numbers;
    numbers.reserve(filter.origins.size());
    for (const MemoryOrigin origin : filter.origins) {
      numbers.push_back(static_cast<int>(origin));
    }
    all += fmt::format(" AND items.origin IN ({})", fmt::join(numbers, ","));
  }
  if (filter.before_ms) {
    all += fmt::format(" AND items.at_ms < {}", *filter.before_ms);
  }
  return all;
}

WordsWithin::WordsWithin(std::string_view words) : words_(in_small_letters(words)) {}

bool WordsWithin::in(std::string_view text) const {
  return in_small_letters(text).contains(words_);
}

bool WordsWithin::in(const MemoryItem& item) const {
  return words_.empty() || in(item.turn.text) || in(item.turn.who) ||
         (item.turn.played && in(*item.turn.played));
}

}  // namespace mynah::talk
