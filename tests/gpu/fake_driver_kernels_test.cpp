// Kernels, images, captures and graphs of the fake driver.
#include <array>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "gpu/fake_driver/fake_session.h"

namespace mynah::gpu {
namespace {

using fake::FakeLaunch;
using fake::kScalePtx;
using fake::LoadedFake;
using fake::Scale;
using fake::scale_on_host;
using fake::Session;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(FakeDriver, AKernelIsFoundByNameAndRunsWithItsParameters) {
  Session session;
  session.fake->on_launch("scale", scale_on_host);
  const CUmodule module = session.module();
  const CUfunction scale = session.function(module, "scale");
  CUfunction none = nullptr;
  EXPECT_EQ(session.api.cuModuleGetFunction(&none, module, "softmax"), CUDA_ERROR_NOT_FOUND);
  const CUdeviceptr memory = session.allocate(8);
  std::array<float, 2> values = {1.5F, -2.0F};
  EXPECT_EQ(session.api.cuMemcpyHtoDAsync(memory, values.data(), 8, nullptr), CUDA_SUCCESS);
  EXPECT_EQ(session.launch_scale(scale, {.data = memory, .count = 2, .factor = 2}, nullptr),
            CUDA_SUCCESS);
  EXPECT_EQ(session.fake->calls().back().detail,
            "scale, grid 1x1x1, block 32x1x1, shared 0, the default stream");
  EXPECT_EQ(session.api.cuMemcpyDtoHAsync(values.data(), memory, 8, nullptr), CUDA_SUCCESS);
  EXPECT_THAT(values, ElementsAre(3.0F, -4.0F));

  std::vector<std::vector<std::byte>> seen;
  session.fake->on_launch("mark", [&](const FakeLaunch& launch) { seen = launch.parameters; });
  uint64_t first = 5;
  uint32_t second = 6;
  void* parameters[] = {&first, &second};
  EXPECT_EQ(session.api.cuLaunchKernel(session.function(module, "mark"), 2, 3, 4, 8, 1, 1, 0,
                                       nullptr, parameters, nullptr),
            CUDA_SUCCESS);
  ASSERT_EQ(seen.size(), 2U);
  EXPECT_EQ(seen[0].size(), 8U);
  EXPECT_EQ(seen[1].size(), 4U);
  EXPECT_EQ(session.api.cuMemFree(memory), CUDA_SUCCESS);
  EXPECT_EQ(session.api.cuModuleUnload(module), CUDA_SUCCESS);
}

TEST(FakeDriver, LaunchesBeyondTheCardAreRefused) {
  Session session;
  const CUmodule module = session.module();
  const CUfunction scale = session.function(module, "scale");
  Scale argument;
  void* parameters[] = {&argument};
  const auto launch = [&](unsigned grid_x, unsigned grid_y, unsigned block, unsigned shared) {
    return session.api.cuLaunchKernel(scale, grid_x, grid_y, 1, block, 1, 1, shared, nullptr,
                                      parameters, nullptr);
  };
  EXPECT_EQ(launch(1, 1, 256, 0), CUDA_SUCCESS);
  EXPECT_EQ(launch(0, 1, 32, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(launch(1, 65536, 32, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(launch(1, 1, 1025, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(launch(1, 1, 257, 0), CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES);  // its .maxntid
  EXPECT_EQ(launch(1, 1, 32, 64 << 10), CUDA_ERROR_INVALID_VALUE);      // not asked for
  const auto most = CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
  EXPECT_EQ(session.api.cuFuncSetAttribute(scale, most, 100 << 10), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(session.api.cuFuncSetAttribute(scale, most, 64 << 10), CUDA_SUCCESS);
  EXPECT_EQ(launch(1, 1, 32, 64 << 10), CUDA_SUCCESS);
  int value = 0;
  EXPECT_EQ(session.api.cuFuncGetAttribute(&value, most, scale), CUDA_SUCCESS);
  EXPECT_EQ(value, 64 << 10);
  EXPECT_EQ(session.api.cuOccupancyMaxActiveBlocksPerMultiprocessor(&value, scale, 256, 40 << 10),
            CUDA_SUCCESS);
  EXPECT_EQ(value, 2);  // of 100 KiB
  EXPECT_EQ(session.api.cuLaunchKernel(scale, 1, 1, 1, 32, 1, 1, 0, nullptr, nullptr, nullptr),
            CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(session.api.cuModuleUnload(module), CUDA_SUCCESS);
}

TEST(FakeDriver, AKernelIsNotHandedFreedMemory) {
  LoadedFake fake;
  const auto driver = fake.driver();
  const DriverApi& api = driver->api();
  CUcontext context = nullptr;
  CUdeviceptr memory = 0;
  CUmodule module = nullptr;
  CUfunction scale = nullptr;
  api.cuInit(0);
  api.cuDevicePrimaryCtxRetain(&context, 0);
  api.cuCtxSetCurrent(context);
  EXPECT_EQ(api.cuModuleLoadDataEx(&module, kScalePtx, 0, nullptr, nullptr), CUDA_SUCCESS);
  EXPECT_EQ(api.cuModuleGetFunction(&scale, module, "scale"), CUDA_SUCCESS);
  EXPECT_EQ(api.cuMemAlloc(&memory, 64), CUDA_SUCCESS);
  EXPECT_EQ(api.cuMemFree(memory), CUDA_SUCCESS);
  Scale argument = {.data = memory + 32, .count = 1, .factor = 1};
  void* parameters[] = {&argument};
  EXPECT_EQ(api.cuLaunchKernel(scale, 1, 1, 1, 1, 1, 1, 0, nullptr, parameters, nullptr),
            CUDA_ERROR_ILLEGAL_ADDRESS);
  EXPECT_EQ(api.cuCtxSynchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
  EXPECT_THAT(fake->take_problems(),
              ElementsAre("kernel scale is handed memory 1 after it was freed"));
  api.cuCtxSetCurrent(nullptr);
  EXPECT_EQ(api.cuDevicePrimaryCtxRelease(0), CUDA_SUCCESS);
}

// The text with one word changed.
std::string with(const std::string& from, const std::string& to) {
  std::string text = kScalePtx;
  text.replace(text.find(from), from.size(), to);
  return text;
}

TEST(FakeImages, PtxIsCompiledAsTheDriverAndTheCardAllow) {
  Session session(11000, {.cards = {{.compute_major = 7, .compute_minor = 5}}});
  CUmodule module = nullptr;
  const auto load = [&](const std::string& image) {
    return session.api.cuModuleLoadDataEx(&module, image.c_str(), 0, nullptr, nullptr);
  };
  EXPECT_EQ(load(kScalePtx), CUDA_SUCCESS);
  EXPECT_EQ(session.fake->calls().back().detail, "module 1 from PTX");
  EXPECT_EQ(session.api.cuModuleUnload(module), CUDA_SUCCESS);
  EXPECT_EQ(load(with("7.0", "7.1")), CUDA_ERROR_UNSUPPORTED_PTX_VERSION);
  EXPECT_EQ(load(with("sm_60", "sm_80")), CUDA_ERROR_INVALID_PTX);
  EXPECT_EQ(load(with("sm_60", "sm_75")), CUDA_SUCCESS);
  EXPECT_EQ(session.api.cuModuleUnload(module), CUDA_SUCCESS);
  EXPECT_EQ(load(with(".target", ".garget")), CUDA_ERROR_INVALID_PTX);
  EXPECT_EQ(load("\x7f"
                 "ELF"),
            CUDA_ERROR_INVALID_IMAGE);
}

TEST(FakeImages, AnArchitectureWithAnARunsThereOnly) {
  for (const int minor : {0, 3}) {
    Session session(13000, {.cards = {{.compute_major = 9, .compute_minor = minor}}});
    CUmodule module = nullptr;
    const CUresult result = session.api.cuModuleLoadDataEx(&module, with("sm_60", "sm_90a").c_str(),
                                                           0, nullptr, nullptr);
    EXPECT_EQ(result, minor == 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_PTX);
    if (result == CUDA_SUCCESS) {
      EXPECT_EQ(session.api.cuModuleUnload(module), CUDA_SUCCESS);
    }
  }
}

TEST(FakeImages, TheCompilersLogSaysWhatWasWrong) {
  Session session;
  std::array<char, 64> log{};
  std::array names = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  std::array<void*, 2> values = {log.data(), reinterpret_cast<void*>(log.size())};
  CUmodule module = nullptr;
  EXPECT_EQ(session.api.cuModuleLoadDataEx(&module, with("sm_60", "sm_90").c_str(), names.size(),
                                           names.data(), values.data()),
            CUDA_ERROR_INVALID_PTX);
  EXPECT_STREQ(log.data(), ".target sm_90 does not run on sm_89");
  EXPECT_EQ(reinterpret_cast<size_t>(values[1]), std::strlen(log.data()));
}

// Links the text and copies the image out of the link, as a cache does.
std::vector<std::byte> compile(const DriverApi& api, std::string text) {
  CUlinkState link = nullptr;
  EXPECT_EQ(api.cuLinkCreate(0, nullptr, nullptr, &link), CUDA_SUCCESS);
  EXPECT_EQ(api.cuLinkAddData(link, CU_JIT_INPUT_PTX, text.data(), text.size() + 1, "kernels", 0,
                              nullptr, nullptr),
            CUDA_SUCCESS);
  void* image = nullptr;
  size_t bytes = 0;
  EXPECT_EQ(api.cuLinkComplete(link, &image, &bytes), CUDA_SUCCESS);
  const auto* const begin = static_cast<const std::byte*>(image);
  std::vector<std::byte> copy(begin, begin + bytes);
  EXPECT_EQ(api.cuLinkDestroy(link), CUDA_SUCCESS);
  return copy;
}

TEST(FakeImages, ACompiledImageLoadsOnItsArchitectureWhileItIsWhole) {
  std::vector<std::byte> image;
  {
    Session session;
    image = compile(session.api, kScalePtx);
    CUmodule module = nullptr;
    ASSERT_EQ(session.api.cuModuleLoadDataEx(&module, image.data(), 0, nullptr, nullptr),
              CUDA_SUCCESS);
    EXPECT_EQ(session.fake->calls().back().detail, "module 1 compiled");
    EXPECT_NE(session.function(module, "mark"), nullptr);
    EXPECT_EQ(session.api.cuModuleUnload(module), CUDA_SUCCESS);
    std::vector<std::byte> damaged = image;
    damaged.back() ^= std::byte{1};
    EXPECT_EQ(session.api.cuModuleLoadDataEx(&module, damaged.data(), 0, nullptr, nullptr),
              CUDA_ERROR_INVALID_IMAGE);
  }
  Session other(13000, {.cards = {{.compute_major = 8, .compute_minor = 6}}});
  CUmodule module = nullptr;
  EXPECT_EQ(other.api.cuModuleLoadDataEx(&module, image.data(), 0, nullptr, nullptr),
            CUDA_ERROR_NO_BINARY_FOR_GPU);
}

TEST(FakeGraphs, ReplayWhatWasCapturedWithItsParameters) {
  Session session;
  const DriverApi& api = session.api;
  session.fake->on_launch("scale", scale_on_host);
  const CUmodule module = session.module();
  const CUfunction scale = session.function(module, "scale");
  const CUstream stream = session.stream();
  const CUdeviceptr memory = session.allocate(4);
  float value = 3;
  EXPECT_EQ(api.cuMemcpyHtoDAsync(memory, &value, 4, stream), CUDA_SUCCESS);
  EXPECT_EQ(api.cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL), CUDA_SUCCESS);
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  EXPECT_EQ(api.cuStreamIsCapturing(stream, &status), CUDA_SUCCESS);
  EXPECT_EQ(status, CU_STREAM_CAPTURE_STATUS_ACTIVE);
  EXPECT_EQ(session.launch_scale(scale, {.data = memory, .count = 1, .factor = 2}, stream),
            CUDA_SUCCESS);
  EXPECT_EQ(session.launch_scale(scale, {.data = memory, .count = 1, .factor = 5}, stream),
            CUDA_SUCCESS);
  CUgraph graph = nullptr;
  EXPECT_EQ(api.cuStreamEndCapture(stream, &graph), CUDA_SUCCESS);
  EXPECT_EQ(session.fake->calls().back().detail, "graph 1 of 2 steps");
  CUgraphExec executable = nullptr;
  EXPECT_EQ(api.cuGraphInstantiateWithFlags(&executable, graph, 0), CUDA_SUCCESS);
  EXPECT_EQ(api.cuGraphDestroy(graph), CUDA_SUCCESS);
  // Captured, not run.
  EXPECT_EQ(api.cuMemcpyDtoHAsync(&value, memory, 4, stream), CUDA_SUCCESS);
  EXPECT_EQ(value, 3);
  EXPECT_EQ(api.cuGraphLaunch(executable, stream), CUDA_SUCCESS);
  EXPECT_EQ(api.cuGraphLaunch(executable, stream), CUDA_SUCCESS);
  EXPECT_EQ(api.cuMemcpyDtoHAsync(&value, memory, 4, stream), CUDA_SUCCESS);
  EXPECT_EQ(value, 300);
  EXPECT_EQ(api.cuGraphExecDestroy(executable), CUDA_SUCCESS);
  EXPECT_EQ(api.cuMemFree(memory), CUDA_SUCCESS);
  EXPECT_EQ(api.cuModuleUnload(module), CUDA_SUCCESS);
  EXPECT_EQ(api.cuStreamDestroy(stream), CUDA_SUCCESS);
}

TEST(FakeGraphs, WhatTheyReferToIsNotFreedBeforeThem) {
  Session session;
  const DriverApi& api = session.api;
  const CUmodule module = session.module();
  const CUstream stream = session.stream();
  const CUdeviceptr memory = session.allocate(4);
  CUgraph graph = nullptr;
  CUgraphExec executable = nullptr;
  EXPECT_EQ(api.cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED), CUDA_SUCCESS);
  EXPECT_EQ(session.launch_scale(session.function(module, "scale"), {.data = memory}, stream),
            CUDA_SUCCESS);
  EXPECT_EQ(api.cuStreamEndCapture(stream, &graph), CUDA_SUCCESS);
  EXPECT_EQ(api.cuGraphInstantiate(&executable, graph, nullptr, nullptr, 0), CUDA_SUCCESS);
  EXPECT_EQ(api.cuGraphDestroy(graph), CUDA_SUCCESS);
  EXPECT_EQ(api.cuMemFree(memory), CUDA_SUCCESS);
  EXPECT_EQ(api.cuGraphLaunch(executable, stream), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(api.cuModuleUnload(module), CUDA_SUCCESS);
  EXPECT_EQ(api.cuGraphExecDestroy(executable), CUDA_SUCCESS);
  EXPECT_EQ(api.cuGraphLaunch(executable, stream), CUDA_ERROR_INVALID_VALUE);
  EXPECT_THAT(session.fake->take_problems(),
              ElementsAre("memory 1 is freed while executable graph 1 refers to it",
                          "executable graph 1 uses memory 1 after it was freed",
                          "module 1 is unloaded while executable graph 1 launches its kernels",
                          "executable graph 1 is used after its end"));
  EXPECT_EQ(api.cuStreamDestroy(stream), CUDA_SUCCESS);
}

// What may not be called while a stream is captured, and what becomes of the capture.
struct Forbidden {
  const char* what;
  CUresult (*call)(const DriverApi& api, CUstream stream);
  bool relaxed_too;
};

class InCapture : public ::testing::TestWithParam<Forbidden> {};

TEST_P(InCapture, IsRefusedAndSpoilsTheCapture) {
  Session session;
  const DriverApi& api = session.api;
  const CUstream stream = session.stream();
  for (const auto mode : {CU_STREAM_CAPTURE_MODE_GLOBAL, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL,
                          CU_STREAM_CAPTURE_MODE_RELAXED}) {
    const bool forbidden = mode != CU_STREAM_CAPTURE_MODE_RELAXED || GetParam().relaxed_too;
    EXPECT_EQ(api.cuStreamBeginCapture(stream, mode), CUDA_SUCCESS);
    EXPECT_EQ(GetParam().call(api, stream),
              forbidden ? CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED : CUDA_SUCCESS)
        << mode;
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    EXPECT_EQ(api.cuStreamIsCapturing(stream, &status), CUDA_SUCCESS);
    EXPECT_EQ(status,
              forbidden ? CU_STREAM_CAPTURE_STATUS_INVALIDATED : CU_STREAM_CAPTURE_STATUS_ACTIVE);
    CUgraph graph = nullptr;
    EXPECT_EQ(api.cuStreamEndCapture(stream, &graph),
              forbidden ? CUDA_ERROR_STREAM_CAPTURE_INVALIDATED : CUDA_SUCCESS);
    if (graph != nullptr) {
      EXPECT_EQ(api.cuGraphDestroy(graph), CUDA_SUCCESS);
    }
  }
  EXPECT_EQ(api.cuStreamDestroy(stream), CUDA_SUCCESS);
  // The fake has an opinion of its own on memory pools in a capture.
  static_cast<void>(session.fake->take_problems());
}

INSTANTIATE_TEST_SUITE_P(
    Calls, InCapture,
    ::testing::Values(
        Forbidden{"cuMemAlloc",
                  [](const DriverApi& api, CUstream) {
                    CUdeviceptr memory = 0;
                    const CUresult result = api.cuMemAlloc(&memory, 4);
                    return result == CUDA_SUCCESS ? api.cuMemFree(memory) : result;
                  },
                  false},
        Forbidden{"cuMemAllocAsync",
                  [](const DriverApi& api, CUstream stream) {
                    CUdeviceptr memory = 0;
                    return api.cuMemAllocAsync(&memory, 4, stream);
                  },
                  true},
        Forbidden{"cuMemHostAlloc",
                  [](const DriverApi& api, CUstream) {
                    void* memory = nullptr;
                    const CUresult result = api.cuMemHostAlloc(&memory, 4, 0);
                    return result == CUDA_SUCCESS ? api.cuMemFreeHost(memory) : result;
                  },
                  false},
        Forbidden{"cuModuleLoadDataEx",
                  [](const DriverApi& api, CUstream) {
                    CUmodule module = nullptr;
                    const CUresult result =
                        api.cuModuleLoadDataEx(&module, kScalePtx, 0, nullptr, nullptr);
                    return result == CUDA_SUCCESS ? api.cuModuleUnload(module) : result;
                  },
                  false},
        Forbidden{
            "cuStreamSynchronize",
            [](const DriverApi& api, CUstream stream) { return api.cuStreamSynchronize(stream); },
            true},
        Forbidden{"cuStreamQuery",
                  [](const DriverApi& api, CUstream stream) { return api.cuStreamQuery(stream); },
                  true},
        Forbidden{"cuCtxSynchronize",
                  [](const DriverApi& api, CUstream) { return api.cuCtxSynchronize(); }, true}),
    [](const auto& each) { return std::string(each.param.what); });

TEST(FakeGraphs, CapturesBeginAndEndInOneStreamAndThread) {
  Session session;
  const DriverApi& api = session.api;
  const CUstream stream = session.stream();
  CUgraph graph = nullptr;
  EXPECT_EQ(api.cuStreamBeginCapture(nullptr, CU_STREAM_CAPTURE_MODE_GLOBAL),
            CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  EXPECT_EQ(api.cuStreamEndCapture(stream, &graph), CUDA_ERROR_ILLEGAL_STATE);
  EXPECT_EQ(api.cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL), CUDA_SUCCESS);
  EXPECT_EQ(api.cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL),
            CUDA_ERROR_ILLEGAL_STATE);
  std::thread other([&] {
    EXPECT_EQ(api.cuCtxSetCurrent(session.context), CUDA_SUCCESS);
    CUgraph theirs = nullptr;
    EXPECT_EQ(api.cuStreamEndCapture(stream, &theirs), CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD);
    EXPECT_EQ(theirs, nullptr);
  });
  other.join();
  EXPECT_EQ(api.cuStreamEndCapture(stream, &graph), CUDA_SUCCESS);
  EXPECT_EQ(api.cuGraphDestroy(graph), CUDA_SUCCESS);
  EXPECT_EQ(api.cuStreamDestroy(stream), CUDA_SUCCESS);
}

TEST(FakeGraphs, EventsDoNotCrossTheBorderOfACapture) {
  Session session;
  const DriverApi& api = session.api;
  const CUstream stream = session.stream();
  const CUstream other = session.stream();
  const CUevent before = session.event();
  const CUevent within = session.event();
  EXPECT_EQ(api.cuEventRecord(before, stream), CUDA_SUCCESS);
  EXPECT_EQ(api.cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED), CUDA_SUCCESS);
  EXPECT_EQ(api.cuEventRecord(within, stream), CUDA_SUCCESS);
  EXPECT_EQ(api.cuStreamWaitEvent(stream, within, 0), CUDA_SUCCESS);
  EXPECT_EQ(api.cuEventQuery(within), CUDA_ERROR_CAPTURED_EVENT);
  EXPECT_EQ(api.cuEventSynchronize(within), CUDA_ERROR_CAPTURED_EVENT);
  EXPECT_EQ(api.cuStreamWaitEvent(other, within, 0), CUDA_ERROR_NOT_SUPPORTED);
  EXPECT_THAT(session.fake->take_problems(), ElementsAre(HasSubstr("does not fork")));
  EXPECT_EQ(api.cuStreamWaitEvent(stream, before, 0), CUDA_ERROR_STREAM_CAPTURE_ISOLATION);
  CUgraph graph = nullptr;
  EXPECT_EQ(api.cuStreamEndCapture(stream, &graph), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  for (const CUevent event : {before, within}) {
    EXPECT_EQ(api.cuEventDestroy(event), CUDA_SUCCESS);
  }
  for (const CUstream each : {stream, other}) {
    EXPECT_EQ(api.cuStreamDestroy(each), CUDA_SUCCESS);
  }
}

TEST(FakeDriver, TensorMapsSayWhatTheyWereMadeOf) {
  Session session(12000);
  const CUdeviceptr memory = session.allocate(4096);
  CUtensorMap map{};
  const std::array<uint64_t, 2> sizes = {32, 64};
  const std::array<uint64_t, 1> strides = {64};
  const std::array<uint32_t, 2> box = {32, 8};
  const std::array<uint32_t, 2> steps = {1, 1};
  const auto encode = [&](CUdeviceptr address) {
    return session.api.cuTensorMapEncodeTiled(
        &map, CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 2, reinterpret_cast<void*>(address), sizes.data(),
        strides.data(), box.data(), steps.data(), CU_TENSOR_MAP_INTERLEAVE_NONE,
        CU_TENSOR_MAP_SWIZZLE_64B, CU_TENSOR_MAP_L2_PROMOTION_NONE,
        CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  };
  EXPECT_EQ(encode(memory + 4), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(encode(memory), CUDA_SUCCESS);
  EXPECT_EQ(map.opaque[0], memory);
  EXPECT_EQ(map.opaque[4], 64U);
  EXPECT_EQ(session.api.cuMemFree(memory), CUDA_SUCCESS);
}

}  // namespace
}  // namespace mynah::gpu
