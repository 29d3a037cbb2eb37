#include "backend/cuda/driver/staging.h"

#include <algorithm>
#include <cstring>

namespace mynah::cuda {

using gpu::CUDA_SUCCESS;
using gpu::CUdeviceptr;
using gpu::CUresult;

namespace {

// What is copied together begins at whole cache lines.
constexpr size_t kAlignment = 64;

}  // namespace

Staging::~Staging() {
  for (Half& half : halves_) {
    if (half.copied != nullptr) {
      api_.cuEventDestroy(half.copied);
    }
    if (half.memory != nullptr) {
      api_.cuMemFreeHost(half.memory);
    }
  }
}

CUresult Staging::prepare() {
  for (Half& half : halves_) {
    void* memory = nullptr;
    if (const CUresult result = api_.cuMemHostAlloc(&memory, kHalfBytes, 0);
        result != CUDA_SUCCESS) {
      return result;
    }
    half.memory = static_cast<std::byte*>(memory);
    if (const CUresult result = api_.cuEventCreate(&half.copied, gpu::CU_EVENT_DISABLE_TIMING);
        result != CUDA_SUCCESS) {
      return result;
    }
  }
  return CUDA_SUCCESS;
}

CUresult Staging::make_room(size_t bytes) {
  if (halves_[filling_].used + bytes <= kHalfBytes) {
    return CUDA_SUCCESS;
  }
  if (const CUresult result = api_.cuEventRecord(halves_[filling_].copied, stream_);
      result != CUDA_SUCCESS) {
    return result;
  }
  filling_ = 1 - filling_;
  halves_[filling_].used = 0;
  // An event that was never recorded is no reason to wait.
  return api_.cuEventSynchronize(halves_[filling_].copied);
}

CUresult Staging::upload(const void* source, CUdeviceptr out, size_t bytes) {
  const auto* from = static_cast<const std::byte*>(source);
  while (bytes > 0) {
    const size_t part = std::min(bytes, kHalfBytes);
    if (const CUresult result = make_room(part); result != CUDA_SUCCESS) {
      return result;
    }
    Half& half = halves_[filling_];
    std::byte* const pinned = half.memory + half.used;
    std::memcpy(pinned, from, part);
    half.used = std::min(kHalfBytes, (half.used + part + kAlignment - 1) / kAlignment * kAlignment);
    if (const CUresult result = api_.cuMemcpyHtoDAsync(out, pinned, part, stream_);
        result != CUDA_SUCCESS) {
      return result;
    }
    from += part;
    out += part;
    bytes -= part;
  }
  return CUDA_SUCCESS;
}

CUresult Staging::download(CUdeviceptr x, void* destination, size_t bytes) {
  auto* to = static_cast<std::byte*>(destination);
  do {
    const size_t part = std::min(bytes, kHalfBytes);
    if (const CUresult result = make_room(part); result != CUDA_SUCCESS) {
      return result;
    }
    Half& half = halves_[filling_];
    std::byte* const pinned = half.memory + half.used;
    if (part > 0) {
      if (const CUresult result = api_.cuMemcpyDtoHAsync(pinned, x, part, stream_);
          result != CUDA_SUCCESS) {
        return result;
      }
    }
    if (const CUresult result = api_.cuStreamSynchronize(stream_); result != CUDA_SUCCESS) {
      return result;
    }
    std::memcpy(to, pinned, part);
    // All is copied now, in both halves.
    halves_[0].used = 0;
    halves_[1].used = 0;
    to += part;
    x += part;
    bytes -= part;
  } while (bytes > 0);
  return CUDA_SUCCESS;
}

}  // namespace mynah::cuda
