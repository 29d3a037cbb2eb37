#include "backend/cuda/driver/driver_processor.h"

#include <array>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "backend/cuda/driver/image_cache.h"
#include "backend/cuda/driver/staging.h"
#include "backend/cuda/programs/programs.h"
#include "base/check.h"
#include "gpu/driver_errors.h"
#include "gpu/ptx.h"
#include "tensor/device_error.h"

namespace mynah::cuda {

namespace {

using gpu::CUDA_SUCCESS;
using gpu::CUdeviceptr;
using gpu::CUresult;

CUdeviceptr address_of(const std::byte* memory) {
  return reinterpret_cast<CUdeviceptr>(memory);
}

class DriverProcessor final : public Processor {
 public:
  DriverProcessor(std::shared_ptr<const gpu::Driver> driver, const gpu::GpuDevice& card,
                  const std::string& image_folder)
      : driver_(std::move(driver)), api_(driver_->api()), card_(card), images_(image_folder) {}

  ~DriverProcessor() override;

  Status open();

  [[nodiscard]] Device device() const override { return {DeviceKind::Cuda, card_.index}; }

  [[nodiscard]] std::string description() const override {
    return fmt::format("{}, compute capability {}.{}, programs of level {}, driver {}", card_.name,
                       card_.compute_major, card_.compute_minor, level(),
                       gpu::driver_name(driver_->version()));
  }

  [[nodiscard]] int level() const override { return level_for(capability()); }

  std::byte* allocate(size_t bytes) override;
  void free(std::byte* memory) override;
  void trim() override;
  void upload(const void* source, std::byte* out, size_t bytes) override;
  void download(const std::byte* x, void* destination, size_t bytes) override;
  void launch(KernelId kernel, const GridSize& grid, int threads, size_t shared_bytes,
              const void* args, size_t args_bytes) override;
  void synchronize() override;

 private:
  [[nodiscard]] int capability() const { return card_.compute_major * 10 + card_.compute_minor; }

  // The caller's thread sees the card; throws what killed it, if anything did.
  template <class Describe>
  void enter(const Describe& attempted) {
    if (death_) {
      throw DeviceError(*death_);
    }
    check(api_.cuCtxSetCurrent(context_), attempted);
  }

  // Throws where a call failed; remembers what kills the context. `attempted` gives the words for
  // what was being done, which only a failure needs.
  template <class Describe>
  void check(CUresult result, const Describe& attempted) {
    if (result != CUDA_SUCCESS) [[unlikely]] {
      throw_failure(result, attempted());
    }
  }

  [[noreturn]] void throw_failure(CUresult result, const std::string& attempted);

  [[nodiscard]] std::string named(std::string_view attempted) const {
    return fmt::format("{} on {}", attempted, device().str());
  }

  gpu::CUfunction function_of(KernelId kernel);
  gpu::CUmodule load(const Program& program);
  // The driver's compiler: PTX to the card's own code.
  std::vector<std::byte> compile(const Program& program, const std::string& text);

  std::shared_ptr<const gpu::Driver> driver_;
  const gpu::DriverApi& api_;
  gpu::GpuDevice card_;
  ImageCache images_;
  std::mutex mutex_;  // of all calls: the stream takes them one after the other
  gpu::CUcontext context_ = nullptr;
  gpu::CUstream stream_ = nullptr;
  gpu::CUmemoryPool pool_ = nullptr;  // null: plain memory, as on old drivers
  std::unique_ptr<Staging> staging_;
  std::map<std::string_view, gpu::CUmodule> modules_;  // by group
  std::array<gpu::CUfunction, kKernelCount> functions_{};
  std::array<size_t, kKernelCount> shared_allowed_{};  // dynamic bytes that a launch may ask for
  std::optional<Error> death_;
};

// What a launch may ask for without asking the function first.
constexpr size_t kSharedWithoutAsking = 48 << 10;

DriverProcessor::~DriverProcessor() {
  if (context_ == nullptr) {
    return;
  }
  // Of a dead context there is nothing that could still fail in a way that matters.
  api_.cuCtxSetCurrent(context_);
  if (stream_ != nullptr) {
    api_.cuStreamSynchronize(stream_);
  }
  staging_.reset();
  for (const auto& [group, loaded] : modules_) {
    api_.cuModuleUnload(loaded);
  }
  if (stream_ != nullptr) {
    api_.cuStreamDestroy(stream_);
  }
  api_.cuCtxSetCurrent(nullptr);
  api_.cuDevicePrimaryCtxRelease(card_.handle);
}

Status DriverProcessor::open() {
  const auto failed = [this](CUresult result, std::string_view attempted) {
    return std::unexpected(gpu::driver_failure(result, named(attempted), driver_->version()));
  };
  if (level() == 0) {
    return fail(ErrorCode::Device,
                fmt::format("{} ({}) has compute capability {}.{}: mynah's kernels need 6.0 or "
                            "newer (Pascal)",
                            device().str(), card_.name, card_.compute_major, card_.compute_minor));
  }
  if (const CUresult result = api_.cuDevicePrimaryCtxRetain(&context_, card_.handle);
      result != CUDA_SUCCESS) {
    context_ = nullptr;
    return failed(result, "making a context");
  }
  if (const CUresult result = api_.cuCtxSetCurrent(context_); result != CUDA_SUCCESS) {
    return failed(result, "using the context");
  }
  if (const CUresult result = api_.cuStreamCreate(&stream_, gpu::CU_STREAM_NON_BLOCKING);
      result != CUDA_SUCCESS) {
    stream_ = nullptr;
    return failed(result, "making a stream");
  }
  staging_ = std::make_unique<Staging>(api_, stream_);
  if (const CUresult result = staging_->prepare(); result != CUDA_SUCCESS) {
    return failed(result, "allocating pinned memory");
  }
  if (card_.memory_pools && api_.has_memory_pools()) {
    // What is freed stays with this process: asking the system again takes a thousand times longer.
    uint64_t all = UINT64_MAX;
    CUresult result = api_.cuDeviceGetDefaultMemPool(&pool_, card_.handle);
    if (result == CUDA_SUCCESS) {
      result = api_.cuMemPoolSetAttribute(pool_, gpu::CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &all);
    }
    if (result != CUDA_SUCCESS) {
      return failed(result, "setting up the memory pool");
    }
  }
  return {};
}

void DriverProcessor::throw_failure(CUresult result, const std::string& attempted) {
  Error error = gpu::driver_failure(result, named(attempted), driver_->version());
  if (gpu::explain(result).scope != gpu::ErrorScope::Call) {
    death_ = error;
  }
  throw DeviceError(std::move(error));
}

std::byte* DriverProcessor::allocate(size_t bytes) {
  const std::scoped_lock lock(mutex_);
  const auto attempted = [&] { return fmt::format("allocating {} bytes", bytes); };
  enter(attempted);
  CUdeviceptr address = 0;
  check(pool_ != nullptr ? api_.cuMemAllocAsync(&address, bytes, stream_)
                         : api_.cuMemAlloc(&address, bytes),
        attempted);
  return reinterpret_cast<std::byte*>(address);
}

void DriverProcessor::free(std::byte* memory) {
  const std::scoped_lock lock(mutex_);
  if (death_) {
    return;  // the memory went with the context
  }
  api_.cuCtxSetCurrent(context_);
  if (pool_ != nullptr) {
    api_.cuMemFreeAsync(address_of(memory), stream_);
  } else {
    api_.cuMemFree(address_of(memory));
  }
}

void DriverProcessor::trim() {
  const std::scoped_lock lock(mutex_);
  const auto attempted = [] { return std::string("giving memory back"); };
  enter(attempted);
  if (pool_ != nullptr) {
    check(api_.cuStreamSynchronize(stream_), attempted);
    check(api_.cuMemPoolTrimTo(pool_, 0), attempted);
  }
}

void DriverProcessor::upload(const void* source, std::byte* out, size_t bytes) {
  const std::scoped_lock lock(mutex_);
  const auto attempted = [&] { return fmt::format("copying {} bytes to the card", bytes); };
  enter(attempted);
  check(staging_->upload(source, address_of(out), bytes), attempted);
}

void DriverProcessor::download(const std::byte* x, void* destination, size_t bytes) {
  const std::scoped_lock lock(mutex_);
  const auto attempted = [&] { return fmt::format("copying {} bytes from the card", bytes); };
  enter(attempted);
  check(staging_->download(address_of(x), destination, bytes), attempted);
}

void DriverProcessor::synchronize() {
  const std::scoped_lock lock(mutex_);
  const auto attempted = [] { return std::string("waiting for kernels"); };
  enter(attempted);
  check(api_.cuStreamSynchronize(stream_), attempted);
}

void DriverProcessor::launch(KernelId kernel, const GridSize& grid, int threads,
                             size_t shared_bytes, const void* args, size_t args_bytes) {
  MYNAH_CHECK(args_bytes <= 4096, "arguments of more than the 4 KB that a launch takes");
  const std::scoped_lock lock(mutex_);
  const auto attempted = [&] {
    return fmt::format("running {} ({} x {} x {} blocks of {})", entry_of(kernel), grid.x, grid.y,
                       grid.z, threads);
  };
  enter(attempted);
  const gpu::CUfunction function = function_of(kernel);
  size_t& allowed = shared_allowed_[static_cast<size_t>(kernel)];
  if (shared_bytes > std::max(allowed, kSharedWithoutAsking)) {
    check(api_.cuFuncSetAttribute(function, gpu::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                  static_cast<int>(shared_bytes)),
          attempted);
    allowed = shared_bytes;
  }
  void* parameters[] = {const_cast<void*>(args)};
  check(api_.cuLaunchKernel(function, static_cast<unsigned>(grid.x), static_cast<unsigned>(grid.y),
                            static_cast<unsigned>(grid.z), static_cast<unsigned>(threads), 1, 1,
                            static_cast<unsigned>(shared_bytes), stream_, parameters, nullptr),
        attempted);
}

gpu::CUfunction DriverProcessor::function_of(KernelId kernel) {
  gpu::CUfunction& function = functions_[static_cast<size_t>(kernel)];
  if (function != nullptr) {
    return function;
  }
  const std::string_view group = group_of(kernel);
  auto found = modules_.find(group);
  if (found == modules_.end()) {
    found = modules_.emplace(group, load(*program_for(group, capability()))).first;
  }
  const std::string entry(entry_of(kernel));
  check(api_.cuModuleGetFunction(&function, found->second, entry.c_str()),
        [&] { return "finding " + entry; });
  return function;
}

gpu::CUmodule DriverProcessor::load(const Program& program) {
  const std::string text = text_of(program);
  const std::string name = fmt::format("{}.sm{}", program.group, program.level);
  const ImageKey key{
      .driver = fmt::format("{} {}", driver_->version(), driver_->release()),
      .card = fmt::format("{} {}.{}", card_.name, card_.compute_major, card_.compute_minor),
      .program = name,
      .text = text};
  gpu::CUmodule loaded = nullptr;
  const auto load_image = [&](const std::vector<std::byte>& image) {
    return api_.cuModuleLoadDataEx(&loaded, image.data(), 0, nullptr, nullptr);
  };
  // An image that the driver does not take, for whatever reason, is compiled anew.
  if (const auto image = images_.find(key); image && load_image(*image) == CUDA_SUCCESS) {
    return loaded;
  }
  const std::vector<std::byte> image = compile(program, text);
  check(load_image(image), [&] { return "loading " + name; });
  [[maybe_unused]] const Status kept = images_.add(key, image.data(), image.size());
  return loaded;
}

std::vector<std::byte> DriverProcessor::compile(const Program& program, const std::string& text) {
  const std::string attempted = fmt::format("compiling {}.sm{}", program.group, program.level);
  const int isa = ptx_isa_of(program.level);
  if (const auto needed = gpu::driver_for_ptx({.major = isa / 10, .minor = isa % 10});
      needed && driver_->version() < *needed) {
    throw DeviceError({.code = ErrorCode::Device,
                       .message = fmt::format("{}: {}", named(attempted),
                                              gpu::needs_driver(*needed, driver_->version()))});
  }
  std::array<char, 4096> log{};
  gpu::CUjitOption names[] = {gpu::CU_JIT_ERROR_LOG_BUFFER,
                              gpu::CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void* values[] = {log.data(), reinterpret_cast<void*>(log.size())};
  gpu::CUlinkState state = nullptr;
  check(api_.cuLinkCreate(std::size(names), names, values, &state), [&] { return attempted; });
  std::string source = text;  // the driver's parameter is not const
  CUresult result = api_.cuLinkAddData(state, gpu::CU_JIT_INPUT_PTX, source.data(),
                                       source.size() + 1, attempted.c_str(), 0, nullptr, nullptr);
  void* image = nullptr;
  size_t bytes = 0;
  if (result == CUDA_SUCCESS) {
    result = api_.cuLinkComplete(state, &image, &bytes);
  }
  std::vector<std::byte> copy;
  if (result == CUDA_SUCCESS) {
    copy.assign(static_cast<std::byte*>(image), static_cast<std::byte*>(image) + bytes);
  }
  api_.cuLinkDestroy(state);
  const std::string said(log.data());
  check(result, [&] { return said.empty() ? attempted : attempted + ": " + said; });
  return copy;
}

}  // namespace

Result<std::unique_ptr<Processor>> open_driver_processor(std::shared_ptr<const gpu::Driver> driver,
                                                         const gpu::GpuDevice& card,
                                                         const std::string& image_folder) {
  auto processor = std::make_unique<DriverProcessor>(std::move(driver), card, image_folder);
  MYNAH_TRY_STATUS(processor->open());
  return processor;
}

}  // namespace mynah::cuda
