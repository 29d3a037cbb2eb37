#include "nn/decode/kv_cache.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

#include "base/check.h"
#include "tensor/device_error.h"

namespace mynah {
namespace {

// Pages that a lane's part of a step's table is a multiple of: steps of about as long a past are
// alike, which a device may do at once (StepRunner). 128 positions, as a card takes keys.
constexpr int64_t kTableStep = 8;

int64_t pages_for(int64_t positions) {
  return (positions + KvCache::kPageRows - 1) / KvCache::kPageRows;
}

}  // namespace

PageTable KvStep::table() const {
  return {.rows = KvCache::kPageRows, .pages = pages};
}

KvCache::KvCache(Backend& backend, const Sizes& sizes, DType dtype)
    : KvCache(std::array{Share{
                  .backend = &backend, .layers = sizes.layers, .states = std::ssize(sizes.states)}},
              sizes, dtype) {}

KvCache::KvCache(std::span<const Share> shares, const Sizes& sizes, DType dtype)
    : sizes_(sizes),
      dtype_(dtype),
      keys_(static_cast<size_t>(sizes.layers)),
      values_(static_cast<size_t>(sizes.layers)) {
  MYNAH_CHECK(sizes.widths.empty() || std::ssize(sizes.widths) == sizes.layers, "a cache of ",
              std::to_string(sizes.layers), " layers with ", std::to_string(sizes.widths.size()),
              " widths");
  int64_t layer = 0;
  int64_t state = 0;
  for (const Share& share : shares) {
    Part part{.backend = share.backend,
              .end_layer = layer + share.layers,
              .runs = {},
              .buffer = {},
              .first_state = state,
              .end_state = state + share.states,
              .states = {}};
    for (; layer < part.end_layer; ++layer) {
      const int64_t width =
          sizes.widths.empty() ? sizes.width : sizes.widths[static_cast<size_t>(layer)];
      if (part.runs.empty() || part.runs.back().width != width) {
        part.runs.push_back({.first = layer, .layers = 0, .width = width});
      }
      ++part.runs.back().layers;
    }
    state = part.end_state;
    parts_.push_back(std::move(part));
  }
  MYNAH_CHECK(layer == sizes.layers && state == std::ssize(sizes.states), "a cache of ",
              std::to_string(sizes.layers), " layers of which ", std::to_string(layer),
              " are somewhere");
}

size_t KvCache::row_bytes(const Part& part) const {
  size_t bytes = 0;
  for (const Run& run : part.runs) {
    bytes += 2 * static_cast<size_t>(run.layers) * storage_bytes(dtype_, run.width);
  }
  return bytes;
}

template <class Fn>
void KvCache::for_each_run(const Part& part, int64_t rows, Fn&& fn) const {
  size_t first = 0;
  for (const Run& run : part.runs) {
    fn(run, first);
    first += 2 * static_cast<size_t>(run.layers) * storage_bytes(dtype_, rows * run.width);
  }
}

void KvCache::copy_rows(const Part& part, const BufferRef& from, int64_t from_rows,
                        int64_t from_row, const BufferRef& to, int64_t to_rows, int64_t to_row,
                        int64_t count) const {
  // Of a run: (2 layers, rows, bytes of a row).
  std::vector<Tensor> sources;
  const auto bytes_of = [&](const BufferRef& buffer, size_t first, const Run& run, int64_t rows) {
    const auto bytes = static_cast<int64_t>(storage_bytes(dtype_, run.width));
    return Tensor(buffer, first, {2 * run.layers, rows, bytes}, DType::U8, part.backend->device());
  };
  for_each_run(part, from_rows, [&](const Run& run, size_t first) {
    sources.push_back(bytes_of(from, first, run, from_rows).narrow(1, from_row, count));
  });
  size_t next = 0;
  for_each_run(part, to_rows, [&](const Run& run, size_t first) {
    ops::copy_into(*part.backend, sources[next++],
                   bytes_of(to, first, run, to_rows).narrow(1, to_row, count));
  });
}

const KvCache::Part& KvCache::part_of(int64_t layer) const {
  return *std::ranges::find_if(parts_, [&](const Part& part) { return layer < part.end_layer; });
}

size_t KvCache::index(int64_t sequence) const {
  MYNAH_CHECK(sequence >= 0 && sequence < std::ssize(sequences_) &&
                  sequences_[static_cast<size_t>(sequence)].exists,
              "sequence ", std::to_string(sequence), " is not in the cache");
  return static_cast<size_t>(sequence);
}

int64_t KvCache::add() {
  const int64_t sequence = take_sequence();
  set_states(sequence, std::nullopt);
  return sequence;
}

int64_t KvCache::take_sequence() {
  if (free_sequences_.empty()) {
    free_sequences_.push_back(std::ssize(sequences_));
    sequences_.emplace_back();
  }
  const int64_t sequence = free_sequences_.back();
  free_sequences_.pop_back();
  sequences_[static_cast<size_t>(sequence)] = {.pages = {}, .length = 0, .exists = true};
  return sequence;
}

int64_t KvCache::fork(int64_t sequence, int64_t length) {
  MYNAH_CHECK(length >= 0 && length <= sequences_[index(sequence)].length, "sequence ",
              std::to_string(sequence), " has no ", std::to_string(length), " positions");
  MYNAH_CHECK(rewinds() || length == 0 || length == sequences_[index(sequence)].length, "sequence ",
              std::to_string(sequence), " has states of its end alone, and not of ",
              std::to_string(length), " positions");
  const int64_t forked = take_sequence();
  set_states(forked, length == 0 ? std::nullopt : std::optional(sequence));
  const Sequence& from = sequences_[index(sequence)];
  Sequence& to = sequences_[index(forked)];
  to.length = length;
  to.pages.assign(from.pages.begin(), from.pages.begin() + pages_for(length));
  for (const int32_t page : to.pages) {
    ++uses_[static_cast<size_t>(page)];
  }
  return forked;
}

void KvCache::remove(int64_t sequence) {
  Sequence& removed = sequences_[index(sequence)];
  for (const int32_t page : removed.pages) {
    leave_page(page);
  }
  removed = {};
  free_sequences_.push_back(sequence);
}

bool KvCache::writes_to_shared(const Sequence& sequence) const {
  const auto page = static_cast<size_t>(sequence.length / kPageRows);
  return sequence.length % kPageRows > 0 && uses_[static_cast<size_t>(sequence.pages[page])] > 1;
}

void KvCache::reserve(std::span<const Lane> lanes) {
  int64_t wanted = 0;
  for (const Lane& lane : lanes) {
    const Sequence& sequence = sequences_[index(lane.sequence)];
    MYNAH_CHECK(sequence.length + lane.count <= sizes_.capacity,
                "more tokens than the cache holds");
    wanted +=
        (writes_to_shared(sequence) ? 1 : 0) +
        std::max<int64_t>(0, pages_for(sequence.length + lane.count) - std::ssize(sequence.pages));
  }
  grow(wanted - std::ssize(free_));
  for (const Lane& lane : lanes) {
    Sequence& sequence = sequences_[index(lane.sequence)];
    if (writes_to_shared(sequence)) {
      int32_t& page = sequence.pages[static_cast<size_t>(sequence.length / kPageRows)];
      const int32_t own = take_page();
      const int64_t rows = std::ssize(uses_) * kPageRows;
      for (const Part& part : parts_) {
        copy_rows(part, part.buffer, rows, page * kPageRows, part.buffer, rows, own * kPageRows,
                  sequence.length % kPageRows);
      }
      leave_page(page);
      page = own;
    }
    while (std::ssize(sequence.pages) < pages_for(sequence.length + lane.count)) {
      sequence.pages.push_back(take_page());
    }
  }
}

KvStep KvCache::step(std::span<const Lane> lanes, size_t share) const {
  Backend& backend = *parts_[share].backend;
  KvStep step;
  std::vector<int32_t> rows;
  for (const Lane& lane : lanes) {
    const Sequence& sequence = sequences_[index(lane.sequence)];
    const auto begin = static_cast<int64_t>(step.pages.size());
    const int64_t end = sequence.length + lane.count;
    step.pages.insert(step.pages.end(), sequence.pages.begin(), sequence.pages.end());
    const int64_t used = pages_for(end);
    step.pages.resize(
        static_cast<size_t>(begin + (used + kTableStep - 1) / kTableStep * kTableStep), 0);
    step.keys.push_back({begin * kPageRows, end});
    for (int64_t position = sequence.length; position < end; ++position) {
      const int64_t page = sequence.pages[static_cast<size_t>(position / kPageRows)];
      rows.push_back(static_cast<int32_t>(page * kPageRows + position % kPageRows));
    }
  }
  step.rows = ops::from_host(backend, std::span<const int32_t>(rows), {std::ssize(rows)});
  if (!rewinds()) {
    std::vector<int32_t> slots;
    for (const Lane& lane : lanes) {
      slots.push_back(static_cast<int32_t>(lane.sequence));
    }
    step.slots = ops::from_host(backend, std::span<const int32_t>(slots), {std::ssize(slots)});
  }
  return step;
}

void KvCache::write(int64_t layer, const Tensor& k, const Tensor& v, const KvStep& step) const {
  Backend& backend = *part_of(layer).backend;
  ops::scatter_rows(backend, k, step.rows, keys(layer));
  ops::scatter_rows(backend, v, step.rows, values(layer));
}

void KvCache::advance(std::span<const Lane> lanes) {
  for (const Lane& lane : lanes) {
    sequences_[index(lane.sequence)].length += lane.count;
  }
}

size_t KvCache::bytes() const {
  size_t bytes = 0;
  for (const Part& part : parts_) {
    const int64_t states = part.states.defined() ? part.states.elements() : 0;
    bytes += static_cast<size_t>(std::ssize(uses_) * kPageRows) * row_bytes(part) +
             storage_bytes(DType::F32, states);
  }
  return bytes;
}

int64_t KvCache::states_width(const Part& part, int64_t end_state) const {
  return std::accumulate(sizes_.states.begin() + part.first_state,
                         sizes_.states.begin() + end_state, int64_t{0});
}

Tensor KvCache::state(int64_t number) const {
  const Part& part =
      *std::ranges::find_if(parts_, [&](const Part& one) { return number < one.end_state; });
  return part.states.narrow(1, states_width(part, number),
                            sizes_.states[static_cast<size_t>(number)]);
}

void KvCache::grow_states(Part& part) const {
  const int64_t before = part.states.defined() ? part.states.dim(0) : 0;
  const auto wanted = std::ssize(sequences_);
  if (wanted <= before) {
    return;
  }
  const Shape shape{wanted + wanted / 2, states_width(part, part.end_state)};
  const Tensor grown = ops::empty(*part.backend, shape);
  if (before > 0) {
    ops::copy_into(*part.backend, part.states, grown.narrow(0, 0, before));
  }
  part.states = grown;
}

void KvCache::set_states(int64_t sequence, std::optional<int64_t> from) {
  for (Part& part : parts_) {
    if (part.first_state == part.end_state) {
      continue;
    }
    grow_states(part);
    if (from) {
      ops::copy_into(*part.backend, part.states.narrow(0, *from, 1),
                     part.states.narrow(0, sequence, 1));
      continue;
    }
    const auto own = std::span(sizes_.states)
                         .subspan(static_cast<size_t>(part.first_state),
                                  static_cast<size_t>(part.end_state - part.first_state));
    const Tensor zeros = ops::zeros(*part.backend, {1, std::ranges::max(own)});
    for (int64_t number = part.first_state; number < part.end_state; ++number) {
      const Tensor cleared = state(number).narrow(0, sequence, 1);
      ops::copy_into(*part.backend, zeros.narrow(1, 0, cleared.dim(1)), cleared);
    }
  }
}

// What grows seldom moves seldom, and steps whose tensors stay where they are are alike. While it
// moves both old and new pages are there: of what is usual at most, a half is the most that moves.
int64_t KvCache::pages_ahead(int64_t needed) const {
  constexpr int64_t kLeast = 4;  // of a sequence: more than a short window's text
  const int64_t before = std::ssize(uses_);
  const int64_t most = sizes_.sequences * pages_for(sizes_.capacity);
  int64_t ahead = std::max(2 * before, kLeast * sizes_.sequences);
  if (2 * ahead > most) {
    ahead = before < most ? most : before + before / 4;
  }
  return std::max(needed, ahead);
}

Result<std::vector<BufferRef>> KvCache::allocated(int64_t pages) const {
  return or_device_error([&]() -> Result<std::vector<BufferRef>> {
    std::vector<BufferRef> buffers;
    for (const Part& part : parts_) {
      buffers.push_back(
          part.backend->allocate(static_cast<size_t>(pages * kPageRows) * row_bytes(part)));
    }
    return buffers;
  });
}

void KvCache::grow(int64_t more) {
  if (more <= 0) {
    return;
  }
  const int64_t before = std::ssize(uses_);
  int64_t pages = pages_ahead(before + more);
  Result<std::vector<BufferRef>> found = allocated(pages);
  if (!found && found.error().code == ErrorCode::OutOfMemory && pages > before + more) {
    pages = before + more;  // what nobody needs yet is no reason to end
    found = allocated(pages);
  }
  if (!found) {
    throw DeviceError(std::move(found).error());
  }
  const int64_t rows = pages * kPageRows;
  for (size_t i = 0; i < parts_.size(); ++i) {
    Part& part = parts_[i];
    BufferRef& grown = (*found)[i];
    if (before > 0) {
      const int64_t filled = before * kPageRows;
      copy_rows(part, part.buffer, filled, 0, grown, rows, 0, filled);
    }
    for_each_run(part, rows, [&](const Run& run, size_t first) {
      const size_t layer_bytes = storage_bytes(dtype_, rows * run.width);
      const Shape shape{rows, run.width};
      for (int64_t layer = run.first; layer < run.first + run.layers; ++layer) {
        const auto at = static_cast<size_t>(layer);
        keys_[at] = {grown, first, shape, dtype_, part.backend->device()};
        values_[at] = {grown, first + layer_bytes, shape, dtype_, part.backend->device()};
        first += 2 * layer_bytes;
      }
    });
    part.buffer = std::move(grown);
  }
  uses_.resize(static_cast<size_t>(pages), 0);
  for (int64_t page = before; page < pages; ++page) {
    free_.push(static_cast<int32_t>(page));
  }
}

int32_t KvCache::take_page() {
  const int32_t page = free_.top();
  free_.pop();
  uses_[static_cast<size_t>(page)] = 1;
  return page;
}

void KvCache::leave_page(int32_t page) {
  if (--uses_[static_cast<size_t>(page)] == 0) {
    free_.push(page);
  }
}

}  // namespace mynah
