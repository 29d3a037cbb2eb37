// Rows moved about.
#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "backend/cuda/cuda_backend_class.h"
#include "backend/cuda/kernels/row_faults.h"
#include "base/check.h"

namespace mynah::cuda {

namespace {

constexpr int64_t kRowThreads = 256;

int64_t element_bytes(const Tensor& x) {
  return static_cast<int64_t>(block_bytes(x.dtype()));
}

// Whether x's rows begin at multiples of `bytes` and are whole numbers of them.
bool made_of(const Tensor& x, int64_t bytes) {
  const int64_t element = element_bytes(x);
  return reinterpret_cast<uintptr_t>(x.raw()) % static_cast<uintptr_t>(bytes) == 0 &&
         x.stride(0) * element % bytes == 0 && x.dim(1) * element % bytes == 0;
}

}  // namespace

void CudaBackend::gather_rows(const Tensor& x, const Tensor& rows, const Tensor& out) {
  struct Word {
    int64_t bytes;
    Kernel<simt::GatherRowsArgs> kernel;
  };

  // The widest that fits; a plain type is made of one of them.
  static constexpr std::array<Word, 4> kWords = {{{16, kernels::gather_rows_16},
                                                  {4, kernels::gather_rows_4},
                                                  {2, kernels::gather_rows_2},
                                                  {1, kernels::gather_rows_1}}};
  const Word* word = kWords.data();
  while (!made_of(x, word->bytes) || !made_of(out, word->bytes)) {
    ++word;
  }
  const auto words = [&](int64_t elements) { return elements * element_bytes(x) / word->bytes; };
  launch(word->kernel, {.x = blocks_for(rows.dim(0) * words(x.dim(1)), kRowThreads)}, kRowThreads,
         {.x = x.raw(),
          .x_stride = words(x.stride(0)),
          .x_rows = x.dim(0),
          .numbers = rows.data<const int32_t>(),
          .count = rows.dim(0),
          .out = out.raw(),
          .out_stride = words(out.stride(0)),
          .columns = words(x.dim(1)),
          .fault = row_fault()});
  row_fault_possible();
}

void CudaBackend::scatter_rows(const Tensor& x, const Tensor& rows, const Tensor& out) {
  const auto& kernel = out.dtype() == DType::F16    ? kernels::scatter_rows_f16
                       : out.dtype() == DType::BF16 ? kernels::scatter_rows_bf16
                       : out.dtype() == DType::Q8_0 ? kernels::scatter_rows_q8_0
                                                    : kernels::scatter_rows_f32;
  launch(kernel, {.x = blocks_for(x.elements(), kRowThreads)}, kRowThreads,
         {.x = rows_of(x),
          .numbers = rows.data<const int32_t>(),
          .count = x.dim(0),
          .out = out.raw(),
          .out_stride = out.stride(0),
          .out_rows = out.dim(0),
          .columns = x.dim(1),
          .fault = row_fault()});
  row_fault_possible();
}

void CudaBackend::transpose(const Tensor& x, const Tensor& out) {
  const int64_t tiles = blocks_for(x.dim(1), simt::kTile);
  launch(kernels::transpose, {.x = tiles * blocks_for(x.dim(0), simt::kTile)}, kRowThreads,
         {.x = rows_of(x),
          .out = out_rows_of(out),
          .rows = x.dim(0),
          .columns = x.dim(1),
          .tiles = static_cast<int32_t>(tiles)});
}

uint64_t* CudaBackend::row_fault() const {
  StepRecord* const step = recorded();
  return step != nullptr ? step->memory.row_fault()
                         : reinterpret_cast<uint64_t*>(row_fault_.get()->data());
}

void CudaBackend::check_row_numbers() {
  if (!row_faults_possible_.exchange(false)) {
    return;
  }
  uint64_t fault = 0;
  processor_->download(row_fault_.get()->data(), reinterpret_cast<std::byte*>(&fault),
                       sizeof(fault));
  check_row_number(fault);
}

void CudaBackend::check_row_number(uint64_t fault) {
  if (fault == 0) {
    return;
  }
  const auto operation = static_cast<simt::RowFault>(fault >> 32);
  const std::string_view name = operation == simt::RowFault::GatherRows    ? "gather_rows"
                                : operation == simt::RowFault::ScatterRows ? "scatter_rows"
                                                                           : "embedding";
  check_failed(__FILE__, __LINE__, "rows that are there",
               check_message("[", name, "] row ", std::to_string(static_cast<int32_t>(fault)),
                             ", which is not one of the tensor's"));
}

}  // namespace mynah::cuda
