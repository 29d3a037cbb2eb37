// The backends that tiny models are run on against their references.
#pragma once

#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "backend/cpu/cpu_backend.h"
#include "backend/cuda/cuda_backend.h"
#include "backend/ref/ref_backend.h"
#include "base/thread_pool.h"

namespace mynah::test {

// ref, the processor or the simulated card; null where it cannot be made, which has then failed the
// test.
inline std::unique_ptr<Backend> golden_backend(DeviceKind device, ThreadPool& pool) {
  if (device == DeviceKind::Ref) {
    return std::make_unique<RefBackend>();
  }
  if (device == DeviceKind::Simt) {
    return make_simt_backend(pool, {.check_shared = false});
  }
  auto made = make_cpu_backend(pool);
  if (!made) {
    ADD_FAILURE() << made.error().message;
    return nullptr;
  }
  return std::move(*made);
}

// Of a test's name.
inline std::string golden_device(DeviceKind device) {
  return device == DeviceKind::Ref ? "ref" : device == DeviceKind::Simt ? "simt" : "cpu";
}

}  // namespace mynah::test
