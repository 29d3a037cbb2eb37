// Looks behind the recording that a file begins with, and for an MP4's table: what is found lies in
// the file.
#include <cstdlib>

#include <sys/mman.h>
#include <unistd.h>

#include "audio/joined.h"
#include "base/unique_fd.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const mynah::UniqueFd file(::memfd_create("joined", MFD_CLOEXEC));
  if (!file || ::write(file.get(), data, size) != static_cast<ssize_t>(size)) {
    return 0;
  }
  const auto end = static_cast<int64_t>(size);
  int64_t samples_bytes = 0;
  static_cast<void>(mynah::lacks_index(mynah::read_at_of(file.get()), end, samples_bytes));
  if (samples_bytes < 0 || samples_bytes > end) {
    std::abort();
  }
  int64_t from = 0;
  for (;;) {
    const auto behind = mynah::look_behind(mynah::read_at_of(file.get()), end, from);
    if (behind.unknown_bytes < 0 || behind.unknown_bytes > end) {
      std::abort();
    }
    if (!behind.next) {
      return 0;
    }
    if (*behind.next <= from || *behind.next >= end) {
      std::abort();
    }
    from = *behind.next;
  }
}
