// MemoryLedger: a file in which the processes that share a fake card's memory write what each holds
// of it, as NVIDIA's driver in the kernel knows it of a real card.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>

#include "base/result.h"

namespace mynah::gpu::fake {

// A line of the file is "PID CARD BYTES": the card by its UUID's byte, as two hexadecimal digits,
// so that it is the same whatever number each process has for it. Blank lines and blanks mean
// nothing. Lines of a process that has ended count no more, be it waited for or not. A test may
// write lines of its own; they count as long as their process lives. Each call looks at the file
// once, and no other process's call comes between. Aborts where the file cannot be read or written.
class MemoryLedger {
 public:
  explicit MemoryLedger(std::string path) : path_(std::move(path)) {}

  // Whether the file can be read and written; made where it is not there.
  [[nodiscard]] Status check() const;

  // Bytes of the card that living processes hold, this one apart.
  [[nodiscard]] uint64_t held_by_others(uint8_t card) const;

  // This process holds `bytes` of the card from now on; false, and nothing changes, where others
  // leave less than that of `room`.
  [[nodiscard]] bool hold(uint8_t card, uint64_t bytes, uint64_t room);

  // The same where it is known to be there: after something was freed.
  void note(uint8_t card, uint64_t bytes);

  // This process holds nothing of any card.
  void forget();

 private:
  std::string path_;
};

}  // namespace mynah::gpu::fake
