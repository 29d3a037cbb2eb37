// The functions that came after CUDA 11.0. Compiled once for each driver that is faked, which then
// exports what that driver had and no more: FAKE_CUDA_VERSION, as cuDriverGetVersion counts.
#include <algorithm>
#include <string>

#include "entry_points.h"
#include "state.h"

int mynah_fake_cuda_version() {
  return FAKE_CUDA_VERSION;
}

#if FAKE_CUDA_VERSION >= 11020

using mynah::gpu::fake::Needs;
using mynah::gpu::fake::State;

extern "C" {

CUresult cuMemAllocAsync(CUdeviceptr* address, size_t bytes, CUstream stream) {
  return State::instance().call(
      "cuMemAllocAsync", Needs::Context, std::to_string(bytes) + " bytes",
      [&](State& state) { return state.allocate_async(address, bytes, stream); });
}

CUresult cuMemFreeAsync(CUdeviceptr address, CUstream stream) {
  return State::instance().call("cuMemFreeAsync", Needs::Context, {},
                                [&](State& state) { return state.free_async(address, stream); });
}

CUresult cuDeviceGetDefaultMemPool(CUmemoryPool* pool, CUdevice device) {
  return State::instance().call("cuDeviceGetDefaultMemPool", Needs::Init,
                                "device " + std::to_string(device),
                                [&](State& state) { return state.default_pool(pool, device); });
}

CUresult cuMemPoolSetAttribute(CUmemoryPool pool, CUmemPoolAttribute attribute, void* value) {
  return State::instance().call(
      "cuMemPoolSetAttribute", Needs::Init, std::to_string(attribute), [&](State& state) {
        return state.pool_attribute(pool, attribute, static_cast<uint64_t*>(value), true);
      });
}

CUresult cuMemPoolGetAttribute(CUmemoryPool pool, CUmemPoolAttribute attribute, void* value) {
  return State::instance().call(
      "cuMemPoolGetAttribute", Needs::Init, std::to_string(attribute), [&](State& state) {
        return state.pool_attribute(pool, attribute, static_cast<uint64_t*>(value), false);
      });
}

CUresult cuMemPoolTrimTo(CUmemoryPool pool, size_t bytes_to_keep) {
  return State::instance().call("cuMemPoolTrimTo", Needs::Init, std::to_string(bytes_to_keep),
                                [&](State& state) { return state.trim_pool(pool, bytes_to_keep); });
}

}  // extern "C"

#endif
#if FAKE_CUDA_VERSION >= 11040

extern "C" {

CUresult cuDeviceGetUuid_v2(CUuuid* uuid, CUdevice device) {
  return State::instance().call("cuDeviceGetUuid_v2", Needs::Init,
                                "device " + std::to_string(device), [&](State& state) {
                                  const auto* const card = state.card(device);
                                  if (card == nullptr) {
                                    return CUDA_ERROR_INVALID_DEVICE;
                                  }
                                  *uuid = device_uuid(*card, device);
                                  return CUDA_SUCCESS;
                                });
}

CUresult cuGraphInstantiateWithFlags(CUgraphExec* executable, CUgraph graph, unsigned long long) {
  return State::instance().call("cuGraphInstantiateWithFlags", Needs::Context, {},
                                [&](State& state) { return state.instantiate(executable, graph); });
}

}  // extern "C"

#endif
#if FAKE_CUDA_VERSION >= 12000

extern "C" {

// The map's first words say what it was made of; kernels of the fake may read them.
CUresult cuTensorMapEncodeTiled(CUtensorMap* map, CUtensorMapDataType type, unsigned rank,
                                void* address, const uint64_t* sizes, const uint64_t*,
                                const uint32_t*, const uint32_t*, CUtensorMapInterleave,
                                CUtensorMapSwizzle, CUtensorMapL2promotion,
                                CUtensorMapFloatOOBfill) {
  // Needs no context: it only packs bits.
  return State::instance().call(
      "cuTensorMapEncodeTiled", Needs::Nothing, "rank " + std::to_string(rank), [&](State&) {
        // CUDA driver API, cuTensorMapEncodeTiled: rank 1 to 5, the address aligned to 16 bytes.
        if (rank == 0 || rank > 5 || reinterpret_cast<uint64_t>(address) % 16 != 0) {
          return CUDA_ERROR_INVALID_VALUE;
        }
        *map = {};
        map->opaque[0] = reinterpret_cast<uint64_t>(address);
        map->opaque[1] = static_cast<uint64_t>(type);
        map->opaque[2] = rank;
        std::copy_n(sizes, rank, map->opaque + 3);
        return CUDA_SUCCESS;
      });
}

}  // extern "C"

#endif
