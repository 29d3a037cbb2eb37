#include "nn/decode/kv_cache.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

#include "base/check.h"
#include "tensor/device_error.h"
#include "tensor/host_reservation.h"

namespace mynah {
namespace {

// Pages that a lane's part of a step's table is a multiple of: steps of about as long a past are
// alike, which a device may do at once (StepRunner). 128 positions, as a card takes keys.
constexpr int64_t kTableStep = 8;

constexpr int64_t kSlabRows = KvCache::kSlabPages * KvCache::kPageRows;

int64_t pages_for(int64_t positions) {
  return (positions + KvCache::kPageRows - 1) / KvCache::kPageRows;
}

int64_t slabs_for(int64_t pages) {
  return (pages + KvCache::kSlabPages - 1) / KvCache::kSlabPages;
}

bool computes_in_host_memory(const KvCache::Share& share) {
  const DeviceKind kind = share.backend->device().kind;
  return kind == DeviceKind::Cpu || kind == DeviceKind::Ref;
}

}  // namespace

KvCache::KvCache(Backend& backend, const Sizes& sizes, DType dtype)
    : KvCache(std::array{Share{
                  .backend = &backend, .layers = sizes.layers, .states = std::ssize(sizes.states)}},
              sizes, dtype) {}

KvCache::KvCache(std::span<const Share> shares, const Sizes& sizes, DType dtype)
    : sizes_(sizes),
      dtype_(dtype),
      in_place_(sizes.in_place && std::ranges::all_of(shares, computes_in_host_memory)),
      keys_(static_cast<size_t>(sizes.layers)),
      values_(static_cast<size_t>(sizes.layers)) {
  MYNAH_CHECK(sizes.widths.empty() || std::ssize(sizes.widths) == sizes.layers, "a cache of ",
              std::to_string(sizes.layers), " layers with ", std::to_string(sizes.widths.size()),
              " widths");
  int64_t state = 0;
  for (const Share& share : shares) {
    const auto others = std::ssize(groups_);
    for (int64_t i = 0; i < share.layers; ++i) {
      const int64_t width = sizes.widths.empty() ? sizes.width : sizes.widths[group_of_.size()];
      auto group = std::find_if(groups_.begin() + others, groups_.end(),
                                [&](const Group& one) { return one.width == width; });
      if (group == groups_.end()) {
        group = groups_.insert(group,
                               {.share = states_.size(), .backend = share.backend, .width = width});
      }
      ++group->layers;
      group_of_.push_back(static_cast<size_t>(group - groups_.begin()));
    }
    states_.push_back({.backend = share.backend, .first = state, .end = state + share.states});
    state += share.states;
  }
  MYNAH_CHECK(std::ssize(group_of_) == sizes.layers && state == std::ssize(sizes.states),
              "a cache of ", std::to_string(sizes.layers), " layers of which ",
              std::to_string(group_of_.size()), " are somewhere");
}

size_t KvCache::slab_bytes() const {
  size_t bytes = 0;
  for (const Group& group : groups_) {
    bytes += storage_bytes(dtype_, group.slab_elements());
  }
  return bytes;
}

void KvCache::copy_page(int64_t from, int64_t to, int64_t count) const {
  for (const Group& group : groups_) {
    // Of a page: (2 layers, rows, bytes of a row).
    const auto rows_of = [&](int64_t page) {
      const auto bytes = static_cast<int64_t>(storage_bytes(dtype_, group.width));
      const size_t first =
          static_cast<size_t>(page / kSlabPages) * storage_bytes(dtype_, group.slab_elements());
      return Tensor(group.buffer, first, {2 * group.layers, kSlabRows, bytes}, DType::U8,
                    group.backend->device())
          .narrow(1, page % kSlabPages * kPageRows, count);
    };
    ops::copy_into(*group.backend, rows_of(from), rows_of(to));
  }
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
      copy_page(page, own, sequence.length % kPageRows);
      leave_page(page);
      page = own;
    }
    while (std::ssize(sequence.pages) < pages_for(sequence.length + lane.count)) {
      sequence.pages.push_back(take_page());
    }
  }
}

KvStep KvCache::step(std::span<const Lane> lanes, size_t share) const {
  KvStep step;
  int64_t pages = 0;
  for (const Lane& lane : lanes) {
    const int64_t end = sequences_[index(lane.sequence)].length + lane.count;
    step.keys.push_back({pages * kPageRows, end});
    pages += (pages_for(end) + kTableStep - 1) / kTableStep * kTableStep;
  }
  for (const Group& group : groups_) {
    KvStep::Places& places = step.places.emplace_back();
    if (group.share != share) {
      continue;
    }
    std::vector<int32_t> rows;
    places.pages.resize(static_cast<size_t>(pages), 0);
    for (size_t i = 0; i < lanes.size(); ++i) {
      const Sequence& sequence = sequences_[index(lanes[i].sequence)];
      const auto place = [&](int64_t page) {
        return static_cast<int32_t>(group.place(sequence.pages[static_cast<size_t>(page)]));
      };
      const int64_t end = step.keys[i].length;
      int32_t* const own = places.pages.data() + step.keys[i].begin / kPageRows;
      for (int64_t page = 0; page < pages_for(end); ++page) {
        own[page] = place(page);
      }
      for (int64_t position = sequence.length; position < end; ++position) {
        rows.push_back(
            static_cast<int32_t>(place(position / kPageRows) * kPageRows + position % kPageRows));
      }
    }
    places.rows =
        ops::from_host(*group.backend, std::span<const int32_t>(rows), {std::ssize(rows)});
  }
  if (!rewinds()) {
    std::vector<int32_t> slots;
    for (const Lane& lane : lanes) {
      slots.push_back(static_cast<int32_t>(lane.sequence));
    }
    step.slots = ops::from_host(*states_[share].backend, std::span<const int32_t>(slots),
                                {std::ssize(slots)});
  }
  return step;
}

void KvCache::write(int64_t layer, const Tensor& k, const Tensor& v, const KvStep& step) const {
  const size_t group = group_of_[static_cast<size_t>(layer)];
  Backend& backend = *groups_[group].backend;
  const Tensor& rows = step.places[group].rows;
  ops::scatter_rows(backend, k, rows, keys(layer));
  ops::scatter_rows(backend, v, rows, values(layer));
}

void KvCache::advance(std::span<const Lane> lanes) {
  for (const Lane& lane : lanes) {
    sequences_[index(lane.sequence)].length += lane.count;
  }
}

size_t KvCache::bytes() const {
  const int64_t slabs = in_place_ ? used_slabs_ : std::ssize(uses_) / kSlabPages;
  size_t bytes = static_cast<size_t>(slabs) * slab_bytes();
  for (const States& states : states_) {
    bytes += states.slots.defined() ? storage_bytes(DType::F32, states.slots.elements()) : 0;
  }
  return bytes;
}

int64_t KvCache::states_width(const States& states, int64_t before) const {
  return std::accumulate(sizes_.states.begin() + states.first, sizes_.states.begin() + before,
                         int64_t{0});
}

Tensor KvCache::state(int64_t number) const {
  const States& states =
      *std::ranges::find_if(states_, [&](const States& one) { return number < one.end; });
  return states.slots.narrow(1, states_width(states, number),
                             sizes_.states[static_cast<size_t>(number)]);
}

void KvCache::grow_states(States& states) const {
  const int64_t before = states.slots.defined() ? states.slots.dim(0) : 0;
  const auto wanted = std::ssize(sequences_);
  if (wanted <= before) {
    return;
  }
  const Shape shape{wanted + wanted / 2, states_width(states, states.end)};
  const Tensor grown = ops::empty(*states.backend, shape);
  if (before > 0) {
    ops::copy_into(*states.backend, states.slots, grown.narrow(0, 0, before));
  }
  states.slots = grown;
}

void KvCache::set_states(int64_t sequence, std::optional<int64_t> from) {
  for (States& states : states_) {
    if (states.first == states.end) {
      continue;
    }
    grow_states(states);
    if (from) {
      ops::copy_into(*states.backend, states.slots.narrow(0, *from, 1),
                     states.slots.narrow(0, sequence, 1));
      continue;
    }
    const auto own = std::span(sizes_.states)
                         .subspan(static_cast<size_t>(states.first),
                                  static_cast<size_t>(states.end - states.first));
    const Tensor zeros = ops::zeros(*states.backend, {1, std::ranges::max(own)});
    for (int64_t number = states.first; number < states.end; ++number) {
      const Tensor cleared = state(number).narrow(0, sequence, 1);
      ops::copy_into(*states.backend, zeros.narrow(1, 0, cleared.dim(1)), cleared);
    }
  }
}

// What grows seldom moves seldom, and steps whose tensors stay where they are are alike. While it
// moves both old and new slabs are there: of what is usual at most, a half is the most that moves.
int64_t KvCache::slabs_ahead(int64_t needed) const {
  const int64_t before = std::ssize(uses_) / kSlabPages;
  const int64_t most = slabs_for(sizes_.sequences * pages_for(sizes_.capacity));
  if (in_place_) {
    return std::max({needed, most, 2 * before});
  }
  constexpr int64_t kLeastPages = 4;  // of a sequence: more than a short window's text
  int64_t ahead = std::max(2 * before, slabs_for(kLeastPages * sizes_.sequences));
  if (2 * ahead > most) {
    ahead = before < most ? most : before + (before + 3) / 4;
  }
  return std::max(needed, ahead);
}

BufferRef KvCache::memory(const Group& group, int64_t slabs) const {
  const size_t bytes = static_cast<size_t>(slabs) *
                       storage_bytes(dtype_, std::max<int64_t>(1, group.slab_elements()));
  return in_place_ ? reserve_host_memory(bytes) : group.backend->allocate(bytes);
}

std::vector<BufferRef> KvCache::grown(int64_t slabs) const {
  std::vector<BufferRef> buffers;
  for (const Group& group : groups_) {
    buffers.push_back(memory(group, slabs));
    const int64_t before = in_place_ ? used_slabs_ : std::ssize(uses_) / kSlabPages;
    const auto bytes = static_cast<int64_t>(storage_bytes(dtype_, group.slab_elements()));
    const auto filled = [&](const BufferRef& buffer) {
      return Tensor(buffer, 0, {before, bytes}, DType::U8, group.backend->device());
    };
    if (before > 0) {
      ops::copy_into(*group.backend, filled(group.buffer), filled(buffers.back()));
    }
  }
  return buffers;
}

void KvCache::set_tensors(int64_t slabs) {
  std::vector<int64_t> next(groups_.size(), 0);  // of each group: its next keys or values
  for (size_t layer = 0; layer < keys_.size(); ++layer) {
    const Group& group = groups_[group_of_[layer]];
    for (Tensor* const tensor : {&keys_[layer], &values_[layer]}) {
      const int64_t first = next[group_of_[layer]]++ * kSlabRows;
      // Up to the last slab's own rows.
      const int64_t rows = ((slabs - 1) * 2 * group.layers + 1) * kSlabRows;
      *tensor = {group.buffer,
                 storage_bytes(dtype_, first * group.width),
                 {rows, group.width},
                 dtype_,
                 group.backend->device()};
    }
  }
}

void KvCache::grow(int64_t more) {
  if (more <= 0) {
    return;
  }
  const int64_t before = std::ssize(uses_);
  const int64_t needed = slabs_for(before + more);
  int64_t slabs = slabs_ahead(needed);
  Result<std::vector<BufferRef>> buffers = or_device_error([&] { return grown(slabs); });
  if (!buffers && buffers.error().code == ErrorCode::OutOfMemory && slabs > needed) {
    slabs = needed;  // what nobody needs yet is no reason to end
    buffers = or_device_error([&] { return grown(slabs); });
  }
  if (!buffers) {
    throw DeviceError(std::move(buffers).error());
  }
  for (size_t i = 0; i < groups_.size(); ++i) {
    groups_[i].buffer = (*buffers)[i];
  }
  set_tensors(slabs);
  uses_.resize(static_cast<size_t>(slabs * kSlabPages), 0);
  for (int64_t page = before; page < std::ssize(uses_); ++page) {
    free_.push(static_cast<int32_t>(page));
  }
}

int32_t KvCache::take_page() {
  const int32_t page = free_.top();
  free_.pop();
  uses_[static_cast<size_t>(page)] = 1;
  used_slabs_ = std::max<int64_t>(used_slabs_, page / kSlabPages + 1);
  return page;
}

void KvCache::leave_page(int32_t page) {
  if (--uses_[static_cast<size_t>(page)] == 0) {
    free_.push(page);
  }
}

}  // namespace mynah
