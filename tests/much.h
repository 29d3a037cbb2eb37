// How much "much" is in a test that asks whether a lot of something is taken in time.
#pragma once

#include <cstddef>

namespace mynah::test {

// A tenth of it under a sanitizer, which looks at each byte and takes ten times as long.
constexpr size_t much(size_t count) {
#if defined(MYNAH_ADDRESS_SANITIZER) || defined(MYNAH_THREAD_SANITIZER)
  return count / 10;
#else
  return count;
#endif
}

}  // namespace mynah::test
