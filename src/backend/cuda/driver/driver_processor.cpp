#include "backend/cuda/driver/driver_processor.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

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
                  const CudaOptions& options)
      : driver_(std::move(driver)),
        api_(driver_->api()),
        card_(card),
        level_(options.level == 0 ? level_for(capability(), driver_->version()) : options.level),
        images_(options.image_folder) {}

  ~DriverProcessor() override;

  Status open();

  [[nodiscard]] Device device() const override { return {DeviceKind::Cuda, card_.index}; }

  [[nodiscard]] std::string description() const override {
    return fmt::format("{}, compute capability {}.{}, programs of level {}, driver {}", card_.name,
                       card_.compute_major, card_.compute_minor, level(),
                       gpu::driver_name(driver_->version()));
  }

  [[nodiscard]] int level() const override { return level_; }

  std::byte* allocate(size_t bytes) override;
  void free(std::byte* memory) override;
  void trim() override;
  [[nodiscard]] std::optional<DeviceMemory> memory() override;
  void upload(const void* source, std::byte* out, size_t bytes) override;
  void download(const std::byte* x, void* destination, size_t bytes) override;
  void launch(const Launch& launch) override;
  std::unique_ptr<LaunchGraph> capture(std::span<const Launch> launches) override;
  void replay(const LaunchGraph& graph) override;
  void synchronize() override;

  // Of a graph that nobody replays any more.
  void destroy(gpu::CUgraphExec executable);

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

  [[nodiscard]] std::optional<DeviceMemory> ask_memory() const;

  [[nodiscard]] std::string named(std::string_view attempted) const {
    return fmt::format("{} on {}", attempted, device().str());
  }

  // The kernel, loaded and allowed the shared memory that the launch asks for.
  gpu::CUfunction prepare(const Launch& launch);
  CUresult submit(gpu::CUfunction function, const Launch& launch);
  // What the launches make of the stream that is told to write them down; null where it failed.
  CUresult write_down(std::span<const Launch> launches, std::span<const gpu::CUfunction> functions,
                      gpu::CUgraph& graph);
  gpu::CUfunction function_of(KernelId kernel);
  gpu::CUmodule load(const Program& program);
  // The driver's compiler: PTX to the card's own code.
  std::vector<std::byte> compile(const Program& program, const std::string& text);

  std::shared_ptr<const gpu::Driver> driver_;
  const gpu::DriverApi& api_;
  gpu::GpuDevice card_;
  int level_;
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

class DriverGraph final : public LaunchGraph {
 public:
  DriverGraph(DriverProcessor& processor, gpu::CUgraphExec executable)
      : processor_(processor), executable_(executable) {}

  ~DriverGraph() override;

  [[nodiscard]] gpu::CUgraphExec executable() const { return executable_; }

 private:
  DriverProcessor& processor_;
  gpu::CUgraphExec executable_;
};

std::string megabytes(uint64_t bytes) {
  return fmt::format("{:.1f} MB", static_cast<double>(bytes) / 1e6);
}

std::string words_for(const Launch& launch) {
  return fmt::format("running {} ({} x {} x {} blocks of {})", entry_of(launch.kernel),
                     launch.grid.x, launch.grid.y, launch.grid.z, launch.threads);
}

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
  const std::vector<int> levels = levels_for(capability());
  if (levels.empty()) {
    return fail(ErrorCode::Device,
                fmt::format("{} ({}) has compute capability {}.{}: mynah's kernels need 6.0 or "
                            "newer (Pascal)",
                            device().str(), card_.name, card_.compute_major, card_.compute_minor));
  }
  if (std::ranges::find(levels, level_) == levels.end()) {
    return fail(ErrorCode::Device,
                fmt::format("{} ({}) has compute capability {}.{} and runs programs of level {}, "
                            "not of {}",
                            device().str(), card_.name, card_.compute_major, card_.compute_minor,
                            fmt::join(levels, ", "), level_));
  }
  if (const auto needed = driver_needed_by(level_); needed && driver_->version() < *needed) {
    return fail(ErrorCode::Device,
                fmt::format("{} ({}): programs of level {}: mynah {}", device().str(), card_.name,
                            level_, gpu::needs_driver(*needed, driver_->version())));
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
  const auto attempted = [&] {
    const std::optional<DeviceMemory> memory = ask_memory();
    return memory ? fmt::format("allocating {} of memory, of which {} are free of {}",
                                megabytes(bytes), megabytes(memory->free), megabytes(memory->total))
                  : fmt::format("allocating {} of memory", megabytes(bytes));
  };
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

std::optional<DeviceMemory> DriverProcessor::memory() {
  const std::scoped_lock lock(mutex_);
  api_.cuCtxSetCurrent(context_);
  return ask_memory();
}

std::optional<DeviceMemory> DriverProcessor::ask_memory() const {
  size_t free = 0;
  size_t total = 0;
  if (death_ || api_.cuMemGetInfo(&free, &total) != CUDA_SUCCESS) {
    return std::nullopt;
  }
  return DeviceMemory{.free = free, .total = total};
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

gpu::CUfunction DriverProcessor::prepare(const Launch& launch) {
  MYNAH_CHECK(launch.args_bytes <= 4096, "arguments of more than the 4 KB that a launch takes");
  const gpu::CUfunction function = function_of(launch.kernel);
  size_t& allowed = shared_allowed_[static_cast<size_t>(launch.kernel)];
  if (launch.shared_bytes > std::max(allowed, kSharedWithoutAsking)) {
    check(api_.cuFuncSetAttribute(function, gpu::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                  static_cast<int>(launch.shared_bytes)),
          [&] { return words_for(launch); });
    allowed = launch.shared_bytes;
  }
  return function;
}

CUresult DriverProcessor::submit(gpu::CUfunction function, const Launch& launch) {
  void* parameters[] = {const_cast<void*>(launch.args)};
  return api_.cuLaunchKernel(
      function, static_cast<unsigned>(launch.grid.x), static_cast<unsigned>(launch.grid.y),
      static_cast<unsigned>(launch.grid.z), static_cast<unsigned>(launch.threads), 1, 1,
      static_cast<unsigned>(launch.shared_bytes), stream_, parameters, nullptr);
}

void DriverProcessor::launch(const Launch& launch) {
  const std::scoped_lock lock(mutex_);
  const auto attempted = [&] { return words_for(launch); };
  enter(attempted);
  check(submit(prepare(launch), launch), attempted);
}

CUresult DriverProcessor::write_down(std::span<const Launch> launches,
                                     std::span<const gpu::CUfunction> functions,
                                     gpu::CUgraph& graph) {
  // Other threads' calls of other streams, of whichever library, are none of this one's business.
  CUresult result = api_.cuStreamBeginCapture(stream_, gpu::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
  if (result != CUDA_SUCCESS) {
    return result;
  }
  for (size_t i = 0; i < launches.size() && result == CUDA_SUCCESS; ++i) {
    result = submit(functions[i], launches[i]);
  }
  // In any case, so that the stream takes work again; where the call itself failed, once more.
  const CUresult ended = api_.cuStreamEndCapture(stream_, &graph);
  gpu::CUstreamCaptureStatus status = gpu::CU_STREAM_CAPTURE_STATUS_NONE;
  if (ended != CUDA_SUCCESS && api_.cuStreamIsCapturing(stream_, &status) == CUDA_SUCCESS &&
      status != gpu::CU_STREAM_CAPTURE_STATUS_NONE) {
    api_.cuStreamEndCapture(stream_, &graph);
  }
  return result == CUDA_SUCCESS ? ended : result;
}

std::unique_ptr<LaunchGraph> DriverProcessor::capture(std::span<const Launch> launches) {
  const std::scoped_lock lock(mutex_);
  const auto attempted = [&] {
    return fmt::format("making a graph of {} kernels", launches.size());
  };
  enter(attempted);
  // While a stream writes down what it is told, no module may be loaded.
  std::vector<gpu::CUfunction> functions;
  functions.reserve(launches.size());
  for (const Launch& launch : launches) {
    functions.push_back(prepare(launch));
  }
  gpu::CUgraph graph = nullptr;
  gpu::CUgraphExec executable = nullptr;
  CUresult result = write_down(launches, functions, graph);
  if (result == CUDA_SUCCESS) {
    result = api_.cuGraphInstantiate(&executable, graph, nullptr, nullptr, 0);
  }
  if (graph != nullptr) {
    api_.cuGraphDestroy(graph);
  }
  if (result == CUDA_SUCCESS) {
    return std::make_unique<DriverGraph>(*this, executable);
  }
  if (gpu::explain(result).scope != gpu::ErrorScope::Call) {
    throw_failure(result, attempted());
  }
  return nullptr;  // nothing is lost but time
}

void DriverProcessor::replay(const LaunchGraph& graph) {
  const std::scoped_lock lock(mutex_);
  const auto attempted = [] { return std::string("running a graph of kernels"); };
  enter(attempted);
  check(api_.cuGraphLaunch(dynamic_cast<const DriverGraph&>(graph).executable(), stream_),
        attempted);
}

void DriverProcessor::destroy(gpu::CUgraphExec executable) {
  const std::scoped_lock lock(mutex_);
  if (death_) {
    return;  // it went with the context
  }
  api_.cuCtxSetCurrent(context_);
  api_.cuGraphExecDestroy(executable);
}

DriverGraph::~DriverGraph() {
  processor_.destroy(executable_);
}

gpu::CUfunction DriverProcessor::function_of(KernelId kernel) {
  gpu::CUfunction& function = functions_[static_cast<size_t>(kernel)];
  if (function != nullptr) {
    return function;
  }
  const std::string_view group = group_of(kernel);
  auto found = modules_.find(group);
  if (found == modules_.end()) {
    found = modules_.emplace(group, load(*program_for(group, level_))).first;
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
  std::array<char, 4096> log{};
  gpu::CUjitOption names[] = {gpu::CU_JIT_ERROR_LOG_BUFFER,
                              gpu::CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void* values[] = {log.data(), reinterpret_cast<void*>(log.size())};
  gpu::CUlinkState state = nullptr;
  check(api_.cuLinkCreate(std::size(names), names, values, &state),
        [&] { return std::string(attempted); });
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
                                                         const CudaOptions& options) {
  auto processor = std::make_unique<DriverProcessor>(std::move(driver), card, options);
  MYNAH_TRY_STATUS(processor->open());
  return processor;
}

}  // namespace mynah::cuda
