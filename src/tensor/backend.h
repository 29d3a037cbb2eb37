// Backend: what a device must do. One pure virtual an operation, so that a gap is a compile error.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/thread_pool.h"
#include "tensor/op_params.h"
#include "tensor/step_runner.h"
#include "tensor/tensor.h"

namespace mynah {

// Called by ops/, which has checked every shape and allocated every result: implementations trust
// their arguments. Tensors named `out` are written whole. Unless a line says otherwise tensors are
// f32, and rows may be strided, results are contiguous. Operations along the last dimension and
// element by element get (rows, d) whatever the rank in the model (a row or one element that binary
// spreads: (1, d) or (1, 1); results of reductions: (rows)); no operation is called for an empty
// result. Results do not depend on the number of threads, nor on an
// utterance's neighbours in a batch. Throws DeviceError when the device fails.
class Backend {
 public:
  Backend() = default;
  virtual ~Backend() = default;
  Backend(const Backend&) = delete;
  Backend& operator=(const Backend&) = delete;

  [[nodiscard]] virtual Device device() const = 0;
  // For people: "avx3_dl, 2 threads".
  [[nodiscard]] virtual std::string description() const = 0;
  // Whether linear() and conv1d() take weights stored as this type: asked once, when a model is
  // loaded.
  [[nodiscard]] virtual bool supports_weight(DType dtype) const = 0;

  // The backend whose tensors these are: itself, or the one behind it (WatchedBackend). Two with
  // the same owner read each other's tensors; between others values go through the host.
  [[nodiscard]] virtual const Backend& owner() const { return *this; }

  // Kernels launched so far, those of replayed graphs included; 0 where there are no kernels.
  [[nodiscard]] virtual uint64_t launches() const { return 0; }

  // Parts of the device that long work is best shared out to, where there is enough of it for each:
  // 1 where one caller keeps all of it busy.
  [[nodiscard]] virtual int parts() const { return 1; }

  // Calls fn(0) ... fn(parts - 1), each with a part of the device for the operations that it calls,
  // at the same time where the device can. parts <= parts(); fn does not throw.
  virtual void run_parts(int parts, FunctionRef<void(int)> fn) {
    for (int i = 0; i < parts; ++i) {
      fn(i);
    }
  }

  // Rows that are best taken together through a chain of products whose results in between are much
  // wider than what goes in: few where those are to stay in a cache, many where a launch costs and
  // wants work for the whole device. No result depends on it.
  [[nodiscard]] virtual int64_t rows_together() const {
    return std::numeric_limits<int64_t>::max();
  }

  // For a loop of equal steps; not to be called before the backend is whole.
  [[nodiscard]] virtual std::unique_ptr<StepRunner> make_step_runner() {
    return make_plain_step_runner(*this);
  }

  virtual BufferRef allocate(size_t bytes) = 0;

  // Memory with these bytes of the host; never empty. In a step (StepRunner) they travel with all
  // others of it.
  virtual BufferRef from_host(std::span<const std::byte> bytes) {
    BufferRef buffer = allocate(bytes.size());
    upload(bytes.data(),
           Tensor(buffer, 0, {static_cast<int64_t>(bytes.size())}, DType::U8, device()));
    return buffer;
  }

  // host -> device and device -> host; sizes agree, the device side is contiguous.
  virtual void upload(const void* source, const Tensor& out) = 0;
  virtual void download(const Tensor& x, void* destination) = 0;
  // Same shape; either side may be strided. Casts between f32, f16 and bf16 (to nearest even).
  virtual void copy(const Tensor& x, const Tensor& out) = 0;
  virtual void synchronize() = 0;
  // Gives memory back to the system that was in use and is not: between two stages of very
  // different need, since getting it again takes time.
  virtual void release_idle_memory() = 0;
  // Bytes held from the system by this backend's pool.
  [[nodiscard]] virtual size_t memory_held() const = 0;

  // How much of the device's own memory is free; none where it has none, or does not tell.
  [[nodiscard]] virtual std::optional<DeviceMemory> device_memory() const { return std::nullopt; }

  // Packs w (out, in) of any plain float type or block type, in this device's memory, for linear()
  // with the storage type wanted. A block type can only be kept as it is or widened to f32, f16 or
  // bf16 or requantised to I8. w is in host memory, as files give it.
  virtual LinearWeight pack_linear(const Tensor& w, DType storage) = 0;
  // Packs w (out, in / groups, kernel) for conv1d().
  virtual LinearWeight pack_conv1d(const Tensor& w, DType storage, int64_t groups) = 0;
  // Name of the packed layout; a packed file written under another name is stale.
  [[nodiscard]] virtual std::string packed_layout() const = 0;

  // Packs one utterance's k and v (rows, heads * d), f32, f16 or bf16, for attention_packed().
  virtual KeysValues pack_keys_values(const Tensor& k, const Tensor& v, int64_t heads,
                                      Precision precision) = 0;
  // Bytes of what pack_keys_values() makes: whether bytes kept from another run can be such.
  [[nodiscard]] virtual size_t keys_values_bytes(int64_t rows, int64_t heads, int64_t head_dim,
                                                 Precision precision) const = 0;

  // What computes: linear(), softmax() ...
#define MYNAH_OPERATION(name, parameters, ...) virtual void name parameters = 0;
#include "tensor/operations.inc"
};

// Whether tensors of one backend are the other's as they are.
[[nodiscard]] inline bool share_tensors(const Backend& a, const Backend& b) {
  return &a.owner() == &b.owner();
}

}  // namespace mynah
