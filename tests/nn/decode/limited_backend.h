// A device whose memory gives no more than so much at once.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "backend/ref/ref_backend.h"
#include "tensor/device_error.h"

namespace mynah::test {

class LimitedBackend final : public Backend {
 public:
  // Bytes of a buffer at most.
  void allow(size_t bytes) { most_ = bytes; }

  BufferRef allocate(size_t bytes) override {
    if (bytes > most_) {
      throw DeviceError({ErrorCode::OutOfMemory, "the device's memory is full"});
    }
    return backend_.allocate(bytes);
  }

  [[nodiscard]] Device device() const override { return backend_.device(); }

  [[nodiscard]] std::string description() const override { return backend_.description(); }

  [[nodiscard]] bool supports_weight(DType dtype) const override {
    return backend_.supports_weight(dtype);
  }

  [[nodiscard]] const Backend& owner() const override { return backend_; }

  void upload(const void* source, const Tensor& out) override { backend_.upload(source, out); }

  void download(const Tensor& x, void* destination) override { backend_.download(x, destination); }

  void copy(const Tensor& x, const Tensor& out) override { backend_.copy(x, out); }

  void synchronize() override { backend_.synchronize(); }

  void release_idle_memory() override { backend_.release_idle_memory(); }

  [[nodiscard]] size_t memory_held() const override { return backend_.memory_held(); }

  LinearWeight pack_linear(const Tensor& w, DType storage) override {
    return backend_.pack_linear(w, storage);
  }

  LinearWeight pack_conv1d(const Tensor& w, DType storage, int64_t groups) override {
    return backend_.pack_conv1d(w, storage, groups);
  }

  [[nodiscard]] std::string packed_layout() const override { return backend_.packed_layout(); }

  KeysValues pack_keys_values(const Tensor& k, const Tensor& v, int64_t heads,
                              Precision precision) override {
    return backend_.pack_keys_values(k, v, heads, precision);
  }

  [[nodiscard]] size_t keys_values_bytes(int64_t rows, int64_t heads, int64_t head_dim,
                                         Precision precision) const override {
    return backend_.keys_values_bytes(rows, heads, head_dim, precision);
  }

#define MYNAH_OPERATION(name, parameters, arguments, ...) \
  void name parameters override { backend_.name arguments; }
#include "tensor/operations.inc"

 private:
  RefBackend backend_;
  size_t most_ = static_cast<size_t>(-1);
};

}  // namespace mynah::test
