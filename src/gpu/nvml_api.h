// The functions of NVML, NVIDIA's management library, that mynah calls, as one table of pointers.
// Numbers and layouts as NVIDIA's NVML API Reference has them ("Device Queries", "System Queries",
// "Multi Instance GPU Management").
#pragma once

#include <cstdint>

#include "gpu/driver_types.h"

namespace mynah::gpu {

struct NvmlHandle;  // of a card, or of a slice of one

enum NvmlResult : int {
  NVML_SUCCESS = 0,
  NVML_ERROR_UNINITIALIZED = 1,
  NVML_ERROR_INVALID_ARGUMENT = 2,
  NVML_ERROR_NOT_SUPPORTED = 3,
  NVML_ERROR_NO_PERMISSION = 4,
  NVML_ERROR_NOT_FOUND = 6,
  NVML_ERROR_INSUFFICIENT_SIZE = 7,
  NVML_ERROR_INSUFFICIENT_POWER = 8,
  NVML_ERROR_DRIVER_NOT_LOADED = 9,
  NVML_ERROR_TIMEOUT = 10,
  NVML_ERROR_IRQ_ISSUE = 11,
  NVML_ERROR_LIBRARY_NOT_FOUND = 12,
  NVML_ERROR_FUNCTION_NOT_FOUND = 13,
  NVML_ERROR_CORRUPTED_INFOROM = 14,
  NVML_ERROR_GPU_IS_LOST = 15,
  NVML_ERROR_RESET_REQUIRED = 16,
  NVML_ERROR_OPERATING_SYSTEM = 17,
  NVML_ERROR_LIB_RM_VERSION_MISMATCH = 18,
  NVML_ERROR_IN_USE = 19,
  NVML_ERROR_MEMORY = 20,
  NVML_ERROR_UNKNOWN = 999,
};

// nvmlMemory_t.
struct NvmlMemoryInfo {
  unsigned long long total;
  unsigned long long free;
  unsigned long long used;
};

// nvmlPciInfo_t.
struct NvmlPciInfo {
  char busIdLegacy[16];
  unsigned domain;
  unsigned bus;
  unsigned device;
  unsigned pciDeviceId;
  unsigned pciSubSystemId;
  char busId[32];
};

// nvmlProcessInfo_v1_t, of drivers before R470.
struct NvmlProcessInfo1 {
  unsigned pid;
  unsigned long long usedGpuMemory;
};

// nvmlProcessInfo_v2_t.
struct NvmlProcessInfo2 {
  unsigned pid;
  unsigned long long usedGpuMemory;
  unsigned gpuInstanceId;
  unsigned computeInstanceId;
};

// NVML_VALUE_NOT_AVAILABLE: what is answered of a process's memory where only Windows knows it.
inline constexpr unsigned long long kNvmlNotAvailable = ~0ULL;

// FUNCTION(name, needed, parameters) for each; what is not needed may be missing and is then not
// asked. nvmlInit_v2 starts no card: those that are asked for by address are started alone. Of the
// lists of processes the second form has had one layout in all drivers; some of R535 fill the third
// with longer entries.
// clang-format off: it takes the pointers of parameter lists for products.
#define MYNAH_NVML_FUNCTIONS(FUNCTION)                                                             \
  FUNCTION(nvmlInit_v2, true, ())                                                                  \
  FUNCTION(nvmlShutdown, true, ())                                                                 \
  FUNCTION(nvmlSystemGetDriverVersion, false, (char* version, unsigned room))                      \
  FUNCTION(nvmlSystemGetCudaDriverVersion_v2, false, (int* version))                               \
  FUNCTION(nvmlSystemGetCudaDriverVersion, false, (int* version))                                  \
  FUNCTION(nvmlDeviceGetCount_v2, true, (unsigned* count))                                         \
  FUNCTION(nvmlDeviceGetHandleByIndex_v2, true, (unsigned index, NvmlHandle** device))             \
  FUNCTION(nvmlDeviceGetHandleByPciBusId_v2, false, (const char* address, NvmlHandle** device))    \
  FUNCTION(nvmlDeviceGetPciInfo_v3, false, (NvmlHandle* device, NvmlPciInfo* info))                \
  FUNCTION(nvmlDeviceGetName, false, (NvmlHandle* device, char* name, unsigned room))              \
  FUNCTION(nvmlDeviceGetUUID, false, (NvmlHandle* device, char* uuid, unsigned room))              \
  FUNCTION(nvmlDeviceGetMemoryInfo, true, (NvmlHandle* device, NvmlMemoryInfo* memory))            \
  FUNCTION(nvmlDeviceGetCudaComputeCapability, false,                                              \
           (NvmlHandle* device, int* major, int* minor))                                           \
  FUNCTION(nvmlDeviceGetComputeMode, false, (NvmlHandle* device, CUcomputemode* mode))             \
  FUNCTION(nvmlDeviceGetMigMode, false,                                                            \
           (NvmlHandle* device, unsigned* current, unsigned* pending))                             \
  FUNCTION(nvmlDeviceGetMaxMigDeviceCount, false, (NvmlHandle* device, unsigned* count))           \
  FUNCTION(nvmlDeviceGetMigDeviceHandleByIndex, false,                                             \
           (NvmlHandle* device, unsigned index, NvmlHandle** slice))                               \
  FUNCTION(nvmlDeviceGetComputeRunningProcesses_v2, false,                                         \
           (NvmlHandle* device, unsigned* count, NvmlProcessInfo2* processes))                     \
  FUNCTION(nvmlDeviceGetComputeRunningProcesses, false,                                            \
           (NvmlHandle* device, unsigned* count, NvmlProcessInfo1* processes))
// clang-format on

struct NvmlApi {
#define MYNAH_NVML_POINTER(name, needed, parameters) NvmlResult(*name) parameters = nullptr;
  MYNAH_NVML_FUNCTIONS(MYNAH_NVML_POINTER)
#undef MYNAH_NVML_POINTER
};

}  // namespace mynah::gpu
