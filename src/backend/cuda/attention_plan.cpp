#include "backend/cuda/attention_plan.h"

#include <algorithm>

namespace mynah::cuda {

void AttentionPlan::add(const SeenKeys& keys, std::span<const Span> rows) {
  std::vector<Span> long_runs;
  std::vector<Span> others;
  for (const Span& run : rows) {
    const bool on_units = units_lines_ > 0 && is_long(run.length, group_);
    (on_units ? long_runs : others).push_back(run);
  }
  add_rows(keys, long_runs, true);
  add_rows(keys, others, false);
}

void AttentionPlan::add_rows(const SeenKeys& keys, std::span<const Span> rows, bool on_units) {
  const auto first_row = static_cast<int64_t>(rows_.size());
  for (const Span& span : rows) {
    for (int64_t row = span.begin; row < span.end(); ++row) {
      rows_.push_back(static_cast<int32_t>(row));
    }
  }
  const int64_t lines = (static_cast<int64_t>(rows_.size()) - first_row) * group_;
  // The third kind reads keys that lie one after the other.
  const bool is_few = lines <= kMostFew || !keys.pages.empty();
  const Kind kind = on_units ? Units : lines == 1 || alone_ ? One : is_few ? Few : Tiled;
  const auto first_page = keys.pages.empty() ? -1 : static_cast<int32_t>(pages_.size());
  pages_.insert(pages_.end(), keys.pages.begin(), keys.pages.end());
  const std::array<int64_t, kKinds.size()> most_lines = {1, simt::kFewLines, simt::kTiledLines,
                                                         units_lines_};
  const int64_t most = most_lines[kind];
  for (int64_t line = 0; line < lines; line += most) {
    const int64_t query = line / group_;
    const int64_t seen = keys.seen + (causal_ ? query : 0);
    // Whole segments that no query of the tile sees, so that sums are taken of the same parts
    // whatever other queries there are.
    const int64_t skipped =
        std::max<int64_t>(0, seen - window_) / simt::kSegmentKeys * simt::kSegmentKeys;
    const auto skipped_pages =
        static_cast<int32_t>(keys.pages.empty() ? 0 : skipped / keys.page_rows);
    const size_t skipped_rows = keys.pages.empty() ? static_cast<size_t>(skipped) : 0;
    tiles_[kind].push_back({
        .keys = keys.keys + skipped_rows * keys.key_bytes,
        .values = keys.values + skipped_rows * keys.value_bytes,
        .head_stride = keys.head_stride,
        .own = static_cast<int32_t>(keys.own - skipped),
        .tail_first = static_cast<int32_t>(keys.tail_first),
        .tail = static_cast<int32_t>(keys.tail),
        .seen = static_cast<int32_t>(seen - skipped),
        .first_row = static_cast<int32_t>(first_row + query),
        .skip = static_cast<int32_t>(line % group_),
        .lines = static_cast<int32_t>(std::min(most, lines - line)),
        .first_page = first_page + skipped_pages,
    });
  }
}

int64_t AttentionPlan::segments(Kind kind) const {
  int64_t longest = 1;
  for (const simt::AttentionTile& tile : tiles_[kind]) {
    longest = std::max<int64_t>(longest, int64_t{tile.own} + tile.tail);
  }
  return (longest + simt::kSegmentKeys - 1) / simt::kSegmentKeys;
}

std::vector<std::byte> AttentionPlan::bytes() const {
  std::vector<std::byte> all;
  const auto append = [&all](const auto& values) {
    const auto bytes = std::as_bytes(std::span(values));
    all.insert(all.end(), bytes.begin(), bytes.end());
  };
  for (const auto& tiles : tiles_) {
    append(tiles);
  }
  append(rows_);
  append(pages_);
  return all;
}

size_t AttentionPlan::tiles_offset(Kind kind) const {
  size_t offset = 0;
  for (size_t before = 0; before < kind; ++before) {
    offset += tiles_[before].size() * sizeof(simt::AttentionTile);
  }
  return offset;
}

size_t AttentionPlan::pages_offset() const {
  return rows_offset() + rows_.size() * sizeof(int32_t);
}

size_t AttentionPlan::rows_offset() const {
  return tiles_offset(kKinds.back()) + tiles_.back().size() * sizeof(simt::AttentionTile);
}

}  // namespace mynah::cuda
