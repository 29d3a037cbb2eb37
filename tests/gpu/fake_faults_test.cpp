// Failures of the fake driver that no result tells, and memory that processes share.
#include <array>
#include <cmath>
#include <csignal>
#include <fstream>
#include <iterator>
#include <string>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gpu/fake_driver/fake_session.h"
#include "temporary_folder.h"

namespace mynah::gpu::fake {
namespace {

constexpr std::array kNumbers = {1.0F, -2.0F, 3.0F};

// Copies down and waits; the nth copy fails as `fault` says.
template <class Values>
Values copied_down(const Values& values, FakeFault fault) {
  Session session;
  const size_t bytes = sizeof(values);
  const CUdeviceptr memory = session.allocate(bytes);
  const CUstream stream = session.stream();
  EXPECT_EQ(session.api.cuMemcpyHtoDAsync(memory, values.data(), bytes, stream), CUDA_SUCCESS);
  session.fake->fail({.function = "cuMemcpyDtoHAsync", .nth = 2, .fault = fault});
  Values first{};
  Values second{};
  Values third{};
  for (Values* const to : {&first, &second, &third}) {
    EXPECT_EQ(session.api.cuMemcpyDtoHAsync(to->data(), memory, bytes, stream), CUDA_SUCCESS);
  }
  EXPECT_EQ(session.api.cuStreamSynchronize(stream), CUDA_SUCCESS);
  EXPECT_EQ(first, values);
  EXPECT_EQ(third, values);
  EXPECT_EQ(session.api.cuMemFree(memory), CUDA_SUCCESS);
  EXPECT_EQ(session.api.cuStreamDestroy(stream), CUDA_SUCCESS);
  return second;
}

TEST(FakeFaults, WhatComesDownIsNoNumber) {
  for (const float number : copied_down(kNumbers, FakeFault::NoNumbers)) {
    EXPECT_TRUE(std::isnan(number));
  }
}

TEST(FakeFaults, WhatComesDownIsSomethingElse) {
  EXPECT_EQ(copied_down(kNumbers, FakeFault::Wrong), (std::array{1.25F, -1.5F, 3.75F}));
  EXPECT_EQ(copied_down(std::array{50257, 0, 3}, FakeFault::Wrong), (std::array{50256, 1, 2}));
}

TEST(FakeFaults, ACrashEndsTheProcess) {
  // What handles the signal, such as a sanitizer, is not asked.
  const auto crash = [] {
    LoadedFake fake;
    fake->fail({.function = "cuInit", .fault = FakeFault::Crash});
    fake.driver()->api().cuInit(0);
  };
  EXPECT_EXIT(crash(), ::testing::KilledBySignal(SIGSEGV), "");
}

// The state of a process by a letter (proc(5)): 'S' where it sleeps, 'Z' where it has ended.
char state_of(pid_t pid) {
  std::ifstream file(fmt::format("/proc/{}/stat", pid));
  const std::string text(std::istreambuf_iterator<char>(file), {});
  return text.at(text.rfind(") ") + 2);
}

TEST(FakeFaults, AHangDoesNotComeBack) {
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    LoadedFake fake;
    fake->fail({.function = "cuInit", .nth = 2, .fault = FakeFault::Hang});
    const auto driver = fake.driver();
    driver->api().cuInit(0);
    driver->api().cuInit(0);
    ::_exit(0);
  }
  char state = state_of(child);
  while (state != 'S' && state != 'Z') {
    ::usleep(1000);
    state = state_of(child);
  }
  EXPECT_EQ(state, 'S') << "cuInit came back";
  ::kill(child, SIGKILL);
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFSIGNALED(status)) << status;
}

TEST(FakeFaults, OthersCallsGoOnWhileOneHangs) {
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    LoadedFake fake;
    const auto driver = fake.driver();
    fake->fail({.function = "cuDeviceGetCount", .fault = FakeFault::Hang});
    driver->api().cuInit(0);
    std::thread([&] {
      int count = 0;
      driver->api().cuDeviceGetCount(&count);
      ::_exit(1);
    }).detach();
    // It is counted as a call before it hangs.
    while (fake->calls().size() < 3) {
      ::usleep(1000);
    }
    int count = 0;
    driver->api().cuDeviceGetCount(&count);
    ::_exit(count == 1 ? 0 : 2);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
}

TEST(FakeMemory, WhatOthersHoldIsNotFree) {
  Session session(13000, {.cards = {FakeCard{.memory_bytes = 1000, .held_bytes = 400}}});
  size_t free = 0;
  size_t total = 0;
  EXPECT_EQ(session.api.cuMemGetInfo(&free, &total), CUDA_SUCCESS);
  EXPECT_EQ(total, 1000U);
  EXPECT_EQ(free, 600U);
  CUdeviceptr memory = 0;
  EXPECT_EQ(session.api.cuMemAlloc(&memory, 601), CUDA_ERROR_OUT_OF_MEMORY);
  EXPECT_EQ(session.api.cuMemAlloc(&memory, 600), CUDA_SUCCESS);
  EXPECT_EQ(session.api.cuMemFree(memory), CUDA_SUCCESS);
}

TEST(FakeMemory, IsSharedWithOtherProcessesOfTheFile) {
  const test::TemporaryFolder folder;
  const std::string path = folder / "memory";
  Session session(13000,
                  {.cards = {FakeCard{.memory_bytes = 1000, .uuid = 0xA1}}, .memory_file = path});
  test::write_file(path, fmt::format("{} a1 300\n", ::getppid()));
  const auto free_bytes = [&] {
    size_t free = 0;
    size_t total = 0;
    EXPECT_EQ(session.api.cuMemGetInfo(&free, &total), CUDA_SUCCESS);
    return free;
  };
  EXPECT_EQ(free_bytes(), 700U);
  CUdeviceptr memory = 0;
  EXPECT_EQ(session.api.cuMemAlloc(&memory, 701), CUDA_ERROR_OUT_OF_MEMORY);
  memory = session.allocate(500);
  EXPECT_EQ(free_bytes(), 200U);
  const CUstream stream = session.stream();
  CUdeviceptr pooled = 0;
  EXPECT_EQ(session.api.cuMemAllocAsync(&pooled, 201, stream), CUDA_ERROR_OUT_OF_MEMORY);
  EXPECT_EQ(session.api.cuMemAllocAsync(&pooled, 150, stream), CUDA_SUCCESS);
  const auto ours = [&](uint64_t bytes) { return fmt::format("{} a1 {}\n", ::getpid(), bytes); };
  EXPECT_THAT(folder.read("memory"), ::testing::HasSubstr(ours(650)));
  EXPECT_EQ(session.api.cuMemFree(memory), CUDA_SUCCESS);
  EXPECT_THAT(folder.read("memory"), ::testing::HasSubstr(ours(150)));
  // The pool keeps what it is given back until it is told to let go.
  EXPECT_EQ(session.api.cuMemFreeAsync(pooled, stream), CUDA_SUCCESS);
  EXPECT_EQ(session.api.cuStreamSynchronize(stream), CUDA_SUCCESS);
  EXPECT_THAT(folder.read("memory"), ::testing::HasSubstr(ours(150)));
  EXPECT_EQ(free_bytes(), 550U);
  CUmemoryPool pool = nullptr;
  EXPECT_EQ(session.api.cuDeviceGetDefaultMemPool(&pool, 0), CUDA_SUCCESS);
  EXPECT_EQ(session.api.cuMemPoolTrimTo(pool, 0), CUDA_SUCCESS);
  EXPECT_EQ(free_bytes(), 700U);
  EXPECT_EQ(session.api.cuStreamDestroy(stream), CUDA_SUCCESS);
}

}  // namespace
}  // namespace mynah::gpu::fake
