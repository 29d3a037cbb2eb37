// The functions of the CUDA driver API that mynah calls, as one table of pointers.
#pragma once

#include "gpu/driver_types.h"

// FUNCTION(name, symbol, since, parameters) for each. `symbol` is what the driver exports: the
// suffix tells the form of the binary interface and never changes for a form. `since` is the CUDA
// version (1000 × major + 10 × minor, as cuDriverGetVersion counts) of the first driver that
// exports it (NVIDIA's "Driver Entry Point" type names carry it); what is newer than kOldestDriver
// may be missing. All answer a CUresult.
// clang-format off: it takes the pointers of parameter lists for products.
#define MYNAH_DRIVER_FUNCTIONS(FUNCTION)                                                           \
  FUNCTION(cuInit, cuInit, 2000, (unsigned flags))                                                 \
  FUNCTION(cuDriverGetVersion, cuDriverGetVersion, 2020, (int* version))                           \
  FUNCTION(cuGetErrorName, cuGetErrorName, 6000, (CUresult result, const char** name))             \
  FUNCTION(cuGetErrorString, cuGetErrorString, 6000, (CUresult result, const char** text))         \
  FUNCTION(cuDeviceGetCount, cuDeviceGetCount, 2000, (int* count))                                 \
  FUNCTION(cuDeviceGet, cuDeviceGet, 2000, (CUdevice* device, int index))                          \
  FUNCTION(cuDeviceGetName, cuDeviceGetName, 2000, (char* name, int room, CUdevice device))        \
  FUNCTION(cuDeviceGetUuid, cuDeviceGetUuid, 9020, (CUuuid* uuid, CUdevice device))                \
  /* Of a MIG slice the slice's own, where the one above gives the whole card's. */                \
  FUNCTION(cuDeviceGetUuid_v2, cuDeviceGetUuid_v2, 11040, (CUuuid* uuid, CUdevice device))         \
  FUNCTION(cuDeviceTotalMem, cuDeviceTotalMem_v2, 3020, (size_t* bytes, CUdevice device))          \
  FUNCTION(cuDeviceGetAttribute, cuDeviceGetAttribute, 2000,                                       \
           (int* value, CUdeviceAttribute attribute, CUdevice device))                             \
  FUNCTION(cuDeviceGetPCIBusId, cuDeviceGetPCIBusId, 4010, (char* id, int room, CUdevice device))  \
  FUNCTION(cuDevicePrimaryCtxRetain, cuDevicePrimaryCtxRetain, 7000,                               \
           (CUcontext* context, CUdevice device))                                                  \
  FUNCTION(cuDevicePrimaryCtxRelease, cuDevicePrimaryCtxRelease_v2, 11000, (CUdevice device))      \
  FUNCTION(cuDevicePrimaryCtxSetFlags, cuDevicePrimaryCtxSetFlags_v2, 11000,                       \
           (CUdevice device, unsigned flags))                                                      \
  FUNCTION(cuDevicePrimaryCtxGetState, cuDevicePrimaryCtxGetState, 7000,                           \
           (CUdevice device, unsigned* flags, int* active))                                        \
  FUNCTION(cuCtxSetCurrent, cuCtxSetCurrent, 4000, (CUcontext context))                            \
  FUNCTION(cuCtxGetCurrent, cuCtxGetCurrent, 4000, (CUcontext* context))                           \
  FUNCTION(cuCtxPushCurrent, cuCtxPushCurrent_v2, 4000, (CUcontext context))                       \
  FUNCTION(cuCtxPopCurrent, cuCtxPopCurrent_v2, 4000, (CUcontext* context))                        \
  FUNCTION(cuCtxSynchronize, cuCtxSynchronize, 2000, ())                                           \
  FUNCTION(cuMemGetInfo, cuMemGetInfo_v2, 3020, (size_t* free, size_t* total))                     \
  FUNCTION(cuMemAlloc, cuMemAlloc_v2, 3020, (CUdeviceptr* address, size_t bytes))                  \
  FUNCTION(cuMemFree, cuMemFree_v2, 3020, (CUdeviceptr address))                                   \
  FUNCTION(cuMemAllocAsync, cuMemAllocAsync, 11020,                                                \
           (CUdeviceptr* address, size_t bytes, CUstream stream))                                  \
  FUNCTION(cuMemFreeAsync, cuMemFreeAsync, 11020, (CUdeviceptr address, CUstream stream))          \
  FUNCTION(cuDeviceGetDefaultMemPool, cuDeviceGetDefaultMemPool, 11020,                            \
           (CUmemoryPool* pool, CUdevice device))                                                  \
  FUNCTION(cuMemPoolSetAttribute, cuMemPoolSetAttribute, 11020,                                    \
           (CUmemoryPool pool, CUmemPoolAttribute attribute, void* value))                         \
  FUNCTION(cuMemPoolGetAttribute, cuMemPoolGetAttribute, 11020,                                    \
           (CUmemoryPool pool, CUmemPoolAttribute attribute, void* value))                         \
  FUNCTION(cuMemPoolTrimTo, cuMemPoolTrimTo, 11020, (CUmemoryPool pool, size_t bytes_to_keep))     \
  FUNCTION(cuMemHostAlloc, cuMemHostAlloc, 2020, (void** address, size_t bytes, unsigned flags))   \
  FUNCTION(cuMemFreeHost, cuMemFreeHost, 2000, (void* address))                                    \
  FUNCTION(cuMemcpyHtoDAsync, cuMemcpyHtoDAsync_v2, 3020,                                          \
           (CUdeviceptr to, const void* from, size_t bytes, CUstream stream))                      \
  FUNCTION(cuMemcpyDtoHAsync, cuMemcpyDtoHAsync_v2, 3020,                                          \
           (void* to, CUdeviceptr from, size_t bytes, CUstream stream))                            \
  FUNCTION(cuMemcpyDtoDAsync, cuMemcpyDtoDAsync_v2, 3020,                                          \
           (CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream))                      \
  FUNCTION(cuMemcpy2DAsync, cuMemcpy2DAsync_v2, 3020, (const CUmemcpy2D* copy, CUstream stream))   \
  FUNCTION(cuMemsetD8Async, cuMemsetD8Async, 3020,                                                 \
           (CUdeviceptr to, unsigned char value, size_t bytes, CUstream stream))                   \
  FUNCTION(cuStreamCreate, cuStreamCreate, 2000, (CUstream* stream, unsigned flags))               \
  FUNCTION(cuStreamDestroy, cuStreamDestroy_v2, 4000, (CUstream stream))                           \
  FUNCTION(cuStreamSynchronize, cuStreamSynchronize, 2000, (CUstream stream))                      \
  FUNCTION(cuStreamQuery, cuStreamQuery, 2000, (CUstream stream))                                  \
  FUNCTION(cuStreamWaitEvent, cuStreamWaitEvent, 3020,                                             \
           (CUstream stream, CUevent event, unsigned flags))                                       \
  FUNCTION(cuStreamBeginCapture, cuStreamBeginCapture_v2, 10010,                                   \
           (CUstream stream, CUstreamCaptureMode mode))                                            \
  FUNCTION(cuStreamEndCapture, cuStreamEndCapture, 10000, (CUstream stream, CUgraph* graph))       \
  FUNCTION(cuStreamIsCapturing, cuStreamIsCapturing, 10000,                                        \
           (CUstream stream, CUstreamCaptureStatus* status))                                       \
  FUNCTION(cuEventCreate, cuEventCreate, 2000, (CUevent* event, unsigned flags))                   \
  FUNCTION(cuEventDestroy, cuEventDestroy_v2, 4000, (CUevent event))                               \
  FUNCTION(cuEventRecord, cuEventRecord, 2000, (CUevent event, CUstream stream))                   \
  FUNCTION(cuEventQuery, cuEventQuery, 2000, (CUevent event))                                      \
  FUNCTION(cuEventSynchronize, cuEventSynchronize, 2000, (CUevent event))                          \
  FUNCTION(cuEventElapsedTime, cuEventElapsedTime, 2000, (float* ms, CUevent begin, CUevent end))  \
  FUNCTION(                                                                                        \
      cuModuleLoadDataEx, cuModuleLoadDataEx, 2010,                                                \
      (CUmodule* module, const void* image, unsigned options, CUjitOption* names, void** values))  \
  FUNCTION(cuModuleUnload, cuModuleUnload, 2000, (CUmodule module))                                \
  FUNCTION(cuModuleGetFunction, cuModuleGetFunction, 2000,                                         \
           (CUfunction* function, CUmodule module, const char* name))                              \
  FUNCTION(cuLinkCreate, cuLinkCreate_v2, 6050,                                                    \
           (unsigned options, CUjitOption* names, void** values, CUlinkState* state))              \
  FUNCTION(cuLinkAddData, cuLinkAddData_v2, 6050,                                                  \
           (CUlinkState state, CUjitInputType type, void* data, size_t bytes, const char* name,    \
            unsigned options, CUjitOption* names, void** values))                                  \
  FUNCTION(cuLinkComplete, cuLinkComplete, 5050, (CUlinkState state, void** image, size_t* bytes)) \
  FUNCTION(cuLinkDestroy, cuLinkDestroy, 5050, (CUlinkState state))                                \
  FUNCTION(cuFuncGetAttribute, cuFuncGetAttribute, 2020,                                           \
           (int* value, CUfunctionAttribute attribute, CUfunction function))                       \
  FUNCTION(cuFuncSetAttribute, cuFuncSetAttribute, 9000,                                           \
           (CUfunction function, CUfunctionAttribute attribute, int value))                        \
  FUNCTION(cuOccupancyMaxActiveBlocksPerMultiprocessor,                                            \
           cuOccupancyMaxActiveBlocksPerMultiprocessor, 6050,                                      \
           (int* blocks, CUfunction function, int block_threads, size_t dynamic_shared_bytes))     \
  FUNCTION(cuLaunchKernel, cuLaunchKernel, 4000,                                                   \
           (CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,                \
            unsigned block_x, unsigned block_y, unsigned block_z, unsigned dynamic_shared_bytes,   \
            CUstream stream, void** parameters, void** extra))                                     \
  /* Drivers before 11.4 have only this form; the newer ones keep it. */                           \
  FUNCTION(                                                                                        \
      cuGraphInstantiate, cuGraphInstantiate_v2, 11000,                                            \
      (CUgraphExec* executable, CUgraph graph, CUgraphNode* error_node, char* log, size_t room))   \
  FUNCTION(cuGraphInstantiateWithFlags, cuGraphInstantiateWithFlags, 11040,                        \
           (CUgraphExec* executable, CUgraph graph, unsigned long long flags))                     \
  FUNCTION(cuGraphLaunch, cuGraphLaunch, 10000, (CUgraphExec executable, CUstream stream))         \
  FUNCTION(cuGraphExecDestroy, cuGraphExecDestroy, 10000, (CUgraphExec executable))                \
  FUNCTION(cuGraphDestroy, cuGraphDestroy, 10000, (CUgraph graph))                                 \
  FUNCTION(cuTensorMapEncodeTiled, cuTensorMapEncodeTiled, 12000,                                  \
           (CUtensorMap* map, CUtensorMapDataType type, unsigned rank, void* address,              \
            const uint64_t* sizes, const uint64_t* strides_bytes, const uint32_t* box,             \
            const uint32_t* element_strides, CUtensorMapInterleave interleave,                     \
            CUtensorMapSwizzle swizzle, CUtensorMapL2promotion promotion,                          \
            CUtensorMapFloatOOBfill fill))
// clang-format on

namespace mynah::gpu {

// CUDA 11.0, driver R450: the oldest that mynah runs on. It takes PTX ISA 7.0.
inline constexpr int kOldestDriver = 11000;

// A pointer for each function, by the name without suffix: api.cuMemAlloc(&address, bytes). Null
// where the driver lacks it, which only functions newer than kOldestDriver can be.
struct DriverApi {
#define MYNAH_DRIVER_MEMBER(name, symbol, since, parameters) CUresult(*name) parameters = nullptr;
  MYNAH_DRIVER_FUNCTIONS(MYNAH_DRIVER_MEMBER)
#undef MYNAH_DRIVER_MEMBER

  // Memory that is allocated and freed in a stream's order (11.2). The device is asked, too:
  // CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED.
  [[nodiscard]] bool has_memory_pools() const {
    return cuMemAllocAsync != nullptr && cuMemFreeAsync != nullptr &&
           cuDeviceGetDefaultMemPool != nullptr && cuMemPoolSetAttribute != nullptr &&
           cuMemPoolGetAttribute != nullptr && cuMemPoolTrimTo != nullptr;
  }

  // The UUID of a MIG slice (11.4).
  [[nodiscard]] bool has_slice_uuid() const { return cuDeviceGetUuid_v2 != nullptr; }

  // cuGraphInstantiateWithFlags (11.4).
  [[nodiscard]] bool has_graph_flags() const { return cuGraphInstantiateWithFlags != nullptr; }

  // Descriptors for bulk copies of tiles (12.0).
  [[nodiscard]] bool has_tensor_maps() const { return cuTensorMapEncodeTiled != nullptr; }
};

}  // namespace mynah::gpu
