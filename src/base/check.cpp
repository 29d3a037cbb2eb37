#include "base/check.h"

#include <cstdio>
#include <cstdlib>

namespace mynah {

void check_failed(const char* file, int line, const char* condition, const std::string& message) {
  std::fprintf(stderr, "mynah: bug at %s:%d: %s %s\n", file, line, condition, message.c_str());
  std::abort();
}

}  // namespace mynah
