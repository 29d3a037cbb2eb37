#include "base/shared_memory.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace mynah {
namespace {

std::unexpected<Error> failed(const char* what) {
  const int error = errno;
  return fail(error == ENOMEM || error == ENOSPC ? ErrorCode::OutOfMemory : ErrorCode::Io,
              std::string("shared memory: ") + what + ": " + std::strerror(error));
}

}  // namespace

Result<SharedMemory> SharedMemory::create(const std::string& name, size_t bytes) {
  UniqueFd fd(::memfd_create(name.c_str(), MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!fd) {
    return failed("memfd_create");
  }
  // Whoever maps it can rely on what is there staying there.
  if (::fcntl(fd.get(), F_ADD_SEALS, F_SEAL_SHRINK) != 0) {
    return failed("F_SEAL_SHRINK");
  }
  SharedMemory memory(std::move(fd));
  MYNAH_TRY_STATUS(memory.grow(std::max<size_t>(bytes, 1)));
  return memory;
}

Result<SharedMemory> SharedMemory::attach(UniqueFd fd) {
  const int seals = ::fcntl(fd.get(), F_GET_SEALS);
  if (seals < 0 || (seals & F_SEAL_SHRINK) == 0) {
    return fail(ErrorCode::InvalidInput,
                "shared memory: wanted a segment that cannot shrink, found another file");
  }
  SharedMemory memory(std::move(fd));
  MYNAH_TRY_STATUS(memory.follow(1));
  return memory;
}

SharedMemory::SharedMemory(SharedMemory&& other) noexcept
    : fd_(std::move(other.fd_)),
      data_(std::exchange(other.data_, nullptr)),
      size_(std::exchange(other.size_, 0)) {}

SharedMemory& SharedMemory::operator=(SharedMemory&& other) noexcept {
  if (this != &other) {
    unmap();
    fd_ = std::move(other.fd_);
    data_ = std::exchange(other.data_, nullptr);
    size_ = std::exchange(other.size_, 0);
  }
  return *this;
}

SharedMemory::~SharedMemory() {
  unmap();
}

void SharedMemory::unmap() {
  if (data_ != nullptr) {
    ::munmap(data_, size_);
    data_ = nullptr;
    size_ = 0;
  }
}

Status SharedMemory::map(size_t bytes) {
  void* const mapped = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd_.get(), 0);
  if (mapped == MAP_FAILED) {
    return failed("mmap");
  }
  unmap();
  data_ = static_cast<std::byte*>(mapped);
  size_ = bytes;
  return {};
}

Status SharedMemory::grow(size_t bytes) {
  if (bytes <= size_) {
    return {};
  }
  if (::ftruncate(fd_.get(), static_cast<off_t>(bytes)) != 0) {
    return failed("ftruncate");
  }
  return map(bytes);
}

Status SharedMemory::follow(size_t bytes) {
  if (bytes <= size_) {
    return {};
  }
  struct stat status{};
  if (::fstat(fd_.get(), &status) != 0) {
    return failed("fstat");
  }
  const auto there = static_cast<size_t>(status.st_size);
  if (there < bytes) {
    return fail(ErrorCode::InvalidInput, "shared memory: wanted " + std::to_string(bytes) +
                                             " bytes, found " + std::to_string(there));
  }
  return map(there);
}

}  // namespace mynah
