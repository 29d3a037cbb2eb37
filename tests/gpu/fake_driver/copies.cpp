// Copies and fills of the fake driver.
#include <cstring>

#include "faults.h"
#include "state.h"

namespace mynah::gpu::fake {
namespace {

std::string text(uint64_t bytes) {
  return std::to_string(bytes) + " bytes";
}

}  // namespace

CUresult State::copy(void* to, const void* from, size_t bytes, bool to_device, bool from_device,
                     CUstream stream) {
  Stream* const target = find_stream(stream);
  if (target == nullptr) {
    return CUDA_ERROR_INVALID_HANDLE;
  }
  if (bytes == 0) {
    return CUDA_SUCCESS;
  }
  const Range to_range = {.address = reinterpret_cast<uint64_t>(to), .bytes = bytes};
  const Range from_range = {.address = reinterpret_cast<uint64_t>(from), .bytes = bytes};
  const std::string what = calls_.back().function + " of " + text(bytes);
  if ((to_device && !check_range(to_range, what)) ||
      (from_device && !check_range(from_range, what))) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  const bool pinned = (to_device || is_pinned(to_range)) && (from_device || is_pinned(from_range));
  const auto run = [to, from, bytes, fault = damage_] {
    std::memmove(to, from, bytes);
    damage(fault, to, bytes);
  };
  const CUresult result =
      submit(*target, {.what = what, .run = run, .ranges = {to_range, from_range}});
  if (result == CUDA_SUCCESS && !pinned && target->capture == nullptr) {
    run_until(*target, target->submitted);
  }
  return result;
}

CUresult State::copy_2d(const CUmemcpy2D& copy, CUstream stream) {
  Stream* const target = find_stream(stream);
  if (target == nullptr) {
    return CUDA_ERROR_INVALID_HANDLE;
  }
  if (copy.WidthInBytes == 0 || copy.Height == 0) {
    return CUDA_SUCCESS;
  }
  if (copy.srcPitch < copy.WidthInBytes || copy.dstPitch < copy.WidthInBytes) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  const bool to_device = copy.dstMemoryType == CU_MEMORYTYPE_DEVICE;
  const bool from_device = copy.srcMemoryType == CU_MEMORYTYPE_DEVICE;
  const uint64_t to = (to_device ? copy.dstDevice : reinterpret_cast<uint64_t>(copy.dstHost)) +
                      copy.dstY * copy.dstPitch + copy.dstXInBytes;
  const uint64_t from = (from_device ? copy.srcDevice : reinterpret_cast<uint64_t>(copy.srcHost)) +
                        copy.srcY * copy.srcPitch + copy.srcXInBytes;
  const Range to_range = {.address = to,
                          .bytes = (copy.Height - 1) * copy.dstPitch + copy.WidthInBytes};
  const Range from_range = {.address = from,
                            .bytes = (copy.Height - 1) * copy.srcPitch + copy.WidthInBytes};
  const std::string what = "cuMemcpy2DAsync";
  if ((to_device && !check_range(to_range, what)) ||
      (from_device && !check_range(from_range, what))) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  const auto run = [to, from, rows = copy.Height, width = copy.WidthInBytes,
                    to_pitch = copy.dstPitch, from_pitch = copy.srcPitch] {
    for (size_t row = 0; row < rows; ++row) {
      std::memmove(host(to + row * to_pitch), host(from + row * from_pitch), width);
    }
  };
  const CUresult result =
      submit(*target, {.what = what, .run = run, .ranges = {to_range, from_range}});
  const bool pinned = (to_device || is_pinned(to_range)) && (from_device || is_pinned(from_range));
  if (result == CUDA_SUCCESS && !pinned && target->capture == nullptr) {
    run_until(*target, target->submitted);
  }
  return result;
}

CUresult State::fill(CUdeviceptr to, unsigned char value, size_t bytes, CUstream stream) {
  Stream* const target = find_stream(stream);
  if (target == nullptr) {
    return CUDA_ERROR_INVALID_HANDLE;
  }
  const Range range = {.address = to, .bytes = bytes};
  const std::string what = "cuMemsetD8Async of " + text(bytes);
  if (bytes == 0 || !check_range(range, what)) {
    return bytes == 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
  }
  return submit(*target, {.what = what,
                          .run = [to, value, bytes] { std::memset(host(to), value, bytes); },
                          .ranges = {range}});
}

}  // namespace mynah::gpu::fake
