// Memory under tensors: reference-counted blocks that go back to the pool they came from.
#pragma once

#include <atomic>
#include <cstddef>
#include <utility>

namespace mynah {

// A block of device memory. The count is inside, so that sharing a tensor allocates nothing.
class Buffer {
 public:
  virtual ~Buffer() = default;
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  [[nodiscard]] std::byte* data() const { return data_; }

  [[nodiscard]] size_t size() const { return size_; }

 protected:
  Buffer(std::byte* data, size_t size) : data_(data), size_(size) {}

  // Called when nobody holds the buffer any more: frees it or hands it back to its pool.
  virtual void release() = 0;

  std::byte* data_;
  size_t size_;

 private:
  friend class BufferRef;
  std::atomic<int> references_{0};
};

// Shares a Buffer.
class BufferRef {
 public:
  BufferRef() = default;

  explicit BufferRef(Buffer* buffer) : buffer_(buffer) { retain(); }

  BufferRef(const BufferRef& other) : buffer_(other.buffer_) { retain(); }

  BufferRef(BufferRef&& other) noexcept : buffer_(std::exchange(other.buffer_, nullptr)) {}

  BufferRef& operator=(BufferRef other) noexcept {
    std::swap(buffer_, other.buffer_);
    return *this;
  }

  ~BufferRef() {
    if (buffer_ != nullptr && buffer_->references_.fetch_sub(1, std::memory_order_acq_rel) == 1) {
      buffer_->release();
    }
  }

  [[nodiscard]] Buffer* get() const { return buffer_; }

 private:
  void retain() {
    if (buffer_ != nullptr) {
      buffer_->references_.fetch_add(1, std::memory_order_relaxed);
    }
  }

  Buffer* buffer_ = nullptr;
};

}  // namespace mynah
