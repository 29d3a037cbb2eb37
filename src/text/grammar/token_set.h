// Sets of token ids.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace mynah::grammar {

// Sets the token's bit of a mask: id % 32 of word id / 32.
inline void set_token_bit(std::span<uint32_t> bits, int32_t token) {
  bits[static_cast<size_t>(token) / 32] |= 1U << (static_cast<uint32_t>(token) % 32U);
}

[[nodiscard]] inline bool has_token_bit(std::span<const uint32_t> bits, int32_t token) {
  return (bits[static_cast<size_t>(token) / 32] >> (static_cast<uint32_t>(token) % 32U) & 1U) != 0;
}

// A list while there are few, bits when there are many.
class TokenSet {
 public:
  // Of a vocabulary whose masks have so many words.
  explicit TokenSet(size_t words) : words_(words) {}

  void add(std::span<const int32_t> tokens);
  void add_to(std::span<uint32_t> bits) const;

  [[nodiscard]] size_t bytes_kept() const { return 4 * (listed_.capacity() + bits_.capacity()); }

 private:
  size_t words_;
  std::vector<int32_t> listed_;
  std::vector<uint32_t> bits_;  // empty: they are listed
};

}  // namespace mynah::grammar
