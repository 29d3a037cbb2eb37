// The chunks of a WAV or AIFF file.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include <sys/mman.h>
#include <unistd.h>

#include "audio/iff_length.h"
#include "base/unique_fd.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const mynah::UniqueFd file(::memfd_create("fuzz", MFD_CLOEXEC));
  if (::write(file.get(), data, size) != static_cast<ssize_t>(size)) {
    return 0;
  }
  const auto found = mynah::find_sample_bytes(file.get(), static_cast<int64_t>(size));
  if (found && (found->present < 0 || found->present > found->promised)) {
    std::abort();
  }
  return 0;
}
