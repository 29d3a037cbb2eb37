// Byte-level byte pair encoding over a vocabulary whose ids are in the order of the merges.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace mynah {

// Joins the two neighbours whose joined bytes have the lowest id, the leftmost first, until none
// can be joined. GPT-2 and Whisper number their tokens in the order in which the merges were
// learnt, so that this is the merge list's own result (the reference, openai/whisper tokenizer.py,
// does it this way and keeps no merge list).
class ByteBpe {
 public:
  // tokens[id] are the bytes of token id; empty ones can be decoded and are never encoded. Fails
  // where one of the 256 bytes has no token, since some text could not be encoded then.
  static Result<ByteBpe> create(std::vector<std::string> tokens);

  ByteBpe(ByteBpe&&) noexcept = default;
  ByteBpe& operator=(ByteBpe&&) noexcept = default;
  ByteBpe(const ByteBpe&) = delete;
  ByteBpe& operator=(const ByteBpe&) = delete;
  ~ByteBpe() = default;

  [[nodiscard]] int32_t size() const { return static_cast<int32_t>(tokens_.size()); }

  // Requires 0 <= id < size().
  [[nodiscard]] const std::string& bytes(int32_t id) const {
    return tokens_[static_cast<size_t>(id)];
  }

  // The id of exactly these bytes, or -1.
  [[nodiscard]] int32_t find(std::string_view bytes) const;

  // Appends the tokens of one piece (pretokenize.h); O(n log n) in its bytes.
  void encode_piece(std::string_view piece, std::vector<int32_t>& ids) const;

 private:
  ByteBpe() = default;

  static constexpr int32_t kNone = -1;

  // Where the id of these bytes stands in slots_, or where it would.
  [[nodiscard]] size_t slot_of(std::string_view bytes) const;

  std::vector<std::string> tokens_;
  // Ids by their bytes' hash, the next free slot where one is taken; at most half are. A node for
  // each of 50,000 tokens would take three megabytes.
  std::vector<int32_t> slots_;
};

}  // namespace mynah
