// Launches captured as the driver's graphs, and steps that are made of them: order, errors at each
// call, leaks, all driver versions.
#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backend/cuda/cuda_backend_class.h"
#include "cuda/driver_session.h"
#include "gpu/driver_errors.h"
#include "ops/ops.h"
#include "tensor/device_error.h"

namespace mynah::cuda {
namespace {

using gpu::fake::FakeLaunch;
using gpu::fake::LoadedFake;
using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr size_t kBytes = 1000;

// Copies x to middle, and middle to out.
class TwoCopies {
 public:
  explicit TwoCopies(Processor& processor)
      : processor_(processor),
        x_(processor, kBytes),
        middle_(processor, kBytes),
        out_(processor, kBytes) {}

  [[nodiscard]] std::unique_ptr<LaunchGraph> capture() {
    const simt::CopyArgs first = copy_of(x_.get(), middle_.get(), kBytes);
    const simt::CopyArgs second = copy_of(middle_.get(), out_.get(), kBytes);
    return processor_.capture(std::vector{launch_of(first), launch_of(second)});
  }

  void set(const std::vector<std::byte>& bytes) {
    processor_.upload(bytes.data(), x_.get(), kBytes);
  }

  [[nodiscard]] std::vector<std::byte> result() {
    std::vector<std::byte> bytes(kBytes);
    processor_.download(out_.get(), bytes.data(), kBytes);
    return bytes;
  }

 private:
  Processor& processor_;
  Memory x_;
  Memory middle_;
  Memory out_;
};

std::vector<std::byte> filled(int value) {
  return std::vector<std::byte>(kBytes, static_cast<std::byte>(value));
}

TEST(DriverGraph, IsCapturedOnceAndRunAsOftenAsWanted) {
  for (const int version : {11000, 11020, 12000, 13000}) {
    const LoadedFake fake(version);
    fake->on_launch("mynah_copy_1", run_copy);
    const auto processor = opened(fake);
    TwoCopies copies(*processor);
    {
      const std::unique_ptr<LaunchGraph> first = copies.capture();  // loads the kernel, too
      ASSERT_NE(first, nullptr);
    }
    fake->clear_calls();
    const std::unique_ptr<LaunchGraph> graph = copies.capture();
    ASSERT_NE(graph, nullptr);
    EXPECT_THAT(
        functions(fake),
        ElementsAre("cuCtxSetCurrent", "cuStreamBeginCapture", "cuLaunchKernel", "cuLaunchKernel",
                    "cuStreamEndCapture", "cuGraphInstantiate", "cuGraphDestroy"));
    EXPECT_NE(copies.result(), filled(7)) << "a capture does nothing";
    for (int value = 7; value < 10; ++value) {
      copies.set(filled(value));
      fake->clear_calls();
      processor->replay(*graph);
      EXPECT_THAT(functions(fake), ElementsAre("cuCtxSetCurrent", "cuGraphLaunch"));
      EXPECT_EQ(copies.result(), filled(value));
    }
    EXPECT_EQ(fake->in_use().graphs, 0U);
    EXPECT_EQ(fake->in_use().executables, 1U);
  }
}

TEST(DriverGraph, IsDestroyedOnce) {
  const LoadedFake fake;
  const auto processor = opened(fake);
  TwoCopies copies(*processor);
  std::unique_ptr<LaunchGraph> graph = copies.capture();
  fake->clear_calls();
  graph.reset();
  EXPECT_THAT(functions(fake), ElementsAre("cuCtxSetCurrent", "cuGraphExecDestroy"));
  EXPECT_EQ(fake->in_use().executables, 0U);
}

// What takes nothing with it leaves a processor that does launches one by one, and captures again.
TEST(DriverGraph, IsDoneWithoutWhereACallOfItsMakingFails) {
  for (const auto& [function, nth] :
       std::vector<std::pair<std::string, int>>{{"cuStreamBeginCapture", 1},
                                                {"cuLaunchKernel", 1},
                                                {"cuLaunchKernel", 2},
                                                {"cuStreamEndCapture", 1},
                                                {"cuGraphInstantiate", 1}}) {
    for (const gpu::CUresult result :
         {gpu::CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, gpu::CUDA_ERROR_OUT_OF_MEMORY}) {
      const LoadedFake fake;
      fake->on_launch("mynah_copy_1", run_copy);
      const auto processor = opened(fake);
      TwoCopies copies(*processor);
      fake->fail({.function = function, .result = result, .nth = nth});
      EXPECT_EQ(copies.capture(), nullptr) << function;
      EXPECT_EQ(fake->in_use().graphs, 0U) << function;
      EXPECT_EQ(round_trip(*processor, numbered(kBytes)), numbered(kBytes)) << function;
      copies.set(filled(3));
      const std::unique_ptr<LaunchGraph> graph = copies.capture();
      ASSERT_NE(graph, nullptr) << function;
      processor->replay(*graph);
      EXPECT_EQ(copies.result(), filled(3)) << function;
    }
  }
}

TEST(DriverGraph, SaysWhatKilledTheContext) {
  for (const char* const function :
       {"cuStreamBeginCapture", "cuLaunchKernel", "cuStreamEndCapture", "cuGraphInstantiate"}) {
    const LoadedFake fake;
    auto processor = opened(fake);
    {
      TwoCopies copies(*processor);
      fake->fail({.function = function, .result = gpu::CUDA_ERROR_ILLEGAL_ADDRESS});
      try {
        (void)copies.capture();
        ADD_FAILURE() << function << ": went unnoticed";
      } catch (const DeviceError& error) {
        EXPECT_THAT(error.error().message, AllOf(HasSubstr("making a graph of 2 kernels on cuda:0"),
                                                 HasSubstr("CUDA_ERROR_ILLEGAL_ADDRESS (700)")))
            << function;
      }
      EXPECT_THROW(processor->synchronize(), DeviceError) << function;
    }
    processor.reset();
    [[maybe_unused]] const auto gone = fake->take_problems();  // with the context
  }
}

TEST(DriverGraph, ThatFailsIsTheDevicesErrorAndADeadContextsGraphIsLetGo) {
  const LoadedFake fake;
  auto processor = opened(fake);
  {
    TwoCopies copies(*processor);
    const std::unique_ptr<LaunchGraph> graph = copies.capture();
    ASSERT_NE(graph, nullptr);
    fake->fail({.function = "cuGraphLaunch", .result = gpu::CUDA_ERROR_OUT_OF_MEMORY});
    EXPECT_THROW(processor->replay(*graph), DeviceError);
    EXPECT_NO_THROW(processor->replay(*graph)) << "the context lives";
    fake->fail({.function = "cuGraphLaunch", .result = gpu::CUDA_ERROR_ILLEGAL_ADDRESS});
    try {
      processor->replay(*graph);
      ADD_FAILURE() << "went unnoticed";
    } catch (const DeviceError& error) {
      EXPECT_THAT(error.error().message, AllOf(HasSubstr("running a graph of kernels on cuda:0"),
                                               HasSubstr("CUDA_ERROR_ILLEGAL_ADDRESS (700)")));
    }
    fake->clear_calls();
    EXPECT_THROW(processor->replay(*graph), DeviceError);
  }
  EXPECT_THAT(functions(fake), IsEmpty());  // nor was the graph destroyed
  processor.reset();
  [[maybe_unused]] const auto gone = fake->take_problems();
}

// A step on a card: a copy of bytes by way of the backend.
class DriverSteps {
 public:
  explicit DriverSteps(const LoadedFake& fake)
      : backend_(opened(fake)), steps_(backend_.make_step_runner()) {}

  std::vector<float> copied(const std::vector<float>& values) {
    const Shape shape{static_cast<int64_t>(values.size())};
    std::vector<float> back(values.size());
    steps_->run(
        [&](const BufferRef& memory) {
          ops::copy_into(backend_, ops::from_host(backend_, values, shape),
                         Tensor(memory, 0, shape, DType::F32, backend_.device()));
        },
        std::as_writable_bytes(std::span(back)));
    return back;
  }

 private:
  CudaBackend backend_;
  std::unique_ptr<StepRunner> steps_;
};

// copy_4 of floats that stand side by side.
void run_float_copy(const FakeLaunch& launch) {
  const auto args = launch.parameter<simt::CopyArgs>(0);
  std::memcpy(args.out, args.x, static_cast<size_t>(args.elements) * sizeof(float));
}

TEST(DriverSteps, TakeOneCopyUpOneGraphAndOneCopyDown) {
  const LoadedFake fake;
  fake->on_launch("mynah_copy_4", run_float_copy);
  DriverSteps steps(fake);
  EXPECT_THAT(steps.copied({1, 2}), ElementsAre(1, 2));
  EXPECT_THAT(functions(fake), AllOf(Contains("cuLaunchKernel"), Not(Contains("cuGraphLaunch"))));
  EXPECT_THAT(steps.copied({3, 4}), ElementsAre(3, 4));
  for (float value = 5; value < 8; ++value) {
    fake->clear_calls();
    EXPECT_THAT(steps.copied({value, 0}), ElementsAre(value, 0));
    EXPECT_THAT(functions(fake), ElementsAre("cuCtxSetCurrent", "cuMemcpyHtoDAsync",
                                             "cuCtxSetCurrent", "cuGraphLaunch", "cuCtxSetCurrent",
                                             "cuMemcpyDtoHAsync", "cuStreamSynchronize"));
  }
}

TEST(DriverSteps, GoOnWithoutGraphsWhereTheDriverRefusesThem) {
  const LoadedFake fake;
  fake->on_launch("mynah_copy_4", run_float_copy);
  DriverSteps steps(fake);
  EXPECT_THAT(steps.copied({1, 2}), ElementsAre(1, 2));
  fake->fail(
      {.function = "cuGraphInstantiate", .result = gpu::CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED});
  fake->clear_calls();
  for (float value = 3; value < 6; ++value) {
    EXPECT_THAT(steps.copied({value, 0}), ElementsAre(value, 0));
  }
  const std::vector<std::string> called = functions(fake);
  EXPECT_EQ(std::ranges::count(called, "cuGraphInstantiate"), 1);
  EXPECT_EQ(std::ranges::count(called, "cuGraphLaunch"), 0);
}

TEST(DriverSteps, OfCallersBesideEachOtherDoNotMix) {
  const LoadedFake fake;
  fake->on_launch("mynah_copy_4", run_float_copy);
  DriverSteps steps(fake);
  const auto call = [&steps](float first) {
    for (float value = first; value < first + 20; ++value) {
      EXPECT_THAT(steps.copied({value, -value}), ElementsAre(value, -value));
    }
  };
  std::thread other(call, 100.0F);
  call(1.0F);
  other.join();
}

// Every call of three steps fails in turn: the steps are right or say what failed, and nothing is
// left behind.
TEST(DriverSteps, SurviveAFailureOfEachCall) {
  const auto run = [](DriverSteps& steps) {
    for (float value = 1; value < 4; ++value) {
      EXPECT_THAT(steps.copied({value, -value}), ElementsAre(value, -value));
    }
  };
  std::vector<std::string> sequence;
  {
    const LoadedFake fake;
    fake->on_launch("mynah_copy_4", run_float_copy);
    DriverSteps steps(fake);
    fake->clear_calls();
    run(steps);
    sequence = functions(fake);
  }
  EXPECT_THAT(sequence, Contains("cuGraphLaunch"));
  for (const gpu::CUresult result :
       {gpu::CUDA_ERROR_OUT_OF_MEMORY, gpu::CUDA_ERROR_ILLEGAL_ADDRESS}) {
    std::map<std::string, int> seen;
    for (const std::string& function : sequence) {
      const int nth = ++seen[function];
      if (function == "cuLinkDestroy" || function == "cuGraphDestroy") {
        continue;  // what frees has nobody to tell
      }
      const LoadedFake fake;
      fake->on_launch("mynah_copy_4", run_float_copy);
      {
        DriverSteps steps(fake);
        fake->fail({.function = function, .result = result, .nth = nth});
        try {
          run(steps);
          const bool harmless =
              result == gpu::CUDA_ERROR_OUT_OF_MEMORY &&
              (function == "cuStreamBeginCapture" || function == "cuStreamEndCapture" ||
               function == "cuGraphInstantiate" || function == "cuLaunchKernel" ||
               function.starts_with("cuMemAlloc"));
          EXPECT_TRUE(harmless) << function << ", call " << nth << ": went unnoticed";
        } catch (const DeviceError& error) {
          EXPECT_THAT(error.error().message,
                      AllOf(HasSubstr(std::string(gpu::explain(result).name)), HasSubstr("cuda:0")))
              << function;
        }
      }
      if (gpu::explain(result).scope != gpu::ErrorScope::Call) {
        [[maybe_unused]] const auto gone = fake->take_problems();
      }
    }
  }
}

}  // namespace
}  // namespace mynah::cuda
