// KvCache: keys and values of what sequences have said so far, in pages (Kwon et al. 2023,
// arXiv:2309.06180), and what recurrent layers keep of it.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <queue>
#include <span>
#include <vector>

#include "ops/ops.h"

namespace mynah {

// Tokens that one sequence adds in a step of a model.
struct Lane {
  int64_t sequence = 0;  // of the KvCache
  int64_t count = 1;     // tokens, consecutive in the step's list
  int64_t context = 0;   // what else the model reads for it, by its number there
};

// Where a step's tokens go, and what they look back at.
struct KvStep {
  // Layers of one width have their pages in the same places.
  struct Places {
    Tensor rows;                 // (tokens) i32: of KvCache::keys() and values()
    std::vector<int32_t> pages;  // of all lanes
  };

  std::vector<Places> places;  // by KvCache's groups, of the step's device
  std::vector<Span> keys;      // of each lane, its new tokens included, as a table counts rows
  Tensor slots;                // (lanes) i32: rows of KvCache::state(), where there are states
};

// A state, not a layer: who decodes owns one. A sequence is a list of pages of kPageRows positions
// each; a page may be of several sequences that began alike, and who writes to such a page gets a
// copy of it. Pages lie in slabs: of so many pages all layers' keys and values, then those of the
// next. What is written is then one piece of memory from its begin on, however many layers there
// are: it can grow where it is, and a huge page holds no more than its neighbours need. Each layer
// has one tensor of keys and one of values, of whose rows only those that a table names are its
// own. A recurrent layer has states instead, of which a sequence has the same numbers however long
// it is, and those of its end alone.
class KvCache {
 public:
  // Few, since a sequence that goes its own way copies up to so many; and whole groups of four, as
  // the processor's kernels take keys.
  static constexpr int64_t kPageRows = 16;

  // Pages of a slab: enough that neighbours are read in one go, and a short text's slab is small.
  static constexpr int64_t kSlabPages = 8;

  struct Sizes {
    int64_t layers = 0;
    int64_t width = 0;                 // columns of a key, and of a value
    int64_t sequences = 0;             // that write, at a time, as it is usually: more may
    int64_t capacity = 0;              // positions a sequence at most
    std::vector<int64_t> widths = {};  // of each layer where they differ; empty: `width` is of all
    std::vector<int64_t> states = {};  // numbers of each state of a sequence
    // Whether addresses for all of it are taken at once where all devices compute in the host's
    // memory, which then comes as it is written: for caches that are seldom full.
    bool in_place = false;
  };

  // Layers that one device has, those behind the ones of the share before.
  struct Share {
    Backend* backend = nullptr;  // must outlive the cache
    int64_t layers = 0;
    int64_t states = 0;  // of Sizes::states
  };

  // Keys and values are kept as `dtype`: f32, f16, bf16, or Q8_0 where 32 divides each head.
  KvCache(Backend& backend, const Sizes& sizes, DType dtype);

  // One of a model whose layers are on several devices: sequences and their pages are the same on
  // all of them. The shares' layers and states are those of `sizes` in sum.
  KvCache(std::span<const Share> shares, const Sizes& sizes, DType dtype);

  [[nodiscard]] const Sizes& sizes() const { return sizes_; }

  // An empty sequence; numbers are given again.
  [[nodiscard]] int64_t add();

  // Whether a sequence may be forked at any of its positions: without states.
  [[nodiscard]] bool rewinds() const { return sizes_.states.empty(); }

  // One that begins with the first `length` positions of another, which it shares. States are
  // copied: where there are any, `length` is that of the other, or 0.
  [[nodiscard]] int64_t fork(int64_t sequence, int64_t length);
  void remove(int64_t sequence);

  // Positions filled.
  [[nodiscard]] int64_t length(int64_t sequence) const {
    return sequences_[index(sequence)].length;
  }

  // Pages for what the lanes are about to add, of their own where it goes. Tensors may be others
  // afterwards. Asked again, it does nothing: a step whose operations must be those of another is
  // given its pages before it.
  void reserve(std::span<const Lane> lanes);

  // For lanes that reserve() knows; a sequence has one of them at most. Its tensors are on the
  // device of that share, whose layers it is for.
  [[nodiscard]] KvStep step(std::span<const Lane> lanes, size_t share = 0) const;

  // Where a step finds the keys and values of a layer; `step` must outlive it.
  [[nodiscard]] PageTable table(int64_t layer, const KvStep& step) const {
    return {.rows = kPageRows, .pages = step.places[group_of_[static_cast<size_t>(layer)]].pages};
  }

  [[nodiscard]] const Tensor& keys(int64_t layer) const {
    return keys_[static_cast<size_t>(layer)];
  }

  [[nodiscard]] const Tensor& values(int64_t layer) const {
    return values_[static_cast<size_t>(layer)];
  }

  // (slots, numbers) f32, rows apart, of a state by its number; an empty sequence has zeros. Who
  // writes it does so in the lanes' rows alone.
  [[nodiscard]] Tensor state(int64_t number) const;

  // Writes k and v (tokens, width) where the step says, of one layer.
  void write(int64_t layer, const Tensor& k, const Tensor& v, const KvStep& step) const;

  // The lanes' tokens are written.
  void advance(std::span<const Lane> lanes);

  // Bytes of the slabs that were ever used, and of the states: where it grows in place, others have
  // addresses and no memory.
  [[nodiscard]] size_t bytes() const;

  // Pages that sequences have.
  [[nodiscard]] int64_t pages_in_use() const {
    return static_cast<int64_t>(uses_.size() - free_.size());
  }

 private:
  struct Sequence {
    std::vector<int32_t> pages;
    int64_t length = 0;
    bool exists = false;
  };

  // Layers of one width on one device: (slabs, keys and values of each, rows of a slab, width).
  struct Group {
    size_t share = 0;
    Backend* backend = nullptr;
    int64_t width = 0;
    int64_t layers = 0;
    BufferRef buffer = {};

    // Of a page: where its rows begin in a layer's tensor, in pages.
    [[nodiscard]] int64_t place(int64_t page) const {
      return page / kSlabPages * (2 * layers * kSlabPages) + page % kSlabPages;
    }

    // Of all layers, keys and values.
    [[nodiscard]] int64_t slab_elements() const {
      return 2 * layers * kSlabPages * kPageRows * width;
    }
  };

  // States of recurrent layers on one device.
  struct States {
    Backend* backend = nullptr;
    int64_t first = 0;  // of Sizes::states
    int64_t end = 0;
    Tensor slots = {};  // (slots, numbers of its states): a sequence's number is its slot
  };

  // Bytes of a slab of all groups.
  [[nodiscard]] size_t slab_bytes() const;
  // Copies the first `count` rows of a page to another one.
  void copy_page(int64_t from, int64_t to, int64_t count) const;
  // Memory for so many slabs of each group, with what those have that there are.
  [[nodiscard]] std::vector<BufferRef> grown(int64_t slabs) const;
  [[nodiscard]] BufferRef memory(const Group& group, int64_t slabs) const;
  // The layers' tensors are those of the groups' buffers.
  void set_tensors(int64_t slabs);

  // One without pages, its states whatever they were.
  [[nodiscard]] int64_t take_sequence();
  // In sequences_; of one that exists.
  [[nodiscard]] size_t index(int64_t sequence) const;
  // Whether the lane's first token goes to a page that others have, too.
  [[nodiscard]] bool writes_to_shared(const Sequence& sequence) const;
  void grow(int64_t more);
  // How many slabs there are to be where so many are needed.
  [[nodiscard]] int64_t slabs_ahead(int64_t needed) const;
  // Numbers of those states before one.
  [[nodiscard]] int64_t states_width(const States& states, int64_t before) const;
  // Room for as many sequences as there are, the states of before among them.
  void grow_states(States& states) const;
  // Makes the states of a sequence those of another, or zeros.
  void set_states(int64_t sequence, std::optional<int64_t> from);
  int32_t take_page();
  void leave_page(int32_t page);

  Sizes sizes_;
  DType dtype_;
  bool in_place_;
  std::vector<Group> groups_;
  std::vector<size_t> group_of_;  // of each layer
  std::vector<States> states_;    // of each share
  std::vector<Tensor> keys_;
  std::vector<Tensor> values_;
  std::vector<Sequence> sequences_;
  std::vector<int64_t> free_sequences_;
  std::vector<int32_t> uses_;  // of each page: the sequences that have it
  int64_t used_slabs_ = 0;     // by a page, ever
  // The lowest first, so that a sequence's pages are often neighbours.
  std::priority_queue<int32_t, std::vector<int32_t>, std::greater<>> free_;
};

}  // namespace mynah
