// Attention of blocks of queries over packed keys and values: one head of one block at a time, its
// scores never leaving the second-level cache.
#pragma once

#include <cstdint>
#include <span>

#include "backend/cpu/cpu_backend_class.h"
#include "backend/cpu/packed_keys.h"

namespace mynah::cpu {

// Queries of a block: their scores over 1500 keys (144 KB) stay in the second-level cache with the
// packed keys and values of the head; a multiple of the kernels' 12 rows.
inline constexpr int64_t kQueryBlock = 24;

// One query and what it sees.
struct Reader {
  int64_t row = 0;  // of q and of the result
  const KeysValues* keys = nullptr;
  Span visible;            // of its own keys
  int64_t tail_begin = 0;  // first row of the tail that it sees; the tail's rows: none
};

// What all readers share.
struct Readers {
  // Sorted by tail_begin, readers of the same keys side by side.
  std::span<const Reader> list;
  const KeysValues* tail = nullptr;
  int64_t tail_group = 1;
  int64_t heads = 1;
  float scale = 1.0F;            // where there is a cap: divided by it
  float score_cap = 0.0F;        // 0: none
  const float* sinks = nullptr;  // of each head; null: none
  int64_t run_rows = 0;          // PackedKeys::run_rows of own keys; 0: all

  // Whether a score is what it is, and not only compared with others of its query.
  [[nodiscard]] bool wants_whole_scores() const { return score_cap > 0.0F || sinks != nullptr; }

  [[nodiscard]] PackedKeys sizes_of(const KeysValues& own) const {
    return PackedKeys(own, run_rows);
  }
};

// n scores, of a scale that was divided by the cap.
void cap_scores(const Kernels& kernels, float* scores, int64_t n, float cap);

// Memory of one thread for blocks of queries, and what is done with it.
class QueryBlock {
 public:
  // most_keys: that any reader has of its own.
  QueryBlock(HostPool& memory, const Kernels& kernels, const Readers& readers, int64_t most_keys,
             const Tensor& q);

  // Queries list[first, first + count) of one head: their result.
  void attend(int64_t head, int64_t first, int64_t count, const Tensor& out);

  // The same queries' probabilities over their own visible keys, row by row from `out` on, `stride`
  // apart. No tail.
  void probabilities(int64_t head, int64_t first, int64_t count, float* out, int64_t stride);

 private:
  // Queries of the block, side by side, that read the same keys, and the whole panels of those that
  // any of them sees.
  struct Group {
    int64_t begin;
    int64_t end;
    const KeysValues* keys;
    int64_t first_key;
    int64_t end_key;
  };

  // Values that are mixed, and where the weights for them are.
  struct MixedKeys {
    PackedKeys sizes;
    const std::byte* head;  // keys and values of one head
    const float* sums;      // of each row's weights
    int64_t run = 0;        // whose values
    int64_t column = 0;     // of the first weight in a row
    int64_t first = 0;      // row of the values that it belongs to
    int64_t end = 0;        // behind the last row
    bool adds = false;      // to what was mixed before
  };

  // Queries [begin, end) of the block times the mean of one head of `keys`, to out[begin, end).
  void products_with_mean(int64_t begin, int64_t end, const KeysValues& keys,
                          const PackedKeys& sizes, int64_t head, float* out) const;
  void load(int64_t head, int64_t first, int64_t count);
  [[nodiscard]] Group group_from(int64_t begin) const;
  // Behind the last row of values that a group mixes: whole steps.
  [[nodiscard]] int64_t end_row(const Group& group) const;
  // Where one head's keys and values begin.
  [[nodiscard]] const std::byte* head_of(const KeysValues& keys, const PackedKeys& sizes,
                                         int64_t head) const;
  // Calls fn(run, rows) with the parts of rows that are in a run each, in their order.
  template <class Fn>
  static void for_each_run(const PackedKeys& sizes, const Span& rows, const Fn& fn);
  // Queries [row, row + count) times one panel of keys.
  void score_panel(int64_t row, int64_t count, const PackedKeys& sizes, const std::byte* panel,
                   float* out) const;
  // Weights of queries [row, row + count) times values, to mixed_.
  void mix_values(int64_t row, int64_t count, const MixedKeys& mixed);
  void score(int64_t head);
  void score_tail(int64_t head);
  void cap_rows();
  void weigh_rows(int64_t head);
  // A row's weights of its own keys.
  void weigh_own(int64_t row, const Group& group, float largest);
  // Scores [column, column + n) of a row to weights exp(score - shift), zero up to `end`; the sum
  // of the weights as they were before they were rounded.
  float weigh(int64_t row, int64_t column, int64_t n, int64_t end, float shift);
  void mix(int64_t head, const Tensor& out);

  const Kernels& kernels_;
  const Readers& readers_;
  const Tensor& q_;
  int64_t d_;
  int64_t steps_;          // of four channels
  bool fast_ = false;      // keys, values and the weights of values are int8
  int64_t own_width_ = 0;  // room for the scores of a reader's own keys
  int64_t most_runs_ = 1;  // of a reader's own keys
  int64_t width_ = 0;
  int64_t tail_from_ = 0;  // row of the tail that the scores at own_width_ belong to
  int64_t tail_rows_ = 0;  // queries of the block that see any of the tail: the first so many
  std::span<const Reader> block_;
  Scratch<float> queries_;        // scaled, where keys are exact
  Scratch<uint8_t> query_codes_;  // else int8, from 0
  Scratch<float> query_scales_;   // each query's, times what scores are scaled with
  Scratch<float> scores_;
  Scratch<uint8_t> weight_codes_;  // the scores' exponentials, 255 for 1
  Scratch<float> mixed_;
  // What the scores of a query's own keys and of the tail lack: its product with their means. 0
  // where keys are exact, and where scores are only compared with others of the same keys.
  float own_mean_[kQueryBlock] = {};
  float tail_mean_[kQueryBlock] = {};
  // Sums of each row's weights.
  Scratch<float> run_sum_;  // (runs, kQueryBlock)
  float own_sum_[kQueryBlock] = {};
  float tail_sum_[kQueryBlock] = {};
  float sink_weight_[kQueryBlock] = {};
};

}  // namespace mynah::cpu
