#include "base/host_name.h"

#include <array>

#include <unistd.h>

namespace mynah {

std::string host_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? std::string(name.data())
                                                          : std::string();
}

}  // namespace mynah
