// The functions that every driver since CUDA 11.0 exports.
#include "entry_points.h"

#include <algorithm>
#include <string>

#include "state.h"

namespace {

using mynah::gpu::fake::FakeLaunch;
using mynah::gpu::fake::Needs;
using mynah::gpu::fake::State;

template <class Body>
CUresult call(const char* function, Needs needs, const std::string& detail, Body body) {
  return State::instance().call(function, needs, detail, body);
}

// Of functions that ask about one device.
template <class Body>
CUresult ask_device(const char* function, CUdevice device, Body body) {
  return call(function, Needs::Init, "device " + std::to_string(device), [&](State& state) {
    const auto* const card = state.card(device);
    return card == nullptr ? CUDA_ERROR_INVALID_DEVICE : body(*card);
  });
}

std::string bytes(size_t number) {
  return std::to_string(number) + " bytes";
}

std::string size_of(const std::array<unsigned, 3>& size) {
  return std::to_string(size[0]) + "x" + std::to_string(size[1]) + "x" + std::to_string(size[2]);
}

// As the driver copies a name: cut where there is no room.
void copy_text(const std::string& text, char* to, int room) {
  const size_t length = std::min(text.size(), static_cast<size_t>(room) - 1);
  std::ranges::copy_n(text.begin(), static_cast<std::ptrdiff_t>(length), to);
  to[length] = '\0';
}

}  // namespace

extern "C" {

CUresult cuInit(unsigned flags) {
  return call("cuInit", Needs::Nothing, "flags " + std::to_string(flags),
              [](State& state) { return state.initialise(); });
}

CUresult cuDriverGetVersion(int* version) {
  return call("cuDriverGetVersion", Needs::Nothing, {}, [&](State& state) {
    *version = state.version();
    return CUDA_SUCCESS;
  });
}

CUresult cuGetErrorName(CUresult result, const char** name) {
  *name = result == CUDA_SUCCESS ? "CUDA_SUCCESS" : nullptr;
  return *name != nullptr ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGetErrorString(CUresult result, const char** text) {
  return cuGetErrorName(result, text);
}

CUresult cuDeviceGetCount(int* count) {
  return call("cuDeviceGetCount", Needs::Init, {}, [&](State& state) {
    *count = static_cast<int>(state.machine().cards.size());
    return CUDA_SUCCESS;
  });
}

CUresult cuDeviceGet(CUdevice* device, int index) {
  return ask_device("cuDeviceGet", index, [&](const auto&) {
    *device = index;
    return CUDA_SUCCESS;
  });
}

CUresult cuDeviceGetName(char* name, int room, CUdevice device) {
  return ask_device("cuDeviceGetName", device, [&](const auto& card) {
    copy_text(card.name, name, room);
    return CUDA_SUCCESS;
  });
}

CUresult cuDeviceGetUuid(CUuuid* uuid, CUdevice device) {
  return ask_device("cuDeviceGetUuid", device, [&](const auto& card) {
    *uuid = card_uuid(card, device);
    return CUDA_SUCCESS;
  });
}

CUresult cuDeviceTotalMem_v2(size_t* total, CUdevice device) {
  return ask_device("cuDeviceTotalMem", device, [&](const auto& card) {
    *total = card.memory_bytes;
    return CUDA_SUCCESS;
  });
}

CUresult cuDeviceGetAttribute(int* value, CUdeviceAttribute attribute, CUdevice device) {
  return ask_device("cuDeviceGetAttribute", device, [&](const auto& card) {
    *value = device_attribute(card, attribute);
    return CUDA_SUCCESS;
  });
}

CUresult cuDeviceGetPCIBusId(char* id, int room, CUdevice device) {
  return ask_device("cuDeviceGetPCIBusId", device, [&](const auto& card) {
    copy_text(card_pci_bus_id(card, device), id, room);
    return CUDA_SUCCESS;
  });
}

CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice device) {
  return call("cuDevicePrimaryCtxRetain", Needs::Init, "device " + std::to_string(device),
              [&](State& state) { return state.retain(device, context); });
}

CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device) {
  return call("cuDevicePrimaryCtxRelease", Needs::Init, "device " + std::to_string(device),
              [&](State& state) { return state.release(device); });
}

CUresult cuDevicePrimaryCtxSetFlags_v2(CUdevice device, unsigned flags) {
  return call("cuDevicePrimaryCtxSetFlags", Needs::Init,
              "device " + std::to_string(device) + ", flags " + std::to_string(flags),
              [&](State& state) { return state.set_flags(device, flags); });
}

CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned* flags, int* active) {
  return call("cuDevicePrimaryCtxGetState", Needs::Init, "device " + std::to_string(device),
              [&](State& state) { return state.get_state(device, flags, active); });
}

CUresult cuCtxSetCurrent(CUcontext context) {
  return call("cuCtxSetCurrent", Needs::Init, {},
              [&](State& state) { return state.set_current(context); });
}

CUresult cuCtxGetCurrent(CUcontext* context) {
  return call("cuCtxGetCurrent", Needs::Init, {},
              [&](State& state) { return state.get_current(context); });
}

CUresult cuCtxPushCurrent_v2(CUcontext context) {
  return call("cuCtxPushCurrent", Needs::Init, {},
              [&](State& state) { return state.push_current(context); });
}

CUresult cuCtxPopCurrent_v2(CUcontext* context) {
  return call("cuCtxPopCurrent", Needs::Init, {},
              [&](State& state) { return state.pop_current(context); });
}

CUresult cuCtxSynchronize() {
  return call("cuCtxSynchronize", Needs::Context, {},
              [](State& state) { return state.synchronize_context(); });
}

CUresult cuMemGetInfo_v2(size_t* free, size_t* total) {
  return call("cuMemGetInfo", Needs::Context, {},
              [&](State& state) { return state.memory_info(free, total); });
}

CUresult cuMemAlloc_v2(CUdeviceptr* address, size_t size) {
  return call("cuMemAlloc", Needs::Context, bytes(size),
              [&](State& state) { return state.allocate(address, size); });
}

CUresult cuMemFree_v2(CUdeviceptr address) {
  return call("cuMemFree", Needs::Context, {},
              [&](State& state) { return state.free_memory(address); });
}

CUresult cuMemHostAlloc(void** address, size_t size, unsigned flags) {
  return call("cuMemHostAlloc", Needs::Context, bytes(size) + ", flags " + std::to_string(flags),
              [&](State& state) { return state.allocate_pinned(address, size); });
}

CUresult cuMemFreeHost(void* address) {
  return call("cuMemFreeHost", Needs::Context, {},
              [&](State& state) { return state.free_pinned(address); });
}

CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void* from, size_t size, CUstream stream) {
  return call("cuMemcpyHtoDAsync", Needs::Context, bytes(size), [&](State& state) {
    return state.copy(reinterpret_cast<void*>(to), from, size, true, false, stream);
  });
}

CUresult cuMemcpyDtoHAsync_v2(void* to, CUdeviceptr from, size_t size, CUstream stream) {
  return call("cuMemcpyDtoHAsync", Needs::Context, bytes(size), [&](State& state) {
    return state.copy(to, reinterpret_cast<const void*>(from), size, false, true, stream);
  });
}

CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, size_t size, CUstream stream) {
  return call("cuMemcpyDtoDAsync", Needs::Context, bytes(size), [&](State& state) {
    return state.copy(reinterpret_cast<void*>(to), reinterpret_cast<const void*>(from), size, true,
                      true, stream);
  });
}

CUresult cuMemcpy2DAsync_v2(const CUmemcpy2D* copy, CUstream stream) {
  return call("cuMemcpy2DAsync", Needs::Context,
              std::to_string(copy->Height) + " rows of " + bytes(copy->WidthInBytes),
              [&](State& state) { return state.copy_2d(*copy, stream); });
}

CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char value, size_t size, CUstream stream) {
  return call("cuMemsetD8Async", Needs::Context, bytes(size),
              [&](State& state) { return state.fill(to, value, size, stream); });
}

CUresult cuStreamCreate(CUstream* stream, unsigned flags) {
  return call("cuStreamCreate", Needs::Context, {},
              [&](State& state) { return state.create_stream(stream, flags); });
}

CUresult cuStreamDestroy_v2(CUstream stream) {
  return call("cuStreamDestroy", Needs::Context, {},
              [&](State& state) { return state.destroy_stream(stream); });
}

CUresult cuStreamSynchronize(CUstream stream) {
  return call("cuStreamSynchronize", Needs::Context, {},
              [&](State& state) { return state.synchronize_stream(stream); });
}

CUresult cuStreamQuery(CUstream stream) {
  return call("cuStreamQuery", Needs::Context, {},
              [&](State& state) { return state.query_stream(stream); });
}

CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned) {
  return call("cuStreamWaitEvent", Needs::Context, {},
              [&](State& state) { return state.wait_event(stream, event); });
}

CUresult cuStreamBeginCapture_v2(CUstream stream, CUstreamCaptureMode mode) {
  return call("cuStreamBeginCapture", Needs::Context, {},
              [&](State& state) { return state.begin_capture(stream, mode); });
}

CUresult cuStreamEndCapture(CUstream stream, CUgraph* graph) {
  return call("cuStreamEndCapture", Needs::Context, {},
              [&](State& state) { return state.end_capture(stream, graph); });
}

CUresult cuStreamIsCapturing(CUstream stream, CUstreamCaptureStatus* status) {
  return call("cuStreamIsCapturing", Needs::Context, {},
              [&](State& state) { return state.is_capturing(stream, status); });
}

CUresult cuEventCreate(CUevent* event, unsigned flags) {
  return call("cuEventCreate", Needs::Context, {},
              [&](State& state) { return state.create_event(event, flags); });
}

CUresult cuEventDestroy_v2(CUevent event) {
  return call("cuEventDestroy", Needs::Context, {},
              [&](State& state) { return state.destroy_event(event); });
}

CUresult cuEventRecord(CUevent event, CUstream stream) {
  return call("cuEventRecord", Needs::Context, {},
              [&](State& state) { return state.record_event(event, stream); });
}

CUresult cuEventQuery(CUevent event) {
  return call("cuEventQuery", Needs::Context, {},
              [&](State& state) { return state.query_event(event); });
}

CUresult cuEventSynchronize(CUevent event) {
  return call("cuEventSynchronize", Needs::Context, {},
              [&](State& state) { return state.synchronize_event(event); });
}

CUresult cuEventElapsedTime(float* ms, CUevent begin, CUevent end) {
  return call("cuEventElapsedTime", Needs::Context, {},
              [&](State& state) { return state.elapsed_time(ms, begin, end); });
}

CUresult cuModuleLoadDataEx(CUmodule* module, const void* image, unsigned options,
                            CUjitOption* names, void** values) {
  return call("cuModuleLoadDataEx", Needs::Context, {}, [&](State& state) {
    return state.load_module(module, image, options, names, values);
  });
}

CUresult cuModuleUnload(CUmodule module) {
  return call("cuModuleUnload", Needs::Context, {},
              [&](State& state) { return state.unload_module(module); });
}

CUresult cuModuleGetFunction(CUfunction* function, CUmodule module, const char* name) {
  return call("cuModuleGetFunction", Needs::Context, name,
              [&](State& state) { return state.get_function(function, module, name); });
}

CUresult cuLinkCreate_v2(unsigned, CUjitOption*, void**, CUlinkState* link) {
  return call("cuLinkCreate", Needs::Context, {},
              [&](State& state) { return state.create_link(link); });
}

CUresult cuLinkAddData_v2(CUlinkState link, CUjitInputType type, void* data, size_t size,
                          const char*, unsigned options, CUjitOption* names, void** values) {
  return call("cuLinkAddData", Needs::Context, {}, [&](State& state) {
    return state.add_link_data(link, type, data, size, options, names, values);
  });
}

CUresult cuLinkComplete(CUlinkState link, void** image, size_t* size) {
  return call("cuLinkComplete", Needs::Context, {},
              [&](State& state) { return state.complete_link(link, image, size); });
}

CUresult cuLinkDestroy(CUlinkState link) {
  return call("cuLinkDestroy", Needs::Context, {},
              [&](State& state) { return state.destroy_link(link); });
}

CUresult cuFuncGetAttribute(int* value, CUfunctionAttribute attribute, CUfunction function) {
  return call("cuFuncGetAttribute", Needs::Context, {},
              [&](State& state) { return state.function_attribute(value, attribute, function); });
}

CUresult cuFuncSetAttribute(CUfunction function, CUfunctionAttribute attribute, int value) {
  return call("cuFuncSetAttribute", Needs::Context, {}, [&](State& state) {
    return state.set_function_attribute(function, attribute, value);
  });
}

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, CUfunction function,
                                                     int block_threads,
                                                     size_t dynamic_shared_bytes) {
  return call("cuOccupancyMaxActiveBlocksPerMultiprocessor", Needs::Context, {}, [&](State& state) {
    return state.occupancy(blocks, function, block_threads, dynamic_shared_bytes);
  });
}

CUresult cuLaunchKernel(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                        unsigned block_x, unsigned block_y, unsigned block_z,
                        unsigned dynamic_shared_bytes, CUstream stream, void** parameters,
                        void** extra) {
  FakeLaunch launch;
  launch.grid = {grid_x, grid_y, grid_z};
  launch.block = {block_x, block_y, block_z};
  launch.dynamic_shared_bytes = dynamic_shared_bytes;
  return call(
      "cuLaunchKernel", Needs::Context,
      ", grid " + size_of(launch.grid) + ", block " + size_of(launch.block) + ", shared " +
          std::to_string(dynamic_shared_bytes),
      [&](State& state) { return state.launch(function, launch, stream, parameters, extra); });
}

CUresult cuGraphInstantiate_v2(CUgraphExec* executable, CUgraph graph, CUgraphNode*, char*,
                               size_t) {
  return call("cuGraphInstantiate", Needs::Context, {},
              [&](State& state) { return state.instantiate(executable, graph); });
}

CUresult cuGraphLaunch(CUgraphExec executable, CUstream stream) {
  return call("cuGraphLaunch", Needs::Context, {},
              [&](State& state) { return state.launch_graph(executable, stream); });
}

CUresult cuGraphExecDestroy(CUgraphExec executable) {
  return call("cuGraphExecDestroy", Needs::Context, {},
              [&](State& state) { return state.destroy_executable(executable); });
}

CUresult cuGraphDestroy(CUgraph graph) {
  return call("cuGraphDestroy", Needs::Context, {},
              [&](State& state) { return state.destroy_graph(graph); });
}

}  // extern "C"
