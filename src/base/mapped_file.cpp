#include "base/mapped_file.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace mynah {

Result<std::shared_ptr<const MappedFile>> MappedFile::open(const std::string& path) {
  // O_NONBLOCK: a named pipe that nobody writes to is refused below, not waited for.
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) {
    const auto code = errno == ENOENT ? ErrorCode::NotFound : ErrorCode::Io;
    return fail(code, "cannot open " + path + ": " + std::strerror(errno));
  }
  struct stat info{};
  if (::fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) {
    ::close(fd);
    return fail(ErrorCode::InvalidInput, "wanted a regular file, found something else: " + path);
  }
  std::shared_ptr<MappedFile> file(new MappedFile());
  file->path_ = path;
  file->size_ = static_cast<size_t>(info.st_size);
  if (file->size_ > 0) {
    void* data = ::mmap(nullptr, file->size_, PROT_READ, MAP_SHARED, fd, 0);
    if (data == MAP_FAILED) {
      const int error = errno;
      ::close(fd);
      return fail(ErrorCode::Io, "cannot map " + path + ": " + std::strerror(error));
    }
    file->data_ = static_cast<const std::byte*>(data);
    file->mapped_ = true;
  }
  ::close(fd);
  return file;
}

std::shared_ptr<const MappedFile> MappedFile::from_bytes(std::span<const std::byte> bytes,
                                                         std::string name) {
  std::shared_ptr<MappedFile> file(new MappedFile());
  file->path_ = std::move(name);
  file->size_ = bytes.size();
  file->owned_ = std::make_unique<std::byte[]>(bytes.size());
  std::ranges::copy(bytes, file->owned_.get());
  file->data_ = file->owned_.get();
  return file;
}

MappedFile::~MappedFile() {
  if (mapped_) {
    ::munmap(const_cast<std::byte*>(data_), size_);
  }
}

void MappedFile::release_pages(std::span<const std::byte> range) const {
  if (!mapped_ || range.empty()) {
    return;
  }
  // Drops only whole pages inside the range: a neighbour's bytes on a shared page stay resident.
  const auto page = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
  const size_t into_page = reinterpret_cast<uintptr_t>(range.data()) % page;
  const size_t skipped = (page - into_page) % page;
  if (range.size() > skipped) {
    const size_t whole = (range.size() - skipped) / page * page;
    ::madvise(const_cast<std::byte*>(range.data() + skipped), whole, MADV_DONTNEED);
  }
}

}  // namespace mynah
