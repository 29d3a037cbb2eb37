// TokenRule: what may come in one text, as a grammar has it.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

namespace mynah {

// A text's own; asked from the queue's thread.
class TokenRule {
 public:
  TokenRule() = default;
  virtual ~TokenRule() = default;
  TokenRule& operator=(const TokenRule&) = delete;

  // Bit i of word i / 32: whether token i may come next; empty: all may. At least one may.
  virtual std::span<const uint32_t> allowed() = 0;
  // One of those was chosen.
  virtual void take(int32_t token) = 0;

  // One that stands where this one does, for tokens that may be taken back.
  [[nodiscard]] virtual std::unique_ptr<TokenRule> copy() const = 0;

 protected:
  TokenRule(const TokenRule&) = default;
};

}  // namespace mynah
