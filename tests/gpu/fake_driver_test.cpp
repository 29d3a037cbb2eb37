// The fake driver itself: a test that leans on it can trust that it does and refuses what a driver
// does.
#include <array>
#include <cmath>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "gpu/fake_driver/fake_session.h"

namespace mynah::gpu {
namespace {

using fake::FakeCall;
using fake::FakeCard;
using fake::FakeExecution;
using fake::FakeMachine;
using fake::kScalePtx;
using fake::LoadedFake;
using fake::Session;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(FakeDriver, CallsAreRecordedInOrderWithTheirResults) {
  Session session;
  const CUdeviceptr memory = session.allocate(256);
  EXPECT_EQ(session.api.cuMemFree(memory), CUDA_SUCCESS);
  CUdeviceptr none = 0;
  EXPECT_EQ(session.api.cuMemAlloc(&none, 0), CUDA_ERROR_INVALID_VALUE);
  const std::vector<FakeCall> calls = session.fake->calls();
  ASSERT_EQ(calls.size(), 3U);
  EXPECT_EQ(calls[0].function, "cuMemAlloc");
  EXPECT_EQ(calls[0].detail, "256 bytes: memory 1");
  EXPECT_EQ(calls[1].function, "cuMemFree");
  EXPECT_EQ(calls[1].detail, "memory 1");
  EXPECT_EQ(calls[2].result, CUDA_ERROR_INVALID_VALUE);
}

TEST(FakeDriver, TheNthCallFailsAndNoOther) {
  Session session;
  session.fake->fail({.function = "cuMemAlloc", .result = CUDA_ERROR_OUT_OF_MEMORY, .nth = 2});
  const CUdeviceptr first = session.allocate(64);
  CUdeviceptr second = 0;
  EXPECT_EQ(session.api.cuMemAlloc(&second, 64), CUDA_ERROR_OUT_OF_MEMORY);
  const CUdeviceptr third = session.allocate(64);
  EXPECT_EQ(session.api.cuMemFree(first), CUDA_SUCCESS);
  EXPECT_EQ(session.api.cuMemFree(third), CUDA_SUCCESS);
}

TEST(FakeDriver, ADeadContextAnswersTheSameToEveryCall) {
  const FakeMachine machine;
  LoadedFake fake(13000, machine);
  const auto driver = fake.driver();
  const DriverApi& api = driver->api();
  CUcontext context = nullptr;
  CUdeviceptr memory = 0;
  api.cuInit(0);
  api.cuDevicePrimaryCtxRetain(&context, 0);
  api.cuCtxSetCurrent(context);
  EXPECT_EQ(api.cuMemAlloc(&memory, 64), CUDA_SUCCESS);
  fake->fail({.function = "cuCtxSynchronize", .result = CUDA_ERROR_ILLEGAL_ADDRESS});
  EXPECT_EQ(api.cuCtxSynchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
  EXPECT_EQ(api.cuMemFree(memory), CUDA_ERROR_ILLEGAL_ADDRESS);
  EXPECT_EQ(api.cuStreamSynchronize(nullptr), CUDA_ERROR_ILLEGAL_ADDRESS);
  // A device that is lost does so with an error that alone would not.
  EXPECT_EQ(api.cuDevicePrimaryCtxRelease(0), CUDA_SUCCESS);
  api.cuCtxSetCurrent(nullptr);
  EXPECT_EQ(api.cuDevicePrimaryCtxRetain(&context, 0), CUDA_SUCCESS);
  api.cuCtxSetCurrent(context);
  fake->fail({.function = "cuCtxSynchronize", .result = CUDA_ERROR_UNKNOWN, .kills_context = true});
  EXPECT_EQ(api.cuCtxSynchronize(), CUDA_ERROR_UNKNOWN);
  EXPECT_EQ(api.cuMemAlloc(&memory, 64), CUDA_ERROR_UNKNOWN);
  EXPECT_EQ(api.cuDevicePrimaryCtxRelease(0), CUDA_SUCCESS);
  // Memory that died with its context is no leak.
  EXPECT_THAT(fake->leaks(), IsEmpty());
}

TEST(FakeDriver, MemoryEndsWhereTheCardsDoes) {
  Session session(13000, {.cards = {{.memory_bytes = 1024}}});
  const CUdeviceptr most = session.allocate(1000);
  size_t free = 0;
  size_t total = 0;
  EXPECT_EQ(session.api.cuMemGetInfo(&free, &total), CUDA_SUCCESS);
  EXPECT_EQ(free, 24U);
  EXPECT_EQ(total, 1024U);
  CUdeviceptr more = 0;
  EXPECT_EQ(session.api.cuMemAlloc(&more, 25), CUDA_ERROR_OUT_OF_MEMORY);
  EXPECT_EQ(session.api.cuMemFree(most), CUDA_SUCCESS);
  more = session.allocate(1024);
  EXPECT_EQ(session.api.cuMemFree(more), CUDA_SUCCESS);
}

TEST(FakeDriver, FreshMemoryIsNotANumber) {
  Session session;
  const CUdeviceptr memory = session.allocate(64);
  std::array<float, 16> values{};
  EXPECT_EQ(session.api.cuMemcpyDtoHAsync(values.data(), memory, 64, nullptr), CUDA_SUCCESS);
  for (const float value : values) {
    EXPECT_TRUE(std::isnan(value));
  }
  EXPECT_EQ(session.api.cuMemFree(memory), CUDA_SUCCESS);
}

TEST(FakeDriver, CopiesInBothDimensionsAndFills) {
  Session session;
  const CUdeviceptr memory = session.allocate(64);
  const std::array<char, 6> rows = {'a', 'b', 'c', 'd', 'e', 'f'};  // two of three
  EXPECT_EQ(session.api.cuMemsetD8Async(memory, '-', 64, nullptr), CUDA_SUCCESS);
  CUmemcpy2D copy;
  copy.srcMemoryType = CU_MEMORYTYPE_HOST;
  copy.srcHost = rows.data();
  copy.srcPitch = 3;
  copy.srcXInBytes = 1;
  copy.dstDevice = memory;
  copy.dstPitch = 4;
  copy.WidthInBytes = 2;
  copy.Height = 2;
  EXPECT_EQ(session.api.cuMemcpy2DAsync(&copy, nullptr), CUDA_SUCCESS);
  const CUdeviceptr other = session.allocate(8);
  EXPECT_EQ(session.api.cuMemcpyDtoDAsync(other, memory, 8, nullptr), CUDA_SUCCESS);
  std::array<char, 8> found{};
  EXPECT_EQ(session.api.cuMemcpyDtoHAsync(found.data(), other, 8, nullptr), CUDA_SUCCESS);
  EXPECT_EQ(std::string(found.data(), 8), "bc--ef--");
  EXPECT_EQ(session.api.cuMemFree(memory), CUDA_SUCCESS);
  EXPECT_EQ(session.api.cuMemFree(other), CUDA_SUCCESS);
}

TEST(FakeDriver, AddressesThatAreNotOursAreProblems) {
  Session session;
  const CUdeviceptr memory = session.allocate(64);
  std::array<char, 65> bytes{};
  EXPECT_EQ(session.api.cuMemcpyHtoDAsync(memory, bytes.data(), 65, nullptr),
            CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(session.api.cuMemcpyHtoDAsync(8, bytes.data(), 8, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(session.api.cuMemFree(memory + 8), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(session.api.cuMemFree(memory), CUDA_SUCCESS);
  EXPECT_EQ(session.api.cuMemFree(memory), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(session.api.cuMemcpyHtoDAsync(memory, bytes.data(), 8, nullptr),
            CUDA_ERROR_INVALID_VALUE);
  EXPECT_THAT(
      session.fake->take_problems(),
      ElementsAre("cuMemcpyHtoDAsync of 65 bytes runs past the end of memory 1",
                  "cuMemcpyHtoDAsync of 8 bytes uses an address that is no device memory",
                  "cuMemFree of an address that cuMemAlloc did not give", "memory 1 is freed twice",
                  "cuMemcpyHtoDAsync of 8 bytes uses memory 1 after it was freed"));
}

TEST(FakeDriver, WorkOfAStreamIsDoneWhenSomethingWaitsForIt) {
  Session session;
  const CUstream stream = session.stream();
  const CUdeviceptr memory = session.allocate(4);
  void* pinned = nullptr;
  EXPECT_EQ(session.api.cuMemHostAlloc(&pinned, 4, CU_MEMHOSTALLOC_PORTABLE), CUDA_SUCCESS);
  auto* const value = static_cast<int*>(pinned);
  *value = 1;
  EXPECT_EQ(session.api.cuMemcpyHtoDAsync(memory, value, 4, stream), CUDA_SUCCESS);
  *value = 2;  // too early: the copy has not begun
  EXPECT_EQ(session.api.cuStreamQuery(stream), CUDA_ERROR_NOT_READY);
  EXPECT_EQ(session.api.cuStreamQuery(stream), CUDA_SUCCESS);
  int found = 0;
  // To memory that is not pinned a copy is there when the call returns.
  EXPECT_EQ(session.api.cuMemcpyDtoHAsync(&found, memory, 4, stream), CUDA_SUCCESS);
  EXPECT_EQ(found, 2);
  *value = 3;
  EXPECT_EQ(session.api.cuMemcpyHtoDAsync(memory, value, 4, stream), CUDA_SUCCESS);
  EXPECT_EQ(session.api.cuStreamSynchronize(stream), CUDA_SUCCESS);
  *value = 4;
  EXPECT_EQ(session.api.cuMemcpyDtoHAsync(&found, memory, 4, stream), CUDA_SUCCESS);
  EXPECT_EQ(found, 3);
  EXPECT_EQ(session.api.cuMemFreeHost(pinned), CUDA_SUCCESS);
  EXPECT_EQ(session.api.cuMemFree(memory), CUDA_SUCCESS);
  EXPECT_EQ(session.api.cuStreamDestroy(stream), CUDA_SUCCESS);
}

TEST(FakeDriver, OrDoneAtOnceWhereATestWantsThat) {
  Session session(13000, {.execution = FakeExecution::Immediate});
  const CUstream stream = session.stream();
  const CUdeviceptr memory = session.allocate(4);
  EXPECT_EQ(session.api.cuMemsetD8Async(memory, 0, 4, stream), CUDA_SUCCESS);
  EXPECT_EQ(session.api.cuStreamQuery(stream), CUDA_SUCCESS);
  EXPECT_EQ(session.api.cuMemFree(memory), CUDA_SUCCESS);
  EXPECT_EQ(session.api.cuStreamDestroy(stream), CUDA_SUCCESS);
}

TEST(FakeDriver, AStreamWaitsForAnEventOfAnother) {
  Session session;
  const CUstream writer = session.stream();
  const CUstream reader = session.stream();
  const CUdeviceptr memory = session.allocate(1);
  const CUdeviceptr copy = session.allocate(1);
  const CUevent written = session.event();
  EXPECT_EQ(session.api.cuEventQuery(written), CUDA_SUCCESS);  // never recorded
  EXPECT_EQ(session.api.cuMemsetD8Async(memory, 7, 1, writer), CUDA_SUCCESS);
  EXPECT_EQ(session.api.cuEventRecord(written, writer), CUDA_SUCCESS);
  EXPECT_EQ(session.api.cuStreamWaitEvent(reader, written, 0), CUDA_SUCCESS);
  EXPECT_EQ(session.api.cuMemcpyDtoDAsync(copy, memory, 1, reader), CUDA_SUCCESS);
  EXPECT_EQ(session.api.cuEventQuery(written), CUDA_ERROR_NOT_READY);
  unsigned char found = 0;
  EXPECT_EQ(session.api.cuMemcpyDtoHAsync(&found, copy, 1, reader), CUDA_SUCCESS);
  EXPECT_EQ(found, 7);
  const CUevent after = session.event();
  float ms = 0;
  EXPECT_EQ(session.api.cuEventRecord(after, reader), CUDA_SUCCESS);
  EXPECT_EQ(session.api.cuEventElapsedTime(&ms, written, after), CUDA_ERROR_NOT_READY);
  EXPECT_EQ(session.api.cuEventSynchronize(after), CUDA_SUCCESS);
  EXPECT_EQ(session.api.cuEventElapsedTime(&ms, written, after), CUDA_SUCCESS);
  EXPECT_GT(ms, 0);
  for (const CUevent event : {written, after}) {
    EXPECT_EQ(session.api.cuEventDestroy(event), CUDA_SUCCESS);
  }
  for (const CUstream stream : {writer, reader}) {
    EXPECT_EQ(session.api.cuStreamDestroy(stream), CUDA_SUCCESS);
  }
  for (const CUdeviceptr address : {memory, copy}) {
    EXPECT_EQ(session.api.cuMemFree(address), CUDA_SUCCESS);
  }
}

TEST(FakeDriver, TheDefaultStreamWaitsForThoseThatDidNotAskToBeLeftAlone) {
  Session session;
  const DriverApi& api = session.api;
  CUstream blocking = nullptr;
  EXPECT_EQ(api.cuStreamCreate(&blocking, CU_STREAM_DEFAULT), CUDA_SUCCESS);
  const CUstream alone = session.stream();
  const CUdeviceptr memory = session.allocate(2);
  EXPECT_EQ(api.cuMemsetD8Async(memory, 7, 1, blocking), CUDA_SUCCESS);
  EXPECT_EQ(api.cuMemsetD8Async(memory + 1, 7, 1, alone), CUDA_SUCCESS);
  std::array<unsigned char, 2> found{};
  EXPECT_EQ(api.cuMemcpyDtoHAsync(found.data(), memory, 2, nullptr), CUDA_SUCCESS);
  EXPECT_THAT(found, ElementsAre(7, 0xFF));
  EXPECT_EQ(api.cuStreamBeginCapture(blocking, CU_STREAM_CAPTURE_MODE_RELAXED), CUDA_SUCCESS);
  EXPECT_EQ(api.cuMemsetD8Async(memory, 8, 1, nullptr), CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
  EXPECT_THAT(session.fake->take_problems(), ElementsAre(HasSubstr("while stream 1 is captured")));
  CUgraph graph = nullptr;
  EXPECT_EQ(api.cuStreamEndCapture(blocking, &graph), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  EXPECT_EQ(api.cuMemFree(memory), CUDA_SUCCESS);
  EXPECT_EQ(api.cuStreamDestroy(blocking), CUDA_SUCCESS);
  EXPECT_EQ(api.cuStreamDestroy(alone), CUDA_SUCCESS);
}

TEST(FakeDriver, PinnedMemoryIsNotFreedUnderACopy) {
  Session session;
  const CUstream stream = session.stream();
  const CUdeviceptr memory = session.allocate(4);
  void* pinned = nullptr;
  EXPECT_EQ(session.api.cuMemHostAlloc(&pinned, 4, 0), CUDA_SUCCESS);
  EXPECT_EQ(session.api.cuMemcpyHtoDAsync(memory, pinned, 4, stream), CUDA_SUCCESS);
  EXPECT_EQ(session.api.cuMemFreeHost(pinned), CUDA_SUCCESS);
  EXPECT_THAT(session.fake->take_problems(),
              ElementsAre("pinned memory 1 is freed while stream 1 has yet to use it"));
  EXPECT_EQ(session.api.cuMemFreeHost(pinned), CUDA_ERROR_INVALID_VALUE);
  EXPECT_THAT(session.fake->take_problems(), ElementsAre(HasSubstr("or twice")));
  EXPECT_EQ(session.api.cuMemFree(memory), CUDA_SUCCESS);
  EXPECT_EQ(session.api.cuStreamDestroy(stream), CUDA_SUCCESS);
}

TEST(FakeDriver, PoolsFreeInTheOrderOfTheStream) {
  Session session(11020);
  const DriverApi& api = session.api;
  const CUstream stream = session.stream();
  const CUstream other = session.stream();
  CUdeviceptr memory = 0;
  EXPECT_EQ(api.cuMemAllocAsync(&memory, 64, stream), CUDA_SUCCESS);
  EXPECT_EQ(api.cuMemsetD8Async(memory, 1, 64, stream), CUDA_SUCCESS);
  EXPECT_EQ(api.cuMemsetD8Async(memory, 2, 64, other), CUDA_SUCCESS);
  EXPECT_EQ(api.cuMemFreeAsync(memory, stream), CUDA_SUCCESS);
  EXPECT_EQ(api.cuMemsetD8Async(memory, 3, 64, stream), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(api.cuMemFreeAsync(memory, stream), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(api.cuStreamSynchronize(stream), CUDA_SUCCESS);
  EXPECT_EQ(api.cuStreamSynchronize(other), CUDA_SUCCESS);
  EXPECT_THAT(
      session.fake->take_problems(),
      ElementsAre("cuMemsetD8Async of 64 bytes uses memory 1 after it was freed",
                  "memory 1 is freed twice", "memory 1 is freed while stream 2 has yet to use it",
                  "cuMemsetD8Async of 64 bytes uses memory 1 after it was freed"));
  CUmemoryPool pool = nullptr;
  uint64_t reserved = 0;
  EXPECT_EQ(api.cuDeviceGetDefaultMemPool(&pool, 0), CUDA_SUCCESS);
  EXPECT_EQ(api.cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT, &reserved),
            CUDA_SUCCESS);
  EXPECT_EQ(reserved, 64U);
  EXPECT_EQ(api.cuMemPoolTrimTo(pool, 0), CUDA_SUCCESS);
  EXPECT_EQ(api.cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT, &reserved),
            CUDA_SUCCESS);
  EXPECT_EQ(reserved, 0U);
  uint64_t threshold = 1 << 20;
  EXPECT_EQ(api.cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &threshold),
            CUDA_SUCCESS);
  EXPECT_EQ(api.cuStreamDestroy(stream), CUDA_SUCCESS);
  EXPECT_EQ(api.cuStreamDestroy(other), CUDA_SUCCESS);
}

TEST(FakeDriver, WhatIsLeftIsALeak) {
  LoadedFake fake;
  const auto driver = fake.driver();
  const DriverApi& api = driver->api();
  CUcontext context = nullptr;
  api.cuInit(0);
  api.cuDevicePrimaryCtxRetain(&context, 0);
  api.cuCtxSetCurrent(context);
  CUdeviceptr memory = 0;
  void* pinned = nullptr;
  CUstream stream = nullptr;
  CUevent event = nullptr;
  CUmodule module = nullptr;
  CUfunction function = nullptr;
  CUlinkState link = nullptr;
  CUgraph graph = nullptr;
  CUgraphExec executable = nullptr;
  EXPECT_EQ(api.cuMemAlloc(&memory, 64), CUDA_SUCCESS);
  EXPECT_EQ(api.cuMemHostAlloc(&pinned, 32, 0), CUDA_SUCCESS);
  EXPECT_EQ(api.cuStreamCreate(&stream, 0), CUDA_SUCCESS);
  EXPECT_EQ(api.cuEventCreate(&event, 0), CUDA_SUCCESS);
  EXPECT_EQ(api.cuModuleLoadDataEx(&module, kScalePtx, 0, nullptr, nullptr), CUDA_SUCCESS);
  EXPECT_EQ(api.cuModuleGetFunction(&function, module, "scale"), CUDA_SUCCESS);
  EXPECT_EQ(api.cuLinkCreate(0, nullptr, nullptr, &link), CUDA_SUCCESS);
  EXPECT_EQ(api.cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED), CUDA_SUCCESS);
  EXPECT_EQ(api.cuStreamEndCapture(stream, &graph), CUDA_SUCCESS);
  EXPECT_EQ(api.cuGraphInstantiate(&executable, graph, nullptr, nullptr, 0), CUDA_SUCCESS);
  EXPECT_THAT(fake->leaks(),
              ElementsAre("context 1 is still retained", "event 1 was not destroyed",
                          "executable graph 1 was not destroyed", "graph 1 was not destroyed",
                          "link 1 was not destroyed", "memory 1 of 64 bytes was not freed",
                          "module 1 was not destroyed", "pinned memory 1 of 32 bytes was not freed",
                          "stream 1 was not destroyed"));
  const fake::FakeUse use = fake->in_use();
  EXPECT_EQ(use.device_bytes, 64U);
  EXPECT_EQ(use.allocations + use.pinned + use.streams + use.events + use.modules + use.links +
                use.graphs + use.executables,
            8U);
  EXPECT_EQ(use.retains, 1);
  // Released all the same, each is a problem, and none is left.
  api.cuCtxSetCurrent(nullptr);
  EXPECT_EQ(api.cuDevicePrimaryCtxRelease(0), CUDA_SUCCESS);
  EXPECT_EQ(fake->take_problems().size(), 8U);
  EXPECT_THAT(fake->leaks(), IsEmpty());
}

TEST(FakeDriver, HandlesDoNotOutliveWhatTheyName) {
  Session session;
  const CUstream stream = session.stream();
  const CUevent event = session.event();
  EXPECT_EQ(session.api.cuStreamDestroy(stream), CUDA_SUCCESS);
  EXPECT_EQ(session.api.cuStreamSynchronize(stream), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(session.api.cuEventDestroy(event), CUDA_SUCCESS);
  EXPECT_EQ(session.api.cuEventDestroy(event), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(session.api.cuEventRecord(reinterpret_cast<CUevent>(stream), nullptr),
            CUDA_ERROR_INVALID_HANDLE);
  EXPECT_THAT(session.fake->take_problems(),
              ElementsAre("stream 1 is used after its end", "event 1 is used after its end",
                          "a handle that is no event of this driver"));
}

TEST(FakeDriver, HandlesDieWithTheirContext) {
  LoadedFake fake;
  const auto driver = fake.driver();
  const DriverApi& api = driver->api();
  CUcontext context = nullptr;
  CUstream stream = nullptr;
  api.cuInit(0);
  api.cuDevicePrimaryCtxRetain(&context, 0);
  api.cuCtxSetCurrent(context);
  EXPECT_EQ(api.cuStreamCreate(&stream, 0), CUDA_SUCCESS);
  EXPECT_EQ(api.cuDevicePrimaryCtxRelease(0), CUDA_SUCCESS);
  EXPECT_EQ(api.cuCtxSetCurrent(context), CUDA_ERROR_INVALID_CONTEXT);
  CUcontext again = nullptr;
  EXPECT_EQ(api.cuDevicePrimaryCtxRetain(&again, 0), CUDA_SUCCESS);
  EXPECT_EQ(api.cuCtxSetCurrent(again), CUDA_SUCCESS);
  EXPECT_EQ(api.cuStreamSynchronize(stream), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(api.cuDevicePrimaryCtxRelease(0), CUDA_SUCCESS);
  EXPECT_EQ(api.cuDevicePrimaryCtxRelease(0), CUDA_ERROR_INVALID_CONTEXT);
  EXPECT_THAT(fake->take_problems(),
              ElementsAre("stream 1 was not destroyed before its context",
                          "context 1 is used after its end", "stream 1 is used after its end",
                          "cuDevicePrimaryCtxRelease of device 0, which nobody retains"));
}

TEST(FakeDriver, CallsNeedCuInitAndAContextOfTheThread) {
  Session session;
  CUdeviceptr memory = 0;
  std::thread other([&] {
    EXPECT_EQ(session.api.cuMemAlloc(&memory, 64), CUDA_ERROR_INVALID_CONTEXT);
    EXPECT_EQ(session.api.cuCtxPushCurrent(session.context), CUDA_SUCCESS);
    CUcontext found = nullptr;
    EXPECT_EQ(session.api.cuCtxGetCurrent(&found), CUDA_SUCCESS);
    EXPECT_EQ(found, session.context);
    EXPECT_EQ(session.api.cuMemAlloc(&memory, 64), CUDA_SUCCESS);
    EXPECT_EQ(session.api.cuCtxPopCurrent(&found), CUDA_SUCCESS);
    EXPECT_EQ(session.api.cuCtxPopCurrent(&found), CUDA_ERROR_INVALID_CONTEXT);
  });
  other.join();
  EXPECT_EQ(session.api.cuMemFree(memory), CUDA_SUCCESS);
  EXPECT_THAT(session.fake->take_problems(),
              ElementsAre("cuMemAlloc without a current context",
                          "cuCtxPopCurrent of a thread that has no context"));
  const LoadedFake fresh(12000);
  int count = 0;
  EXPECT_EQ(fresh.driver()->api().cuDeviceGetCount(&count), CUDA_ERROR_NOT_INITIALIZED);
  EXPECT_THAT(fresh->take_problems(), ElementsAre("cuDeviceGetCount before cuInit"));
}

TEST(FakeDriver, ThePrimaryContextTellsItsState) {
  LoadedFake fake;
  const auto driver = fake.driver();
  const DriverApi& api = driver->api();
  unsigned flags = 9;
  int active = 9;
  api.cuInit(0);
  EXPECT_EQ(api.cuDevicePrimaryCtxSetFlags(0, CU_CTX_SCHED_BLOCKING_SYNC), CUDA_SUCCESS);
  EXPECT_EQ(api.cuDevicePrimaryCtxGetState(0, &flags, &active), CUDA_SUCCESS);
  EXPECT_EQ(active, 0);
  CUcontext context = nullptr;
  EXPECT_EQ(api.cuDevicePrimaryCtxRetain(&context, 0), CUDA_SUCCESS);
  EXPECT_EQ(api.cuDevicePrimaryCtxGetState(0, &flags, &active), CUDA_SUCCESS);
  EXPECT_EQ(active, 1);
  EXPECT_EQ(flags, CU_CTX_SCHED_BLOCKING_SYNC);
  EXPECT_EQ(api.cuDevicePrimaryCtxRelease(0), CUDA_SUCCESS);
  EXPECT_EQ(api.cuDevicePrimaryCtxRetain(&context, 1), CUDA_ERROR_INVALID_DEVICE);
}

}  // namespace
}  // namespace mynah::gpu
