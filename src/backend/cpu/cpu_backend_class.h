// CpuBackend's declaration, for the files of this folder that implement it group by group.
#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "backend/cpu/isa.h"
#include "backend/cpu/kernels.h"
#include "base/thread_pool.h"
#include "tensor/backend.h"
#include "tensor/host_pool.h"

namespace mynah::cpu {

// A block of scratch memory from the pool, given back at the end of its scope.
template <class T>
class Scratch {
 public:
  Scratch(HostPool& pool, int64_t count)
      : buffer_(pool.allocate(static_cast<size_t>(count) * sizeof(T))) {}

  [[nodiscard]] T* data() const { return reinterpret_cast<T*>(buffer_.get()->data()); }

  T& operator[](int64_t i) const { return data()[i]; }

 private:
  BufferRef buffer_;
};

// The left side of a product: m rows of k numbers, `stride` apart (less than k where a
// convolution's windows overlap).
struct Rows {
  const float* data = nullptr;
  int64_t stride = 0;
  int64_t count = 0;
};

// Where a product goes.
struct Target {
  float* data = nullptr;
  int64_t stride = 0;
  const float* bias = nullptr;
  const float* residual = nullptr;
  int64_t residual_stride = 0;
  Activation activation = Activation::None;

  // The rows from `row` on.
  [[nodiscard]] Target from_row(int64_t row) const {
    Target rest = *this;
    rest.data += row * stride;
    if (rest.residual != nullptr) {
      rest.residual += row * residual_stride;
    }
    return rest;
  }

  // What is done with a tile that begins at this row and column.
  [[nodiscard]] Finish finish(int64_t row, int64_t column) const {
    return {.bias = bias == nullptr ? nullptr : bias + column,
            .residual = residual == nullptr ? nullptr : residual + row * residual_stride + column,
            .residual_stride = residual_stride,
            .activation = activation};
  }
};

// Bias, residual and activation of a product's or a convolution's parameters, to `out`.
template <class Params>
Target target_of(const Params& params, const Tensor& out) {
  Target target{
      .data = out.data<float>(), .stride = out.stride(-2), .activation = params.activation};
  if (params.bias != nullptr) {
    target.bias = params.bias->template data<float>();
  }
  if (params.residual != nullptr) {
    target.residual = params.residual->template data<float>();
    target.residual_stride = params.residual->stride(-2);
  }
  return target;
}

// Tables of one transform size: see speech.h.
struct FftTables;

// Queries and the keys that each of them sees: see packed_attention.h.
struct Readers;
struct StoredRows;

// Below this many multiplications waking another thread costs more than it saves (measured: about
// 2 us against 30 products a nanosecond).
inline constexpr int64_t kSerialWork = 60'000;

// About how many multiplications an element of a cheap and of a transcendental operation costs.
inline constexpr int64_t kCheapElement = 4;
inline constexpr int64_t kCostlyElement = 24;

// Rows of a tile: their activations (96 by a few hundred bytes) and sums (12 KB) share the
// first-level cache with a panel; a multiple of the kernels' 12 rows.
inline constexpr int64_t kTileRows = 96;

// A row of a matrix of f32.
inline const float* row_of(const Tensor& t, int64_t row) {
  return t.data<float>() + row * t.stride(0);
}

inline float* writable_row(const Tensor& t, int64_t row) {
  return t.data<float>() + row * t.stride(0);
}

class CpuBackend final : public Backend {
 public:
  CpuBackend(ThreadPool& pool, Isa isa);
  ~CpuBackend() override;

  [[nodiscard]] Device device() const override { return {DeviceKind::Cpu, 0}; }

  [[nodiscard]] std::string description() const override;
  [[nodiscard]] bool supports_weight(DType dtype) const override;

  // Each part needs memory for a batch of its own.
  [[nodiscard]] int parts() const override { return std::min(pool_.size(), 4); }

  void run_parts(int parts, FunctionRef<void(int)> fn) override { pool_.split(parts, fn); }

  // Measured with Whisper tiny.en's encoder on two threads: 192 rows take 6 percent off it; half
  // and twice as many do not differ beyond the noise.
  [[nodiscard]] int64_t rows_together() const override { return 192; }

  BufferRef allocate(size_t bytes) override { return memory_.allocate(bytes); }

  void upload(const void* source, const Tensor& out) override;
  void download(const Tensor& x, void* destination) override;
  void copy(const Tensor& x, const Tensor& out) override;

  void synchronize() override {}

  void release_idle_memory() override { memory_.trim(); }

  [[nodiscard]] size_t memory_held() const override { return memory_.bytes_held(); }

  LinearWeight pack_linear(const Tensor& w, DType storage) override;
  LinearWeight pack_conv1d(const Tensor& w, DType storage, int64_t groups) override;
  [[nodiscard]] std::string packed_layout() const override;

  KeysValues pack_keys_values(const Tensor& k, const Tensor& v, int64_t heads,
                              Precision precision) override;
  [[nodiscard]] size_t keys_values_bytes(int64_t rows, int64_t heads, int64_t head_dim,
                                         Precision precision) const override;

#define MYNAH_OPERATION(name, parameters, ...) void name parameters override;
#include "tensor/operations.inc"

 private:
  // rows (m, in) of f32 by a packed weight, finished into the target.
  void product(const Rows& rows, const LinearWeight& w, Precision precision, const Target& target);
  void product_i8(const Rows& rows, const LinearWeight& w, const Target& target);
  // Precision::Close, weights I8.
  void product_close(const Rows& rows, const LinearWeight& w, const Target& target);
  // Weights I16.
  void product_i16(const Rows& rows, const LinearWeight& w, const Target& target);
  void product_blocks(const Rows& rows, const LinearWeight& w, const Target& target);
  void product_bf16(const Rows& rows, const LinearWeight& w, const Target& target);
  void product_f32(const Rows& rows, const LinearWeight& w, const Target& target);
  // f32 weights and few rows, or rows with many zeros.
  void product_few(const Rows& rows, const LinearWeight& w, const Target& target);
  // One row x of k numbers, which meet the rows of every panel from `panels` on.
  void few_row(const float* x, int64_t k, const float* panels, const LinearWeight& w,
               const Target& target);
  // Splits rows by panels over the pool and calls fn(row_begin, row_end, panel_begin, panel_end).
  void for_tiles(int64_t rows, int64_t panels, int64_t work_per_tile_row,
                 FunctionRef<void(int64_t, int64_t, int64_t, int64_t)> fn,
                 int64_t tile_rows = kTileRows);
  // The same once round(row) was called for each row, of `width` numbers: in the task that has the
  // row, where that is one only.
  void for_rounded_tiles(int64_t rows, int64_t width, int64_t panels, int64_t work_per_tile_row,
                         FunctionRef<void(int64_t)> round,
                         FunctionRef<void(int64_t, int64_t, int64_t, int64_t)> fn,
                         int64_t tile_rows = kTileRows);
  // Calls fn(i) for each row, in parallel when a row's work makes that worth while.
  void for_rows(int64_t rows, int64_t work_per_row, FunctionRef<void(int64_t)> fn);

  void attend(const Tensor& q, const Readers& readers, const Tensor& out);
  // Attention of some utterances that have many queries each.
  void attend_blocks(const Tensor& q, const Tensor& k, const Tensor& v,
                     const AttentionParams& params, std::span<const size_t> utterances,
                     const Tensor& out);
  // Keys and values of several utterances, at least one.
  std::vector<KeysValues> pack_rows(std::span<const StoredRows> list, int64_t heads,
                                    Precision precision, int64_t run_rows);
  void attend_rows(const Tensor& q, const Tensor& k, const Tensor& v, const AttentionParams& params,
                   const Tensor& out);
  // Rows of blocks as f32, one after the other.
  Tensor in_floats(const Tensor& x, const PageTable& pages, const Span& span);
  // x (rows, in) as a convolution with this input sees it.
  Tensor conv1d_seen(const Tensor& x, const Lengths& lengths, const Conv1dInput& input);
  // Neighbouring windows together: of stride 1, one group.
  void conv1d_tiles(const Tensor& x, const Lengths& lengths, const LinearWeight& w,
                    const Conv1dParams& params, const Tensor& out);
  // A channel of x and a channel of the result for each group.
  void conv1d_depthwise(const Tensor& x, const Lengths& lengths, const LinearWeight& w,
                        const Conv1dParams& params, const Tensor& out);
  void conv1d_grouped(const Tensor& x, const Lengths& lengths, const LinearWeight& w,
                      const Conv1dParams& params, const Tensor& out);
  // Convolutions over a few rows each, such as a voice detector's frames.
  [[nodiscard]] static bool is_short_conv1d(const Tensor& x, const Lengths& lengths,
                                            const LinearWeight& w, const Conv1dParams& params);
  void conv1d_short(const Tensor& x, const Lengths& lengths, const LinearWeight& w,
                    const Conv1dParams& params, const Tensor& out);
  // One utterance: x (length, channels) -> `rows` rows.
  void short_utterance(const float* x, int64_t length, const LinearWeight& w,
                       const Conv1dParams& params, const Target& target, int64_t rows);
  const FftTables& fft_tables(int64_t n);

  ThreadPool& pool_;
  Isa isa_;
  Kernels kernels_;
  HostPool memory_;
  std::mutex tables_mutex_;  // guards the tables
  std::map<int64_t, std::unique_ptr<FftTables>> fft_tables_;
};

}  // namespace mynah::cpu
