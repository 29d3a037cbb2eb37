// Weights and tables: packing, and rows widened to f32.
#include <vector>

#include "backend/cuda/cuda_backend_class.h"
#include "backend/cuda/packed.h"
#include "base/check.h"

namespace mynah::cuda {

bool CudaBackend::supports_weight(DType dtype) const {
  return dtype == DType::F32 || dtype == DType::F16 || dtype == DType::BF16 || dtype == DType::I8 ||
         is_block_type(dtype);
}

LinearWeight CudaBackend::pack(const Tensor& w, DType storage, int64_t kernel) {
  MYNAH_CHECK(supports_weight(storage), "[pack] cannot store ", name(storage));
  MYNAH_CHECK(!is_block_type(storage) || storage == w.dtype(), "[pack] ", name(w.dtype()),
              " weights cannot become ", name(storage));
  const std::vector<std::byte> bytes = pack_rows(w, storage, kernel);
  const auto size = static_cast<int64_t>(bytes.size());
  LinearWeight packed{.out_features = w.dim(0),
                      .in_features = w.elements() / w.dim(0),
                      .dtype = storage,
                      .data = Tensor(allocate(bytes.size()), 0, {size}, DType::U8, device())};
  upload(bytes.data(), packed.data);
  return packed;
}

LinearWeight CudaBackend::pack_linear(const Tensor& w, DType storage) {
  return pack(w, storage, 1);
}

// Blocks run along a kernel's taps, which the layout has not side by side: their values as f32.
LinearWeight CudaBackend::pack_conv1d(const Tensor& w, DType storage, int64_t /*groups*/) {
  return pack(w, is_block_type(storage) ? DType::F32 : storage, w.dim(2));
}

void CudaBackend::write_rows(const Tensor& table, const Tensor* ids, const Tensor& out) {
  constexpr int kThreads = 128;
  const int64_t rows = out.dim(0);
  const int64_t columns = out.dim(1);
  launch(kernels::table_rows, {.x = rows, .y = blocks_for(columns, simt::kTableColumns)}, kThreads,
         {.table = table.data<const uint8_t>(),
          .row_bytes = static_cast<int64_t>(storage_bytes(table.dtype(), table.stride(0))),
          .table_rows = table.dim(0),
          .ids = ids == nullptr ? nullptr : ids->data<const int32_t>(),
          .fault = row_fault(),
          .out = out_rows_of(out),
          .rows = rows,
          .columns = columns,
          .storage = storage_of(table.dtype())});
}

void CudaBackend::embedding(const Tensor& table, const Tensor& ids, const Tensor& out) {
  write_rows(table, &ids, out);
  row_fault_possible();
}

void CudaBackend::dequantize(const Tensor& x, const Tensor& out) {
  write_rows(x, nullptr, out);
}

}  // namespace mynah::cuda
