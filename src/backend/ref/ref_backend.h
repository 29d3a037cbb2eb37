// RefBackend: every operation in plain loops. It is the definition of what the operations mean, and
// the oracle of every test.
#pragma once

#include <memory>

#include "tensor/backend.h"
#include "tensor/host_pool.h"

namespace mynah {

// Stores f32 and computes in double, so that its error is half a unit in the last place of the
// result (plus what cancellation leaves of 1e-16): far below that of any backend under test.
// Weights are the numbers that their storage type can hold, kept as f32; Precision::Fast is treated
// as Exact. One thread, any number of callers.
class RefBackend final : public Backend {
 public:
  [[nodiscard]] Device device() const override { return {DeviceKind::Ref, 0}; }

  [[nodiscard]] std::string description() const override { return "plain loops, 1 thread"; }

  // Every float and block type, and I8.
  [[nodiscard]] bool supports_weight(DType dtype) const override;

  BufferRef allocate(size_t bytes) override { return pool_.allocate(bytes); }

  void upload(const void* source, const Tensor& out) override;
  void download(const Tensor& x, void* destination) override;
  void copy(const Tensor& x, const Tensor& out) override;

  void synchronize() override {}

  void release_idle_memory() override { pool_.trim(); }

  [[nodiscard]] size_t memory_held() const override { return pool_.bytes_held(); }

  LinearWeight pack_linear(const Tensor& w, DType storage) override;
  LinearWeight pack_conv1d(const Tensor& w, DType storage, int64_t groups) override;

  [[nodiscard]] std::string packed_layout() const override { return "ref-f32-1"; }

  KeysValues pack_keys_values(const Tensor& k, const Tensor& v, int64_t heads,
                              Precision precision) override;
  [[nodiscard]] size_t keys_values_bytes(int64_t rows, int64_t heads, int64_t head_dim,
                                         Precision precision) const override;

#define MYNAH_OPERATION(name, parameters, ...) void name parameters override;
#include "tensor/operations.inc"

 private:
  HostPool pool_;
};

std::unique_ptr<Backend> make_ref_backend();

}  // namespace mynah
