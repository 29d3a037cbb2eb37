#include "store/file_identity.h"

#include <cstdint>

#include <fmt/core.h>

namespace mynah {

std::string file_identity(const struct stat& info) {
  return fmt::format("{} {} {} {} {}", static_cast<uint64_t>(info.st_size),
                     static_cast<int64_t>(info.st_mtim.tv_sec),
                     static_cast<int64_t>(info.st_mtim.tv_nsec), static_cast<uint64_t>(info.st_ino),
                     static_cast<uint64_t>(info.st_dev));
}

}  // namespace mynah
