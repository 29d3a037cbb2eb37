// Staging: pinned memory that copies to and from a card go by way of.
#pragma once

#include <cstddef>
#include <memory>

#include "gpu/driver_library.h"

namespace mynah::cuda {

// The driver copies from pinned memory while the caller goes on; from any other it waits, or makes
// a copy of its own. One thread at a time; the card's context is current in every call.
class Staging {
 public:
  Staging(const gpu::DriverApi& api, gpu::CUstream stream) : api_(api), stream_(stream) {}

  ~Staging();
  Staging(const Staging&) = delete;
  Staging& operator=(const Staging&) = delete;

  // Two halves, of which one is filled while the other one is copied.
  gpu::CUresult prepare();

  // Returns when `source` may change; the card has the bytes before what the stream is told later.
  gpu::CUresult upload(const void* source, gpu::CUdeviceptr out, size_t bytes);

  // Returns when the bytes are there.
  gpu::CUresult download(gpu::CUdeviceptr x, void* destination, size_t bytes);

 private:
  static constexpr size_t kHalfBytes = 1 << 20;

  struct Half {
    std::byte* memory = nullptr;
    gpu::CUevent copied = nullptr;
    size_t used = 0;
  };

  // Makes the half that is filled next free for `bytes`.
  gpu::CUresult make_room(size_t bytes);

  const gpu::DriverApi& api_;
  gpu::CUstream stream_;
  Half halves_[2];
  int filling_ = 0;
};

}  // namespace mynah::cuda
