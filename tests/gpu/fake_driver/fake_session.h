// A fake driver with a device's context current to the thread, and kernels to launch on it.
#pragma once

#include <cstdint>
#include <memory>

#include <gtest/gtest.h>

#include "gpu/fake_driver/loaded_fake.h"

namespace mynah::gpu::fake {

// A kernel of one parameter struct, as mynah's are, and one of two plain parameters.
inline constexpr const char* kScalePtx = R"(//
.version 7.0
.target sm_60
.address_size 64

.visible .entry scale(
	.param .align 8 .b8 scale_param_0[24]
)
.maxntid 256, 1, 1
{
	ret;
}

.visible .entry mark(
	.param .u64 mark_param_0,
	.param .u32 mark_param_1
)
{
	ret;
}
)";

// Parameters of `scale`: data[i] *= factor.
struct Scale {
  CUdeviceptr data = 0;
  int64_t count = 0;
  float factor = 0;
  int padding = 0;
};

inline void scale_on_host(const FakeLaunch& launch) {
  const auto scale = launch.parameter<Scale>(0);
  auto* const data = reinterpret_cast<float*>(scale.data);
  for (int64_t i = 0; i < scale.count; ++i) {
    data[i] *= scale.factor;
  }
}

// A fake with a current context, released at the end.
class Session {
 public:
  explicit Session(int version = 13000, const FakeMachine& machine = {})
      : fake(version, machine), driver(fake.driver()), api(driver->api()) {
    EXPECT_EQ(api.cuInit(0), CUDA_SUCCESS);
    EXPECT_EQ(api.cuDevicePrimaryCtxRetain(&context, 0), CUDA_SUCCESS);
    EXPECT_EQ(api.cuCtxSetCurrent(context), CUDA_SUCCESS);
    fake->clear_calls();
  }

  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  ~Session() {
    EXPECT_EQ(api.cuCtxSetCurrent(nullptr), CUDA_SUCCESS);
    EXPECT_EQ(api.cuDevicePrimaryCtxRelease(0), CUDA_SUCCESS);
  }

  CUdeviceptr allocate(size_t bytes) {
    CUdeviceptr address = 0;
    EXPECT_EQ(api.cuMemAlloc(&address, bytes), CUDA_SUCCESS);
    return address;
  }

  CUstream stream() {
    CUstream made = nullptr;
    EXPECT_EQ(api.cuStreamCreate(&made, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
    return made;
  }

  CUevent event() {
    CUevent made = nullptr;
    EXPECT_EQ(api.cuEventCreate(&made, CU_EVENT_DEFAULT), CUDA_SUCCESS);
    return made;
  }

  CUmodule module() {
    CUmodule made = nullptr;
    EXPECT_EQ(api.cuModuleLoadDataEx(&made, kScalePtx, 0, nullptr, nullptr), CUDA_SUCCESS);
    return made;
  }

  CUfunction function(CUmodule from, const char* name) {
    CUfunction found = nullptr;
    EXPECT_EQ(api.cuModuleGetFunction(&found, from, name), CUDA_SUCCESS);
    return found;
  }

  CUresult launch_scale(CUfunction kernel, Scale scale, CUstream in) {
    void* parameters[] = {&scale};
    return api.cuLaunchKernel(kernel, 1, 1, 1, 32, 1, 1, 0, in, parameters, nullptr);
  }

  LoadedFake fake;
  std::shared_ptr<const Driver> driver;
  const DriverApi& api;
  CUcontext context = nullptr;
};

}  // namespace mynah::gpu::fake
