// CudaBackend: the class behind cuda_backend.h; its operations stand in ops_*.cpp.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <utility>

#include "backend/cuda/cuda_backend.h"
#include "backend/cuda/device_pool.h"
#include "backend/cuda/graph_step_runner.h"
#include "backend/cuda/processor.h"
#include "tensor/backend.h"

namespace mynah::cuda {

class AttentionPlan;

// A matrix as a kernel is given it.
[[nodiscard]] simt::Rows rows_of(const Tensor& x);
[[nodiscard]] simt::OutRows out_rows_of(const Tensor& x);

// Activations as int8, until the kernels that read them are launched.
struct CodedBuffers {
  BufferRef codes;
  BufferRef sums;
  BufferRef scales;

  [[nodiscard]] simt::CodedRows view() const;
};

// What a product on matrix units rounds and packs: rows, or windows where there are.
struct UnitsRows {
  simt::Rows x;
  const simt::Windows* windows;
  int64_t rows;
  bool aligned;  // rows of x, for accesses of 16 bytes
};

// A kernel of tiles of 128 by 128, and what a block of it has.
struct LargeTiles {
  Kernel<simt::UnitsArgs> kernel;
  int threads;
  int shared_bytes;  // of dynamic shared memory
};

// Any number of callers, whose work the device does one after the other.
class CudaBackend final : public Backend {
 public:
  explicit CudaBackend(std::unique_ptr<Processor> processor);

  [[nodiscard]] Device device() const override { return processor_->device(); }

  [[nodiscard]] std::string description() const override { return processor_->description(); }

  // Every float and block type, and I8.
  [[nodiscard]] bool supports_weight(DType dtype) const override;

  [[nodiscard]] uint64_t launches() const override {
    return launches_.load(std::memory_order_relaxed);
  }

  // Four of Whisper's windows: for the widest model 1,900 tiles, and 120 MB for what lies between.
  [[nodiscard]] int64_t rows_together() const override { return 6000; }

  [[nodiscard]] std::unique_ptr<StepRunner> make_step_runner() override;

  BufferRef allocate(size_t bytes) override;
  BufferRef from_host(std::span<const std::byte> bytes) override;

  void upload(const void* source, const Tensor& out) override;
  void download(const Tensor& x, void* destination) override;
  void copy(const Tensor& x, const Tensor& out) override;

  void synchronize() override;

  // Where there is more than the largest model's encoder leaves of a window of 30 seconds (some 130
  // MB by its sizes): waiting for the card, and asking it again at the next window, takes longer
  // than many a step. Before there is too little, all that is idle is given back in any case.
  void release_idle_memory() override {
    constexpr size_t kMostIdle = 256 << 20;
    pool_.trim(kMostIdle);
  }

  [[nodiscard]] size_t memory_held() const override { return pool_.bytes_held(); }

  [[nodiscard]] std::optional<DeviceMemory> device_memory() const override {
    return processor_->memory();
  }

  LinearWeight pack_linear(const Tensor& w, DType storage) override;
  LinearWeight pack_conv1d(const Tensor& w, DType storage, int64_t groups) override;

  [[nodiscard]] std::string packed_layout() const override { return cuda_packed_layout(); }

  KeysValues pack_keys_values(const Tensor& k, const Tensor& v, int64_t heads,
                              Precision precision) override;
  [[nodiscard]] size_t keys_values_bytes(int64_t rows, int64_t heads, int64_t head_dim,
                                         Precision precision) const override;

#define MYNAH_OPERATION(name, parameters, ...) void name parameters override;
#include "tensor/operations.inc"

  // What follows is for steps: graph_step_runner.h.

  [[nodiscard]] Processor& processor() { return *processor_; }

  [[nodiscard]] DevicePool& pool() { return pool_; }

  // Calls fn with the step's result; the operations of this thread are written down meanwhile.
  void record(StepRecord& step, FunctionRef<void(const BufferRef&)> fn);

  // Counts the kernels of a step that was done.
  void count_launches(size_t launches) { launches_.fetch_add(launches, std::memory_order_relaxed); }

  // Ends the process where there is such a number, as the reference does at once: it is a bug.
  static void check_row_number(uint64_t fault);

 private:
  // The step that this thread writes down; null where operations are done at once.
  [[nodiscard]] StepRecord* recorded() const {
    return recorded_ != nullptr && recorded_->backend == this ? recorded_ : nullptr;
  }

  template <class Args>
  void launch(const Kernel<Args>& kernel, const GridSize& grid, int threads, const Args& args,
              size_t shared_bytes = 0) {
    Args own = args;
#if __has_builtin(__builtin_clear_padding)
    __builtin_clear_padding(&own);  // so that equal launches have equal bytes
#endif
    launch(Launch{.kernel = kernel.id,
                  .grid = grid,
                  .threads = threads,
                  .shared_bytes = shared_bytes,
                  .args = &own,
                  .args_bytes = sizeof(Args)});
  }

  void launch(const Launch& launch);

  // Values of the host that kernels read: spans of a batch, rules of tokens. Never empty, so that
  // it has an address.
  template <class T>
  BufferRef on_device(std::span<const T> values) {
    return from_host(std::as_bytes(values));
  }

  // The same of what outlives the operation, and a step.
  BufferRef kept_on_device(std::span<const std::byte> values);

  void norm(const Kernel<simt::NormArgs>& kernel, const Tensor& x, const Tensor* gamma,
            const Tensor* beta, float eps, const Tensor& out);

  // Where kernels leave the number of a row that is not there (kernels/row_faults.h). Who launches
  // one that may calls row_fault_possible() afterwards.
  [[nodiscard]] uint64_t* row_fault() const;

  void row_fault_possible() {
    if (recorded() == nullptr) {  // of a step the number is read with its result
      row_faults_possible_ = true;
    }
  }

  // check_row_number() of what kernels have left since the last time.
  void check_row_numbers();

  // The transforms' tables for n points, made once: n pairs of a cosine and a sine, then the
  // periodic Hann window.
  const float* transform_table(int64_t n);
  const float* wave_table(int64_t n);

  LinearWeight pack(const Tensor& w, DType storage, int64_t kernel);
  // Rows of a table of any type, or those that `ids` name, as f32.
  void write_rows(const Tensor& table, const Tensor* ids, const Tensor& out);
  // Whether a product with such weights rounds its activations.
  [[nodiscard]] bool rounds_to_int8(Precision precision, DType dtype) const;
  // Rows, or windows where there are, as int8, for a product with `w`; in panels for matrix units.
  CodedBuffers code_rows(const simt::Rows& x, const simt::Windows* windows, int64_t rows,
                         const LinearWeight& w, bool in_panels);
  // Many rows, or windows, rounded to int8.
  void linear_int8(const simt::Rows& x, const simt::Windows* windows, int64_t rows,
                   const LinearWeight& w, const simt::Finish& finish);
  void launch_few_rows(const Kernel<simt::LinearArgs>& kernel, simt::LinearArgs args);
  void launch_coded_few_rows(const Kernel<simt::LinearArgs>& kernel, simt::LinearArgs args);
  // Whether such a product is the matrix units': activations in the weights' type, sums in f32.
  [[nodiscard]] bool uses_units(Precision precision, DType dtype) const;
  // Rows of `in` elements rounded to `dtype`, in panels or row after row.
  BufferRef pack_activations(const UnitsRows& rows, int64_t in, DType dtype, bool in_panels);
  void linear_on_units(const UnitsRows& rows, const LinearWeight& w, const simt::Finish& finish);
  // Windows of x: read in place where they can be, otherwise laid out.
  // x (rows, in) as a convolution with this input sees it.
  Tensor conv1d_seen(const Tensor& x, const Lengths& lengths, const Conv1dInput& input);
  void conv1d_on_units(const UnitsRows& x, const simt::Windows& windows, const LinearWeight& w,
                       const simt::Finish& finish);
  // Rows in panels with weights of type I8.
  void launch_codes_on_units(const CodedBuffers& coded, const LinearWeight& w,
                             const simt::Finish& finish);
  // By the larger tile where there are enough of them.
  void launch_tiles(const LargeTiles& tile_128, const Kernel<simt::UnitsArgs>& tile_64,
                    const simt::UnitsArgs& args);
  void launch_few_rows_on_units(const Kernel<simt::UnitsArgs>& kernel, simt::UnitsArgs args);
  // Lays keys and values out head by head, as `type`.
  void pack_heads(const Tensor& k, const Tensor& v, int64_t heads, DType type, std::byte* out);
  // attention() where runs of many queries see keys that lie one after the other.
  void attend_in_place(const Tensor& q, const Tensor& k, const Tensor& v,
                       const AttentionParams& params, const Tensor& out);
  // Attention by the plan, over keys of one type; `args` has what is the keys' own.
  void attend(const Tensor& q, DType type, const AttentionPlan& plan, simt::AttentionArgs args,
              const Tensor& out);

  static thread_local constinit StepRecord* recorded_;  // this thread's, of any backend

  std::unique_ptr<Processor> processor_;
  DevicePool pool_;
  BufferRef row_fault_;
  std::atomic<bool> row_faults_possible_{false};
  std::atomic<uint64_t> launches_{0};
  std::mutex tables_mutex_;
  std::map<int64_t, BufferRef> transform_tables_;
  std::map<int64_t, BufferRef> wave_tables_;
};

// Blocks of `threads` that give each of `items` a thread.
[[nodiscard]] constexpr int64_t blocks_for(int64_t items, int64_t threads) {
  return (items + threads - 1) / threads;
}

}  // namespace mynah::cuda
