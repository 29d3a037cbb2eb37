// WatchedBackend: another backend, whose operations are counted and told of.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "tensor/backend.h"

namespace mynah {

// Hears of every operation of a WatchedBackend, from the thread that asks for it. Within a step
// (StepRunner) operations are told of when they are asked for, which is before they are done.
class BackendWatch {
 public:
  BackendWatch() = default;
  virtual ~BackendWatch() = default;
  BackendWatch(const BackendWatch&) = delete;
  BackendWatch& operator=(const BackendWatch&) = delete;

  // Before one. May throw DeviceError, which is then the operation's.
  virtual void before(std::string_view operation) = 0;
  // After one, with each tensor of it that was written; `backend` did it, and may be asked for
  // more. Not after what only brings bytes to or from the host.
  virtual void after(std::string_view operation, Backend& backend, const Tensor& out) = 0;
};

// Does what `backend` does, and shares its tensors (Backend::owner), so that several may watch one
// backend, each a stage of its own. Operations are everything that computes, copies or packs;
// memory and questions are passed on untold. Costs one virtual call and one addition an operation.
class WatchedBackend final : public Backend {
 public:
  // `backend` must outlive this, and so must `watch`, which may be null: then they are counted
  // alone.
  explicit WatchedBackend(Backend& backend, BackendWatch* watch = nullptr)
      : backend_(backend), watch_(watch) {}

  // Operations begun since the start: a sign of life that another thread may read at any time.
  [[nodiscard]] uint64_t operations() const { return operations_.load(std::memory_order_relaxed); }

  [[nodiscard]] Device device() const override { return backend_.device(); }

  [[nodiscard]] std::string description() const override { return backend_.description(); }

  [[nodiscard]] bool supports_weight(DType dtype) const override {
    return backend_.supports_weight(dtype);
  }

  [[nodiscard]] const Backend& owner() const override { return backend_.owner(); }

  [[nodiscard]] uint64_t launches() const override { return backend_.launches(); }

  [[nodiscard]] int parts() const override { return backend_.parts(); }

  void run_parts(int parts, FunctionRef<void(int)> fn) override { backend_.run_parts(parts, fn); }

  [[nodiscard]] int64_t rows_together() const override { return backend_.rows_together(); }

  [[nodiscard]] std::unique_ptr<StepRunner> make_step_runner() override {
    return backend_.make_step_runner();
  }

  BufferRef allocate(size_t bytes) override { return backend_.allocate(bytes); }

  BufferRef from_host(std::span<const std::byte> bytes) override;

  void upload(const void* source, const Tensor& out) override;
  void download(const Tensor& x, void* destination) override;
  void copy(const Tensor& x, const Tensor& out) override;
  void synchronize() override;

  void release_idle_memory() override { backend_.release_idle_memory(); }

  [[nodiscard]] size_t memory_held() const override { return backend_.memory_held(); }

  [[nodiscard]] std::optional<DeviceMemory> device_memory() const override {
    return backend_.device_memory();
  }

  LinearWeight pack_linear(const Tensor& w, DType storage) override;
  LinearWeight pack_conv1d(const Tensor& w, DType storage, int64_t groups) override;

  [[nodiscard]] std::string packed_layout() const override { return backend_.packed_layout(); }

  KeysValues pack_keys_values(const Tensor& k, const Tensor& v, int64_t heads,
                              Precision precision) override;

  [[nodiscard]] size_t keys_values_bytes(int64_t rows, int64_t heads, int64_t head_dim,
                                         Precision precision) const override {
    return backend_.keys_values_bytes(rows, heads, head_dim, precision);
  }

#define MYNAH_OPERATION(name, parameters, ...) void name parameters override;
#include "tensor/operations.inc"

 private:
  void before(std::string_view operation) {
    operations_.fetch_add(1, std::memory_order_relaxed);
    if (watch_ != nullptr) {
      watch_->before(operation);
    }
  }

  void after(std::string_view operation,
             std::initializer_list<std::reference_wrapper<const Tensor>> written) {
    if (watch_ != nullptr) {
      for (const Tensor& out : written) {
        watch_->after(operation, backend_, out);
      }
    }
  }

  Backend& backend_;
  BackendWatch* watch_;
  std::atomic<uint64_t> operations_{0};
};

}  // namespace mynah
