#include "tensor/host_reservation.h"

#include <string>

#include <sys/mman.h>

#include "tensor/device_error.h"

namespace mynah {
namespace {

class ReservedBuffer final : public Buffer {
 public:
  ReservedBuffer(void* data, size_t size) : Buffer(static_cast<std::byte*>(data), size) {}

  void release() override {
    ::munmap(data_, size_);
    delete this;
  }
};

}  // namespace

BufferRef reserve_host_memory(size_t bytes) {
  void* const data = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (data == MAP_FAILED) {
    throw DeviceError({ErrorCode::OutOfMemory,
                       "wanted addresses for " + std::to_string(bytes) + " bytes, found none"});
  }
  ::madvise(data, bytes, MADV_HUGEPAGE);  // as HostArena's regions
  return BufferRef(new ReservedBuffer(data, bytes));
}

}  // namespace mynah
