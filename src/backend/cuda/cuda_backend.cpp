#include "backend/cuda/cuda_backend.h"

#include <span>

#include "backend/cuda/cuda_backend_class.h"
#include "backend/cuda/driver/driver_processor.h"
#include "backend/cuda/simt/simt_processor.h"

namespace mynah {

std::vector<int> simt_levels() {
  const std::span levels = simt::simt_processor_levels();
  return {levels.begin(), levels.end()};
}

std::unique_ptr<Backend> make_simt_backend(ThreadPool& pool, const SimtOptions& options) {
  return std::make_unique<cuda::CudaBackend>(
      simt::make_simt_processor(pool, options.level,
                                {.seed = options.seed,
                                 .check_shared = options.check_shared,
                                 .count_traffic = static_cast<bool>(options.observer),
                                 .sample_blocks = options.sample_blocks},
                                options.observer));
}

Result<std::unique_ptr<Backend>> make_cuda_backend(std::shared_ptr<const gpu::Driver> driver,
                                                   const gpu::GpuDevice& card,
                                                   const std::string& image_folder) {
  MYNAH_TRY(auto processor, cuda::open_driver_processor(std::move(driver), card, image_folder));
  return std::make_unique<cuda::CudaBackend>(std::move(processor));
}

namespace cuda {

simt::Rows rows_of(const Tensor& x) {
  return {.data = x.data<const float>(), .stride = x.rank() < 2 ? 0 : x.stride(0)};
}

simt::OutRows out_rows_of(const Tensor& x) {
  return {.data = x.data<float>(), .stride = x.rank() < 2 ? 0 : x.stride(0)};
}

namespace {

constexpr uint64_t kNoFault = 0;

}  // namespace

CudaBackend::CudaBackend(std::unique_ptr<Processor> processor)
    : processor_(std::move(processor)),
      pool_(*processor_),
      row_fault_(on_device(std::span(&kNoFault, 1))) {}

void CudaBackend::upload(const void* source, const Tensor& out) {
  processor_->upload(source, out.raw(), storage_bytes(out.dtype(), out.elements()));
}

void CudaBackend::download(const Tensor& x, void* destination) {
  processor_->download(x.raw(), destination, storage_bytes(x.dtype(), x.elements()));
  check_row_numbers();
}

void CudaBackend::synchronize() {
  processor_->synchronize();
  check_row_numbers();
}

}  // namespace cuda
}  // namespace mynah
