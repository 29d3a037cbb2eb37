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
#include "tensor/prompt_rows.h"

namespace mynah {

// Tokens that one sequence adds in a step of a model.
struct Lane {
  int64_t sequence = 0;  // of the KvCache
  int64_t count = 1;     // tokens, consecutive in the step's list
  int64_t context = 0;   // what else the model reads for it, by its number there
};

// Where a step's tokens go, and what they look back at.
struct KvStep {
  // Layers of one width that see as much have their pages in the same places.
  struct Places {
    Tensor rows;                 // (tokens) i32: of KvCache::keys() and values()
    std::vector<int32_t> pages;  // of all lanes
    std::vector<Span> keys;      // of each lane, its new tokens included, as `pages` counts rows
  };

  std::vector<Places> places;  // by KvCache's groups, of the step's device
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
//
// Layers that see a window have pages of their own, of which a sequence lets go once no position to
// come can see them. Its first kFirstRows positions stay, and what is left out behind them is a
// multiple of kGapRows: devices attend in runs and segments that are counted from a text's first
// key, and those of the processor are rounded relative to the mean of the first run. What is
// computed has then the same bits as if all were there.
class KvCache {
 public:
  // Few, since a sequence that goes its own way copies up to so many; and whole groups of four, as
  // the processor's kernels take keys.
  static constexpr int64_t kPageRows = 16;

  // Pages of a slab: enough that neighbours are read in one go, and a short text's slab is small.
  static constexpr int64_t kSlabPages = 8;

  static constexpr int64_t kFirstRows = kPromptGrid;
  static constexpr int64_t kGapRows = 128;

  struct Sizes {
    int64_t layers = 0;
    int64_t width = 0;                 // columns of a key, and of a value
    int64_t sequences = 0;             // that write, at a time, as it is usually: more may
    int64_t capacity = 0;              // positions a sequence at most
    std::vector<int64_t> widths = {};  // of each layer where they differ; empty: `width` is of all
    std::vector<int64_t> states = {};  // numbers of each state of a sequence
    // Of each layer, the positions that one of a sequence sees, its own the last; 0: all. Empty:
    // all layers see all.
    std::vector<int64_t> windows = {};
    int64_t rewinds = 0;  // positions that a sequence may be cut back by where layers see windows
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

  // Whether a sequence may be forked behind so many of its positions. Behind none and all of them
  // any may; with states no others; with windows those that are at most Sizes::rewinds less than it
  // ever had, and all while it had no more than a window and so many.
  [[nodiscard]] bool forks_at(int64_t sequence, int64_t length) const;

  // One that begins with the first `length` positions of another, which it shares; forks_at() must
  // be true. States are copied.
  [[nodiscard]] int64_t fork(int64_t sequence, int64_t length);
  void remove(int64_t sequence);

  // Positions filled.
  [[nodiscard]] int64_t length(int64_t sequence) const {
    return sequences_[index(sequence)].length;
  }

  // Pages for what the lanes are about to add, of their own where it goes; those that nothing will
  // see are let go. Tensors may be others afterwards. Asked again, it does nothing: a step whose
  // operations must be those of another is given its pages before it.
  void reserve(std::span<const Lane> lanes);

  // For lanes that reserve() knows; a sequence has one of them at most. Its tensors are on the
  // device of that share, whose layers it is for.
  [[nodiscard]] KvStep step(std::span<const Lane> lanes, size_t share = 0) const;

  // Where a step finds the keys and values of a layer; `step` must outlive it.
  [[nodiscard]] PageTable table(int64_t layer, const KvStep& step) const {
    return {.rows = kPageRows, .pages = step.places[group_of_[static_cast<size_t>(layer)]].pages};
  }

  // Which rows of that table are each lane's, its new tokens included; `step` must outlive it.
  [[nodiscard]] std::span<const Span> spans(int64_t layer, const KvStep& step) const {
    return step.places[group_of_[static_cast<size_t>(layer)]].keys;
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

  // Pages that sequences have, of layers that see as much.
  [[nodiscard]] int64_t pages_in_use(int64_t window = 0) const;

 private:
  // Of a sequence in a pool.
  struct Pages {
    std::vector<int32_t> list;
    int64_t gap = 0;  // positions behind the first kFirstRows that were let go

    // Where the page of a position stands in the list.
    [[nodiscard]] size_t of(int64_t position) const {
      return static_cast<size_t>((position < kFirstRows ? position : position - gap) / kPageRows);
    }
  };

  struct Sequence {
    std::vector<Pages> pages;  // by pools
    int64_t length = 0;
    bool exists = false;
  };

  // Pages of layers that see as much: on all devices, and of all widths, in the same places.
  struct Pool {
    int64_t window = 0;              // 0: all
    std::vector<int32_t> uses = {};  // of each page: the sequences that have it
    int64_t used_slabs = 0;          // by a page, ever
    // The lowest first, so that a sequence's pages are often neighbours.
    std::priority_queue<int32_t, std::vector<int32_t>, std::greater<>> free = {};

    [[nodiscard]] int64_t slabs() const { return std::ssize(uses) / kSlabPages; }
  };

  // Layers of one width and pool on one device: (slabs, keys and values of each, rows of a slab,
  // width).
  struct Group {
    size_t share = 0;
    size_t pool = 0;
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

  // The pool of a layer, in pools_.
  [[nodiscard]] size_t pool_for(int64_t layer);
  // Copies the first `count` rows of a page of a pool to another one.
  void copy_page(size_t pool, int64_t from, int64_t to, int64_t count) const;
  // Memory for so many slabs of each group of a pool, with what those have that there are.
  [[nodiscard]] std::vector<BufferRef> grown(size_t pool, int64_t slabs) const;
  [[nodiscard]] BufferRef memory(const Group& group, int64_t slabs) const;
  // The tensors of a pool's layers are those of its groups' buffers.
  void set_tensors(size_t pool);

  // One without pages, its states whatever they were.
  [[nodiscard]] int64_t take_sequence();
  // In sequences_; of one that exists.
  [[nodiscard]] size_t index(int64_t sequence) const;
  // Whether a sequence's next token goes to a page that others have, too.
  [[nodiscard]] bool writes_to_shared(size_t pool, const Sequence& sequence) const;
  // How many pages a sequence of that length has where nothing more is let go.
  [[nodiscard]] static int64_t pages_of(const Pages& pages, int64_t length);
  // Lets go of the pages that nothing sees once `count` positions are added.
  void let_go(Sequence& sequence, int64_t count);
  // Pages for what a lane adds.
  void take_pages(size_t pool, const Lane& lane);
  void grow(size_t pool, int64_t more);
  // How many slabs a pool is to have where so many are needed.
  [[nodiscard]] int64_t slabs_ahead(const Pool& pool, int64_t needed) const;
  // Numbers of those states before one.
  [[nodiscard]] int64_t states_width(const States& states, int64_t before) const;
  // Room for as many sequences as there are, the states of before among them.
  void grow_states(States& states) const;
  // Makes the states of a sequence those of another, or zeros.
  void set_states(int64_t sequence, std::optional<int64_t> from);
  static int32_t take_page(Pool& pool);
  static void leave_page(Pool& pool, int32_t page);

  Sizes sizes_;
  DType dtype_;
  bool in_place_;
  std::vector<Pool> pools_;
  std::vector<Group> groups_;
  std::vector<size_t> group_of_;  // of each layer
  std::vector<States> states_;    // of each share
  std::vector<Tensor> keys_;
  std::vector<Tensor> values_;
  std::vector<Sequence> sequences_;
  std::vector<int64_t> free_sequences_;
};

}  // namespace mynah
