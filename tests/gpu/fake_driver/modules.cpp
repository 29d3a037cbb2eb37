// Images, modules, kernels and launches of the fake driver.
#include <algorithm>
#include <cstring>

#include "gpu/ptx.h"
#include "state.h"

namespace mynah::gpu::fake {
namespace {

// Launch without asking for more (CUDA C++ Programming Guide, "Shared Memory").
constexpr int kPlainSharedBytes = 48 << 10;

// Bounds of a launch (the same guide, "Technical Specifications per Compute Capability").
constexpr unsigned kMaxGridX = 0x7FFFFFFF;
constexpr unsigned kMaxGridYz = 65535;
constexpr unsigned kMaxThreads = 1024;

// A multiprocessor's bounds on blocks and threads, for occupancy.
constexpr int kMaxResidentBlocks = 32;
constexpr int kMaxResidentThreads = 2048;

int architecture(const FakeCard& card) {
  return 10 * card.compute_major + card.compute_minor;
}

// Puts the text into the log that the options name, if they name one.
void write_log(const std::string& text, unsigned options, const CUjitOption* names, void** values) {
  char* buffer = nullptr;
  size_t room = 0;
  void** used = nullptr;
  for (unsigned i = 0; i < options; ++i) {
    if (names[i] == CU_JIT_ERROR_LOG_BUFFER) {
      buffer = static_cast<char*>(values[i]);
    } else if (names[i] == CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES) {
      room = reinterpret_cast<size_t>(values[i]);
      used = &values[i];
    }
  }
  if (buffer == nullptr || room == 0) {
    return;
  }
  const size_t length = std::min(text.size(), room - 1);
  std::memcpy(buffer, text.data(), length);
  buffer[length] = '\0';
  *used = reinterpret_cast<void*>(length);
}

}  // namespace

CUresult State::compile(const std::string& source, PtxText* text, std::string* log) {
  const auto parsed = read_ptx(source);
  if (!parsed) {
    *log = "the fake found no .version, .target or .address_size 64, or a kernel without a body";
    return CUDA_ERROR_INVALID_PTX;
  }
  const auto needed = driver_for_ptx({.major = parsed->major, .minor = parsed->minor});
  if (!needed || *needed > version()) {
    *log = "the PTX is newer than the driver";
    return CUDA_ERROR_UNSUPPORTED_PTX_VERSION;
  }
  const int card_architecture = architecture(*card(current()->device));
  if (parsed->target > card_architecture ||
      (parsed->only_target && parsed->target != card_architecture)) {
    *log = ".target sm_" + std::to_string(parsed->target) + " does not run on sm_" +
           std::to_string(card_architecture);
    return CUDA_ERROR_INVALID_PTX;
  }
  *text = *parsed;
  return CUDA_SUCCESS;
}

CUresult State::read_image(const void* image, PtxText* text, std::string* log) {
  if (!is_compiled_image(image)) {
    const auto* const source = static_cast<const char*>(image);
    // ELF, fat binaries and the like are no text.
    if (*source != '/' && *source != '.' && *source != '\n') {
      return CUDA_ERROR_INVALID_IMAGE;
    }
    return compile(source, text, log);
  }
  auto compiled = read_compiled_image(image);
  if (!compiled) {
    return CUDA_ERROR_INVALID_IMAGE;
  }
  if (compiled->architecture != architecture(*card(current()->device))) {
    return CUDA_ERROR_NO_BINARY_FOR_GPU;
  }
  *text = std::move(compiled->text);
  return CUDA_SUCCESS;
}

CUresult State::load_module(CUmodule* module, const void* image, unsigned options,
                            CUjitOption* names, void** values) {
  if (forbidden_by_capture(InCapture::Unsafe)) {
    return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  }
  PtxText text;
  std::string log;
  const CUresult result = read_image(image, &text, &log);
  write_log(log, options, names, values);
  if (result != CUDA_SUCCESS) {
    return result;
  }
  auto* const made = make<Module>("module");
  made->text = std::move(text);
  calls_.back().detail = made->label + (is_compiled_image(image) ? " compiled" : " from PTX");
  *module = reinterpret_cast<CUmodule>(made);
  return CUDA_SUCCESS;
}

CUresult State::unload_module(CUmodule module) {
  auto* const found = find<Module>(module, "module");
  if (found == nullptr) {
    return CUDA_ERROR_INVALID_HANDLE;
  }
  if (forbidden_by_capture(InCapture::Unsafe)) {
    return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  }
  calls_.back().detail = found->label;
  const auto launches = [&](const Work& work) {
    return std::ranges::any_of(
        found->functions, [&](const auto& function) { return work.function == function.second; });
  };
  for (const auto& object : objects_) {
    const auto* const stream = dynamic_cast<const Stream*>(object.get());
    const auto* const executable = dynamic_cast<const GraphExec*>(object.get());
    if (object->alive &&
        ((stream != nullptr && std::ranges::any_of(stream->pending, launches)) ||
         (executable != nullptr && std::ranges::any_of(*executable->steps, launches)))) {
      problem(found->label + " is unloaded while " + object->label + " launches its kernels");
    }
  }
  found->alive = false;
  for (const auto& [name, function] : found->functions) {
    function->alive = false;
  }
  return CUDA_SUCCESS;
}

CUresult State::get_function(CUfunction* function, CUmodule module, const char* name) {
  auto* const found = find<Module>(module, "module");
  if (found == nullptr) {
    return CUDA_ERROR_INVALID_HANDLE;
  }
  const auto kernel = found->text.kernels.find(name);
  if (kernel == found->text.kernels.end()) {
    return CUDA_ERROR_NOT_FOUND;
  }
  Function*& known = found->functions[name];
  if (known == nullptr) {
    known = make<Function>("function");
    known->label = "kernel " + kernel->first;
    known->kernel = kernel->second;
    known->target = found->text.target;
  }
  *function = reinterpret_cast<CUfunction>(known);
  return CUDA_SUCCESS;
}

CUresult State::create_link(CUlinkState* state) {
  auto* const made = make<Link>("link");
  calls_.back().detail = made->label;
  *state = reinterpret_cast<CUlinkState>(made);
  return CUDA_SUCCESS;
}

CUresult State::add_link_data(CUlinkState state, CUjitInputType type, const void* data,
                              size_t bytes, unsigned options, CUjitOption* names, void** values) {
  auto* const found = find<Link>(state, "link");
  if (found == nullptr) {
    return CUDA_ERROR_INVALID_HANDLE;
  }
  if (type != CU_JIT_INPUT_PTX || found->has_text) {
    problem("the fake links one PTX text and nothing else");
    return CUDA_ERROR_NOT_SUPPORTED;
  }
  calls_.back().detail = found->label + ", " + std::to_string(bytes) + " bytes";
  std::string source(static_cast<const char*>(data), bytes);
  // As in C, with or without the zero at its end.
  source.erase(std::min(source.find('\0'), source.size()));
  std::string log;
  const CUresult result = compile(source, &found->text, &log);
  write_log(log, options, names, values);
  found->has_text = result == CUDA_SUCCESS;
  return result;
}

CUresult State::complete_link(CUlinkState state, void** image, size_t* bytes) {
  auto* const found = find<Link>(state, "link");
  if (found == nullptr) {
    return CUDA_ERROR_INVALID_HANDLE;
  }
  if (!found->has_text) {
    return CUDA_ERROR_INVALID_IMAGE;
  }
  found->image = compiled_image(found->text, architecture(*card(current()->device)));
  *image = found->image.data();
  *bytes = found->image.size();
  return CUDA_SUCCESS;
}

CUresult State::destroy_link(CUlinkState state) {
  auto* const found = find<Link>(state, "link");
  if (found == nullptr) {
    return CUDA_ERROR_INVALID_HANDLE;
  }
  calls_.back().detail = found->label;
  found->alive = false;
  // The image was the link's.
  found->image = {};
  return CUDA_SUCCESS;
}

Function* State::find_function(CUfunction function) {
  return find<Function>(function, "kernel");
}

CUresult State::function_attribute(int* value, CUfunctionAttribute attribute, CUfunction function) {
  const Function* const found = find_function(function);
  if (found == nullptr) {
    return CUDA_ERROR_INVALID_HANDLE;
  }
  switch (attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
      *value = static_cast<int>(found->kernel.max_threads);
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES:
    case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES:
    case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
      *value = 0;
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_NUM_REGS:
      *value = 32;
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_PTX_VERSION:
    case CU_FUNC_ATTRIBUTE_BINARY_VERSION:
      *value = architecture(*card(current()->device));
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
      *value = found->dynamic_shared_bytes;
      return CUDA_SUCCESS;
  }
  return CUDA_ERROR_INVALID_VALUE;
}

CUresult State::set_function_attribute(CUfunction function, CUfunctionAttribute attribute,
                                       int value) {
  Function* const found = find_function(function);
  if (found == nullptr) {
    return CUDA_ERROR_INVALID_HANDLE;
  }
  calls_.back().detail =
      found->label + ": " + std::to_string(attribute) + " = " + std::to_string(value);
  if (attribute == CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT) {
    return value >= -1 && value <= 100 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
  }
  if (attribute != CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES || value < 0 ||
      value > device_attribute(*card(current()->device),
                               CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN)) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  found->dynamic_shared_bytes = value;
  return CUDA_SUCCESS;
}

CUresult State::occupancy(int* blocks, CUfunction function, int block_threads,
                          size_t shared_bytes) {
  const Function* const found = find_function(function);
  if (found == nullptr) {
    return CUDA_ERROR_INVALID_HANDLE;
  }
  if (block_threads <= 0 || static_cast<unsigned>(block_threads) > found->kernel.max_threads) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  *blocks = std::min(kMaxResidentBlocks, kMaxResidentThreads / block_threads);
  if (shared_bytes > 0) {
    const int room = device_attribute(*card(current()->device),
                                      CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR);
    *blocks = std::min(*blocks, room / static_cast<int>(shared_bytes));
  }
  return CUDA_SUCCESS;
}

// Every aligned word of a parameter that points into device memory makes the kernel a user of that
// block; a word that points into freed memory is a use after its end.
std::vector<Range> State::ranges_in(const std::vector<std::byte>& parameter,
                                    const std::string& what, bool* all_alive) {
  std::vector<Range> ranges;
  for (size_t at = 0; at + sizeof(uint64_t) <= parameter.size(); at += sizeof(uint64_t)) {
    uint64_t word = 0;
    std::memcpy(&word, parameter.data() + at, sizeof(word));
    uint64_t begin = 0;
    const Block* const block = find_block(word);
    const Freed* const freed = block == nullptr ? find_freed(word, &begin) : nullptr;
    if (freed != nullptr || (block != nullptr && block->freeing)) {
      problem(what + " is handed " + (freed != nullptr ? freed->label : block->label) +
              " after it was freed");
      *all_alive = false;
    } else if (block != nullptr) {
      ranges.push_back(block->range);
    }
  }
  return ranges;
}

CUresult State::launch(CUfunction function, const FakeLaunch& launch, CUstream stream,
                       void** parameters, void** extra) {
  const Function* const found = find_function(function);
  Stream* const target = find_stream(stream);
  if (found == nullptr || target == nullptr) {
    return CUDA_ERROR_INVALID_HANDLE;
  }
  calls_.back().detail = found->kernel.name + calls_.back().detail + ", " + target->label;
  if (extra != nullptr) {
    problem("the fake takes a kernel's parameters by pointers only");
    return CUDA_ERROR_NOT_SUPPORTED;
  }
  const auto& [grid_x, grid_y, grid_z] = launch.grid;
  const uint64_t threads = uint64_t{launch.block[0]} * launch.block[1] * launch.block[2];
  const int shared_room = std::max(found->dynamic_shared_bytes, kPlainSharedBytes);
  if (grid_x == 0 || grid_y == 0 || grid_z == 0 || grid_x > kMaxGridX || grid_y > kMaxGridYz ||
      grid_z > kMaxGridYz || threads == 0 || threads > kMaxThreads || launch.block[2] > 64 ||
      launch.dynamic_shared_bytes > static_cast<unsigned>(shared_room) ||
      (parameters == nullptr && !found->kernel.parameter_bytes.empty())) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  if (threads > found->kernel.max_threads) {
    return CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES;
  }
  FakeLaunch copied = launch;
  copied.kernel = found->kernel.name;
  copied.target = found->target;
  Work work = {.what = "kernel " + copied.kernel, .run = {}, .ranges = {}, .function = found};
  bool all_alive = true;
  for (size_t i = 0; i < found->kernel.parameter_bytes.size(); ++i) {
    const auto* const bytes = static_cast<const std::byte*>(parameters[i]);
    copied.parameters.emplace_back(bytes, bytes + found->kernel.parameter_bytes[i]);
    const std::vector<Range> ranges = ranges_in(copied.parameters.back(), work.what, &all_alive);
    work.ranges.insert(work.ranges.end(), ranges.begin(), ranges.end());
  }
  if (!all_alive) {
    return CUDA_ERROR_ILLEGAL_ADDRESS;
  }
  work.run = [this, copied] {
    const auto action = kernels_.find(copied.kernel);
    if (action != kernels_.end()) {
      action->second(copied);
    }
  };
  return submit(*target, std::move(work));
}

}  // namespace mynah::gpu::fake
