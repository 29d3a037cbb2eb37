// KvCache: keys and values of what sequences have said so far, in pages (Kwon et al. 2023,
// arXiv:2309.06180), and what recurrent layers keep of it.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <queue>
#include <span>
#include <vector>

#include "base/result.h"
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
  Tensor rows;                 // (tokens) i32: of KvCache::keys() and values()
  std::vector<Span> keys;      // of each lane, its new tokens included, as `pages` counts rows
  std::vector<int32_t> pages;  // of all lanes
  Tensor slots;                // (lanes) i32: rows of KvCache::state(), where there are states

  [[nodiscard]] PageTable table() const;
};

// A state, not a layer: who decodes owns one. A sequence is a list of pages of kPageRows positions
// each; a page may be of several sequences that began alike, and who writes to such a page gets a
// copy of it. Each layer has one tensor of keys and one of values, of all pages, which grow with
// what is written. A recurrent layer has states instead, of which a sequence has the same numbers
// however long it is, and those of its end alone.
class KvCache {
 public:
  // Few, since a sequence that goes its own way copies up to so many; and whole groups of four, as
  // the processor's kernels take keys.
  static constexpr int64_t kPageRows = 16;

  struct Sizes {
    int64_t layers = 0;
    int64_t width = 0;                 // columns of a key, and of a value
    int64_t sequences = 0;             // that write, at a time, as it is usually: more may
    int64_t capacity = 0;              // positions a sequence at most
    std::vector<int64_t> widths = {};  // of each layer where they differ; empty: `width` is of all
    std::vector<int64_t> states = {};  // numbers of each state of a sequence
  };

  // Layers that one device has, those behind the ones of the part before.
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
  // device of that share.
  [[nodiscard]] KvStep step(std::span<const Lane> lanes, size_t share = 0) const;

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

  // Bytes of all pages and states.
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

  // Layers of one width, one after the other.
  struct Run {
    int64_t first = 0;
    int64_t layers = 0;
    int64_t width = 0;
  };

  // What one device has.
  struct Part {
    Backend* backend = nullptr;
    int64_t end_layer = 0;
    std::vector<Run> runs;
    BufferRef buffer;
    int64_t first_state = 0;  // of Sizes::states
    int64_t end_state = 0;
    Tensor states;  // (slots, numbers of its states): a sequence's number is its slot
  };

  // Bytes of a row of all its layers, keys and values.
  [[nodiscard]] size_t row_bytes(const Part& part) const;
  // Calls fn(run, first byte) for the runs of a buffer of so many rows.
  template <class Fn>
  void for_each_run(const Part& part, int64_t rows, Fn&& fn) const;
  // Copies `count` rows of all its layers, keys and values, from one row on to another.
  void copy_rows(const Part& part, const BufferRef& from, int64_t from_rows, int64_t from_row,
                 const BufferRef& to, int64_t to_rows, int64_t to_row, int64_t count) const;
  [[nodiscard]] const Part& part_of(int64_t layer) const;
  // Numbers of the states of one, from its first one to this.
  [[nodiscard]] int64_t states_width(const Part& part, int64_t end_state) const;
  // A buffer of each for so many pages, or none.
  [[nodiscard]] Result<std::vector<BufferRef>> allocated(int64_t pages) const;

  // One without pages, its states whatever they were.
  [[nodiscard]] int64_t take_sequence();
  // In sequences_; of one that exists.
  [[nodiscard]] size_t index(int64_t sequence) const;
  // Whether the lane's first token goes to a page that others have, too.
  [[nodiscard]] bool writes_to_shared(const Sequence& sequence) const;
  void grow(int64_t more);
  // How many pages there are to be where so many are needed.
  [[nodiscard]] int64_t pages_ahead(int64_t needed) const;
  // States for as many sequences as there are, those of before among them.
  void grow_states(Part& part) const;
  // Makes the states of a sequence those of another, or zeros.
  void set_states(int64_t sequence, std::optional<int64_t> from);
  int32_t take_page();
  void leave_page(int32_t page);

  Sizes sizes_;
  DType dtype_;
  std::vector<Part> parts_;
  std::vector<Tensor> keys_;
  std::vector<Tensor> values_;
  std::vector<Sequence> sequences_;
  std::vector<int64_t> free_sequences_;
  std::vector<int32_t> uses_;  // of each page: the sequences that have it
  // The lowest first, so that a sequence's pages are often neighbours.
  std::priority_queue<int32_t, std::vector<int32_t>, std::greater<>> free_;
};

}  // namespace mynah
