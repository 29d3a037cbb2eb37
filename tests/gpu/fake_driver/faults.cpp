#include "faults.h"

#include <cmath>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include <sys/resource.h>
#include <unistd.h>

namespace mynah::gpu::fake {

void hang() {
  for (;;) {
    ::pause();
  }
}

void crash() {
  const rlimit none{};
  ::setrlimit(RLIMIT_CORE, &none);
  std::signal(SIGSEGV, SIG_DFL);
  std::raise(SIGSEGV);
  // Where the signal is blocked.
  std::abort();
}

void damage(FakeFault fault, void* bytes, size_t count) {
  if (fault == FakeFault::NoNumbers) {
    std::memset(bytes, 0xFF, count);
    return;
  }
  if (fault != FakeFault::Wrong) {
    return;
  }
  auto* const begin = static_cast<std::byte*>(bytes);
  for (size_t at = 0; at + sizeof(float) <= count; at += sizeof(float)) {
    float number = 0;
    std::memcpy(&number, begin + at, sizeof(number));
    if (std::isnormal(number)) {
      number *= at / sizeof(float) % 2 == 0 ? 1.25F : 0.75F;
      std::memcpy(begin + at, &number, sizeof(number));
    } else {
      uint32_t word = 0;
      std::memcpy(&word, begin + at, sizeof(word));
      word ^= 1;
      std::memcpy(begin + at, &word, sizeof(word));
    }
  }
}

}  // namespace mynah::gpu::fake
