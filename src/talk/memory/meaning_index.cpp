#include "talk/memory/meaning_index.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "tensor/quantize.h"

namespace mynah::talk {
namespace {

Result<int64_t> data_version(const Database& database) {
  MYNAH_TRY(Statement version, database.prepare("PRAGMA data_version"));
  MYNAH_TRY(const bool found, version.step());
  return found ? version.integer(0) : 0;
}

// None where the bytes are not so many finite numbers.
std::optional<HalfVector> read_halves(std::span<const std::byte> bytes, size_t width) {
  HalfVector halves(width);
  if (bytes.size() != width * sizeof(uint16_t)) {
    return std::nullopt;
  }
  std::memcpy(halves.data(), bytes.data(), bytes.size());
  const bool whole =
      std::ranges::all_of(halves, [](uint16_t half) { return std::isfinite(f16_to_f32(half)); });
  return whole ? std::optional(std::move(halves)) : std::nullopt;
}

}  // namespace

HalfVector halves_of(std::span<const float> vector) {
  HalfVector halves;
  halves.reserve(vector.size());
  for (const float value : vector) {
    halves.push_back(f32_to_f16(value));
  }
  return halves;
}

bool MeaningIndex::means(const MemoryFilter& filter, const Entry& entry) {
  return (!filter.conversation || entry.conversation == *filter.conversation) &&
         (!filter.not_of || entry.conversation != *filter.not_of) &&
         (!filter.kind || entry.kind == *filter.kind) &&
         (filter.origins.empty() ||
          std::ranges::find(filter.origins, entry.origin) != filter.origins.end()) &&
         (!filter.before_ms || entry.at_ms < *filter.before_ms);
}

// `data_version` first: what another process writes meanwhile is read once more.
Status MeaningIndex::read(const Database& database, std::string_view model, size_t width) {
  MYNAH_TRY(const int64_t version, data_version(database));
  if (index_ && version == version_ && model == model_ && index_->width() == width) {
    return {};
  }
  auto index = std::make_unique<VectorIndex>(width);
  entries_.clear();
  ids_.clear();
  MYNAH_TRY(Statement rows,
            database.prepare("SELECT items.id, items.conversation, items.at_ms, items.kind, "
                             "items.origin, vectors.vector FROM vectors JOIN items ON items.id = "
                             "vectors.item WHERE vectors.model = ? AND items.id NOT IN (SELECT "
                             "item FROM gone) ORDER BY items.id"));
  rows.bind(model);
  while (true) {
    MYNAH_TRY(const bool more, rows.step());
    if (!more) {
      break;
    }
    constexpr int kVector = 5;
    const auto halves = read_halves(rows.bytes(kVector), width);
    if (!halves) {
      continue;  // damaged: it is found by its words
    }
    int column = 0;
    Entry entry;
    entry.id = rows.integer(column++);
    entry.conversation = rows.integer(column++);
    entry.at_ms = rows.integer(column++);
    entry.kind = rows.integer(column++) == 0 ? MemoryKind::Turn : MemoryKind::Fact;
    entry.origin = static_cast<MemoryOrigin>(rows.integer(column));
    index->add(*halves);
    entries_.push_back(entry);
    ids_.insert(entry.id);
  }
  index_ = std::move(index);
  model_ = model;
  version_ = version;
  return {};
}

void MeaningIndex::added(std::string_view model, const MemoryItem& item,
                         std::span<const uint16_t> vector) {
  if (!index_ || model != model_ || vector.size() != index_->width() ||
      !ids_.insert(item.id).second) {
    clear();
    return;
  }
  index_->add(vector);
  entries_.push_back({.id = item.id,
                      .conversation = item.turn.conversation,
                      .at_ms = item.at_ms,
                      .kind = item.kind,
                      .origin = item.turn.origin});
}

Result<std::vector<FoundItem>> MeaningIndex::search(
    const Database& database, std::string_view model, std::span<const float> vector,
    const MemoryFilter& filter, const std::optional<std::set<int64_t>>& only, size_t most) {
  MYNAH_TRY_STATUS(read(database, model, vector.size()));
  const auto wanted = [&](size_t place) {
    const Entry& entry = entries_[place];
    return only ? only->contains(entry.id) : means(filter, entry);
  };
  std::vector<FoundItem> found;
  for (const VectorIndex::Near& near : index_->nearest(vector, most, wanted)) {
    found.push_back({.id = entries_[near.place].id, .score = near.product});
  }
  return found;
}

}  // namespace mynah::talk
