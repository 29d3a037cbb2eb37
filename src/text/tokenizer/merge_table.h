// MergeTable: the merges of byte pair encoding, by the two tokens that they join.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "formats/tensor_file.h"
#include "text/pair_joins.h"
#include "text/tokenizer/gguf_vocabulary.h"
#include "text/tokenizer/token_table.h"

namespace mynah {

class MergeTable {
 public:
  // Reads tokenizer.ggml.merges: two tokens with a space between, the merge that goes first first.
  // A merge of or to a token that is not indexed (a mark) is never made. InvalidInput where one
  // names what is no token.
  static Result<MergeTable> read(const TensorFile& file, const TokenTable& tokens,
                                 TokenSpelling spelling);

  // What two tokens become; id -1 where they do not merge, or where one of them is -1.
  [[nodiscard]] PairJoin find(int32_t left, int32_t right) const {
    const uint32_t slot = slots_[slot_of(left, right)];
    return slot == kFree ? PairJoin{} : PairJoin{.order = slot, .id = merges_[slot].id};
  }

 private:
  struct Merge {
    int32_t left = -1;
    int32_t right = -1;
    int32_t id = -1;
  };

  static constexpr uint32_t kFree = UINT32_MAX;

  // Where the merge of these two stands in slots_, or where it would.
  [[nodiscard]] size_t slot_of(int32_t left, int32_t right) const {
    const uint64_t pair =
        (static_cast<uint64_t>(static_cast<uint32_t>(left)) << 32) | static_cast<uint32_t>(right);
    // Knuth's multiplicative hash by 2^64 over the golden ratio: the upper bits are the mixed ones.
    size_t slot = ((pair ^ (pair >> 29)) * 0x9E3779B97F4A7C15U) >> shift_;
    while (slots_[slot] != kFree &&
           (merges_[slots_[slot]].left != left || merges_[slots_[slot]].right != right)) {
      slot = (slot + 1) & (slots_.size() - 1);
    }
    return slot;
  }

  // Reads the merges from rank `first` on; several threads may.
  static Status read_some(const TensorFile& file, const TokenTable& tokens, TokenSpelling spelling,
                          std::span<const std::string> lines, size_t first,
                          std::span<Merge> merges);
  // Makes a merge known to `find`.
  void insert(size_t rank);

  std::vector<Merge> merges_;    // by rank
  std::vector<uint32_t> slots_;  // ranks by the hash of both; at most two thirds are taken
  int shift_ = 0;
};

}  // namespace mynah
