#include "place/workers/load_limit.h"

#include <cstdint>
#include <filesystem>

namespace mynah::place {
namespace {

// A device opens, and its driver compiles what it has not compiled before, in this: some forty
// seconds were seen of drivers that compile for a new card (compat/detectors.md).
constexpr std::chrono::milliseconds kOpen{60000};

// A slow disk reads so many bytes a millisecond.
constexpr uintmax_t kBytes_per_ms = 20000;

uintmax_t bytes_at(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_directory(path, error)) {
    const uintmax_t size = std::filesystem::file_size(path, error);
    return error ? 0 : size;
  }
  uintmax_t sum = 0;
  for (const auto& entry : std::filesystem::directory_iterator(path, error)) {
    const uintmax_t size = entry.is_regular_file(error) ? entry.file_size(error) : 0;
    sum += error ? 0 : size;
  }
  return sum;
}

}  // namespace

std::chrono::milliseconds load_limit(const std::string& path) {
  return kOpen + std::chrono::milliseconds(bytes_at(path) / kBytes_per_ms);
}

}  // namespace mynah::place
