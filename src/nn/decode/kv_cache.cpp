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

// The first position that the one behind `length` others sees; below 0 where it sees more than
// there are.
int64_t first_seen(int64_t length, int64_t window) {
  return length + 1 - window;
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
  MYNAH_CHECK(sizes.windows.empty() || std::ssize(sizes.windows) == sizes.layers, "a cache of ",
              std::to_string(sizes.layers), " layers with ", std::to_string(sizes.windows.size()),
              " windows");
  int64_t state = 0;
  for (const Share& share : shares) {
    const auto others = std::ssize(groups_);
    for (int64_t i = 0; i < share.layers; ++i) {
      const int64_t width = sizes.widths.empty() ? sizes.width : sizes.widths[group_of_.size()];
      const size_t pool = pool_for(std::ssize(group_of_));
      auto group = std::find_if(groups_.begin() + others, groups_.end(), [&](const Group& one) {
        return one.width == width && one.pool == pool;
      });
      if (group == groups_.end()) {
        group = groups_.insert(
            group,
            {.share = states_.size(), .pool = pool, .backend = share.backend, .width = width});
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

size_t KvCache::pool_for(int64_t layer) {
  const int64_t window = sizes_.windows.empty() ? 0 : sizes_.windows[static_cast<size_t>(layer)];
  const auto known = std::ranges::find(pools_, window, &Pool::window);
  if (known != pools_.end()) {
    return static_cast<size_t>(known - pools_.begin());
  }
  pools_.push_back({.window = window});
  return pools_.size() - 1;
}

void KvCache::copy_page(size_t pool, int64_t from, int64_t to, int64_t count) const {
  for (const Group& group : groups_) {
    if (group.pool != pool) {
      continue;
    }
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
  sequences_[static_cast<size_t>(sequence)] = {
      .pages = std::vector<Pages>(pools_.size()), .length = 0, .exists = true};
  return sequence;
}

bool KvCache::forks_at(int64_t sequence, int64_t length) const {
  const Sequence& from = sequences_[index(sequence)];
  if (length == 0 || length == from.length) {
    return true;
  }
  if (length < 0 || length > from.length || !sizes_.states.empty()) {
    return false;
  }
  for (size_t pool = 0; pool < pools_.size(); ++pool) {
    // The position behind them sees nothing that was let go.
    const int64_t gap = from.pages[pool].gap;
    if (gap > 0 && first_seen(length, pools_[pool].window) < kFirstRows + gap) {
      return false;
    }
  }
  return true;
}

int64_t KvCache::fork(int64_t sequence, int64_t length) {
  MYNAH_CHECK(length >= 0 && length <= sequences_[index(sequence)].length, "sequence ",
              std::to_string(sequence), " has no ", std::to_string(length), " positions");
  MYNAH_CHECK(forks_at(sequence, length), "sequence ", std::to_string(sequence),
              " does not have what is seen behind ", std::to_string(length), " positions");
  const int64_t forked = take_sequence();
  set_states(forked, length == 0 ? std::nullopt : std::optional(sequence));
  if (length == 0) {
    return forked;
  }
  const Sequence& from = sequences_[index(sequence)];
  Sequence& to = sequences_[index(forked)];
  to.length = length;
  for (size_t pool = 0; pool < pools_.size(); ++pool) {
    const Pages& pages = from.pages[pool];
    to.pages[pool] = {.list = {pages.list.begin(), pages.list.begin() + pages_of(pages, length)},
                      .gap = pages.gap};
    for (const int32_t page : to.pages[pool].list) {
      ++pools_[pool].uses[static_cast<size_t>(page)];
    }
  }
  return forked;
}

void KvCache::remove(int64_t sequence) {
  Sequence& removed = sequences_[index(sequence)];
  for (size_t pool = 0; pool < pools_.size(); ++pool) {
    for (const int32_t page : removed.pages[pool].list) {
      leave_page(pools_[pool], page);
    }
  }
  removed = {};
  free_sequences_.push_back(sequence);
}

int64_t KvCache::pages_of(const Pages& pages, int64_t length) {
  return pages_for(length - pages.gap);
}

bool KvCache::writes_to_shared(size_t pool, const Sequence& sequence) const {
  const Pages& pages = sequence.pages[pool];
  return sequence.length % kPageRows > 0 &&
         pools_[pool].uses[static_cast<size_t>(pages.list[pages.of(sequence.length)])] > 1;
}

void KvCache::let_go(Sequence& sequence, int64_t count) {
  const int64_t next = std::min(sequence.length, sequence.length + count - sizes_.rewinds);
  for (size_t pool = 0; pool < pools_.size(); ++pool) {
    const int64_t window = pools_[pool].window;
    Pages& pages = sequence.pages[pool];
    const int64_t gap =
        window > 0 ? (first_seen(next, window) - kFirstRows) / kGapRows * kGapRows : 0;
    if (gap <= pages.gap) {
      continue;
    }
    const auto first = pages.list.begin() + kFirstRows / kPageRows;
    const auto end = first + (gap - pages.gap) / kPageRows;
    std::for_each(first, end, [&](int32_t page) { leave_page(pools_[pool], page); });
    pages.list.erase(first, end);
    pages.gap = gap;
  }
}

void KvCache::take_pages(size_t pool, const Lane& lane) {
  Sequence& sequence = sequences_[index(lane.sequence)];
  Pages& pages = sequence.pages[pool];
  if (writes_to_shared(pool, sequence)) {
    int32_t& page = pages.list[pages.of(sequence.length)];
    const int32_t own = take_page(pools_[pool]);
    copy_page(pool, page, own, sequence.length % kPageRows);
    leave_page(pools_[pool], page);
    page = own;
  }
  while (std::ssize(pages.list) < pages_of(pages, sequence.length + lane.count)) {
    pages.list.push_back(take_page(pools_[pool]));
  }
}

void KvCache::reserve(std::span<const Lane> lanes) {
  for (const Lane& lane : lanes) {
    Sequence& sequence = sequences_[index(lane.sequence)];
    MYNAH_CHECK(sequence.length + lane.count <= sizes_.capacity,
                "more tokens than the cache holds");
    let_go(sequence, lane.count);
  }
  for (size_t pool = 0; pool < pools_.size(); ++pool) {
    int64_t wanted = 0;
    for (const Lane& lane : lanes) {
      const Sequence& sequence = sequences_[index(lane.sequence)];
      const Pages& pages = sequence.pages[pool];
      wanted += (writes_to_shared(pool, sequence) ? 1 : 0) +
                std::max<int64_t>(
                    0, pages_of(pages, sequence.length + lane.count) - std::ssize(pages.list));
    }
    grow(pool, wanted - std::ssize(pools_[pool].free));
    for (const Lane& lane : lanes) {
      take_pages(pool, lane);
    }
  }
}

KvStep KvCache::step(std::span<const Lane> lanes, size_t share) const {
  KvStep step;
  for (const Group& group : groups_) {
    KvStep::Places& places = step.places.emplace_back();
    if (group.share != share) {
      continue;
    }
    std::vector<int32_t> rows;
    for (const Lane& lane : lanes) {
      const Sequence& sequence = sequences_[index(lane.sequence)];
      const Pages& own = sequence.pages[group.pool];
      const auto place = [&](size_t page) {
        return static_cast<int32_t>(group.place(own.list[page]));
      };
      const int64_t end = sequence.length + lane.count;
      const int64_t first = std::ssize(places.pages);
      const int64_t count = pages_of(own, end);
      places.keys.push_back({first * kPageRows, end - own.gap});
      for (int64_t page = 0; page < count; ++page) {
        places.pages.push_back(place(static_cast<size_t>(page)));
      }
      places.pages.resize(
          static_cast<size_t>(first + (count + kTableStep - 1) / kTableStep * kTableStep), 0);
      for (int64_t position = sequence.length; position < end; ++position) {
        rows.push_back(
            static_cast<int32_t>(place(own.of(position)) * kPageRows + position % kPageRows));
      }
    }
    places.rows =
        ops::from_host(*group.backend, std::span<const int32_t>(rows), {std::ssize(rows)});
  }
  if (!sizes_.states.empty()) {
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
  size_t bytes = 0;
  for (const Group& group : groups_) {
    const Pool& pool = pools_[group.pool];
    bytes += static_cast<size_t>(in_place_ ? pool.used_slabs : pool.slabs()) *
             storage_bytes(dtype_, group.slab_elements());
  }
  for (const States& states : states_) {
    bytes += states.slots.defined() ? storage_bytes(DType::F32, states.slots.elements()) : 0;
  }
  return bytes;
}

int64_t KvCache::pages_in_use(int64_t window) const {
  const auto pool = std::ranges::find(pools_, window, &Pool::window);
  return pool == pools_.end() ? 0 : std::ssize(pool->uses) - std::ssize(pool->free);
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
int64_t KvCache::slabs_ahead(const Pool& pool, int64_t needed) const {
  const int64_t before = pool.slabs();
  const auto slabs_of = [this](int64_t positions) {
    return slabs_for(sizes_.sequences * pages_for(positions));
  };
  if (in_place_) {
    return std::max({needed, slabs_of(sizes_.capacity), 2 * before});
  }
  const int64_t kept = kFirstRows + kGapRows + pool.window + sizes_.rewinds;
  const int64_t most =
      slabs_of(pool.window > 0 ? std::min(kept, sizes_.capacity) : sizes_.capacity);
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

std::vector<BufferRef> KvCache::grown(size_t pool, int64_t slabs) const {
  std::vector<BufferRef> buffers;
  const int64_t before = in_place_ ? pools_[pool].used_slabs : pools_[pool].slabs();
  for (const Group& group : groups_) {
    if (group.pool != pool) {
      continue;
    }
    buffers.push_back(memory(group, slabs));
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

void KvCache::set_tensors(size_t pool) {
  const int64_t slabs = pools_[pool].slabs();
  std::vector<int64_t> next(groups_.size(), 0);  // of each group: its next keys or values
  for (size_t layer = 0; layer < keys_.size(); ++layer) {
    const Group& group = groups_[group_of_[layer]];
    if (group.pool != pool) {
      continue;
    }
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

void KvCache::grow(size_t pool, int64_t more) {
  if (more <= 0) {
    return;
  }
  Pool& growing = pools_[pool];
  const int64_t before = std::ssize(growing.uses);
  const int64_t needed = slabs_for(before + more);
  int64_t slabs = slabs_ahead(growing, needed);
  Result<std::vector<BufferRef>> buffers = or_device_error([&] { return grown(pool, slabs); });
  if (!buffers && buffers.error().code == ErrorCode::OutOfMemory && slabs > needed) {
    slabs = needed;  // what nobody needs yet is no reason to end
    buffers = or_device_error([&] { return grown(pool, slabs); });
  }
  if (!buffers) {
    throw DeviceError(std::move(buffers).error());
  }
  auto buffer = buffers->begin();
  for (Group& group : groups_) {
    if (group.pool == pool) {
      group.buffer = *buffer++;
    }
  }
  growing.uses.resize(static_cast<size_t>(slabs * kSlabPages), 0);
  for (int64_t page = before; page < std::ssize(growing.uses); ++page) {
    growing.free.push(static_cast<int32_t>(page));
  }
  set_tensors(pool);
}

int32_t KvCache::take_page(Pool& pool) {
  const int32_t page = pool.free.top();
  pool.free.pop();
  pool.uses[static_cast<size_t>(page)] = 1;
  pool.used_slabs = std::max<int64_t>(pool.used_slabs, page / kSlabPages + 1);
  return page;
}

void KvCache::leave_page(Pool& pool, int32_t page) {
  if (--pool.uses[static_cast<size_t>(page)] == 0) {
    pool.free.push(page);
  }
}

}  // namespace mynah
