#include "backend/cuda/cuda_backend.h"

#include <algorithm>
#include <span>

#include "backend/cuda/cuda_backend_class.h"
#include "backend/cuda/driver/driver_processor.h"
#include "backend/cuda/programs/programs.h"
#include "backend/cuda/simt/simt_processor.h"
#include "base/check.h"

namespace mynah {

std::string cuda_packed_layout() {
  return "cuda-1";
}

std::vector<int> simt_levels() {
  const std::span levels = simt::simt_processor_levels();
  return {levels.begin(), levels.end()};
}

std::unique_ptr<Backend> make_simt_backend(ThreadPool& pool, const SimtOptions& options) {
  // What new cards use; where a build simulates that alone, or others, its last.
  constexpr int kNewest = 121;
  const std::vector<int> levels = simt_levels();
  const bool has_newest = std::ranges::find(levels, cuda::level_for(kNewest)) != levels.end();
  const int unasked = has_newest ? cuda::level_for(kNewest) : levels.back();
  const int level = options.level == 0 ? unasked : options.level;
  return std::make_unique<cuda::CudaBackend>(
      simt::make_simt_processor(pool, level,
                                {.seed = options.seed,
                                 .check_shared = options.check_shared,
                                 .count_traffic = static_cast<bool>(options.observer),
                                 .sample_blocks = options.sample_blocks},
                                options.observer));
}

std::vector<int> cuda_levels(const gpu::GpuDevice& card) {
  return cuda::levels_for(card.compute_major * 10 + card.compute_minor);
}

Result<std::unique_ptr<Backend>> make_cuda_backend(std::shared_ptr<const gpu::Driver> driver,
                                                   const gpu::GpuDevice& card,
                                                   const CudaOptions& options) {
  MYNAH_TRY(auto processor, cuda::open_driver_processor(std::move(driver), card, options));
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

thread_local constinit StepRecord* CudaBackend::recorded_ = nullptr;

CudaBackend::CudaBackend(std::unique_ptr<Processor> processor)
    : processor_(std::move(processor)),
      pool_(*processor_),
      row_fault_(kept_on_device(std::as_bytes(std::span(&kNoFault, 1)))) {}

std::unique_ptr<StepRunner> CudaBackend::make_step_runner() {
  return std::make_unique<GraphStepRunner>(*this);
}

void CudaBackend::record(StepRecord& step, FunctionRef<void(const BufferRef&)> fn) {
  MYNAH_CHECK(recorded_ == nullptr, "a step within a step");

  struct Scope {
    explicit Scope(StepRecord& step) { recorded_ = &step; }

    ~Scope() { recorded_ = nullptr; }

    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;
  };

  const Scope scope(step);
  fn(step.memory.result());
}

void CudaBackend::launch(const Launch& launch) {
  if (StepRecord* const step = recorded(); step != nullptr) {
    step->recording.add(launch);
  } else {
    processor_->launch(launch);
    count_launches(1);
  }
}

BufferRef CudaBackend::allocate(size_t bytes) {
  StepRecord* const step = recorded();
  return step != nullptr ? step->memory.allocate(bytes) : pool_.allocate(bytes);
}

BufferRef CudaBackend::from_host(std::span<const std::byte> bytes) {
  StepRecord* const step = recorded();
  return step != nullptr ? step->memory.input(bytes) : kept_on_device(bytes);
}

BufferRef CudaBackend::kept_on_device(std::span<const std::byte> values) {
  BufferRef buffer = pool_.allocate(std::max<size_t>(1, values.size()));
  if (!values.empty()) {
    processor_->upload(values.data(), buffer.get()->data(), values.size());
  }
  return buffer;
}

void CudaBackend::upload(const void* source, const Tensor& out) {
  const size_t bytes = storage_bytes(out.dtype(), out.elements());
  if (recorded() == nullptr) {
    processor_->upload(source, out.raw(), bytes);
    return;
  }
  copy(Tensor(from_host({static_cast<const std::byte*>(source), bytes}), 0, out.shape(),
              out.dtype(), device()),
       out);
}

void CudaBackend::download(const Tensor& x, void* destination) {
  MYNAH_CHECK(recorded() == nullptr, "[download] within a step, which has done nothing yet");
  processor_->download(x.raw(), destination, storage_bytes(x.dtype(), x.elements()));
  check_row_numbers();
}

void CudaBackend::synchronize() {
  processor_->synchronize();
  check_row_numbers();
}

}  // namespace cuda
}  // namespace mynah
