// Steps written down and run as graphs: how often the device is asked for what, and that nothing
// is kept that no longer holds.
#include <array>
#include <cstring>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cuda/counting_processor.h"
#include "ops/ops.h"

namespace mynah::cuda {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::FloatEq;

class StepRunnerTest : public testing::Test {
 protected:
  // 2 (x + y) of values from the host.
  std::vector<float> twice_the_sum(const std::vector<float>& x, const std::vector<float>& y) {
    return twice_the_sum(*steps_, x, y);
  }

  std::vector<float> twice_the_sum(StepRunner& steps, const std::vector<float>& x,
                                   const std::vector<float>& y) {
    Backend& b = *simt_.backend;
    const Shape shape{static_cast<int64_t>(x.size())};
    return run(steps, shape, [&](const Tensor& out) {
      const Tensor sum = ops::add(b, ops::from_host(b, x, shape), ops::from_host(b, y, shape));
      ops::copy_into(b, ops::add(b, sum, sum), out);
    });
  }

  // A step that leaves a tensor of f32.
  template <class Fn>
  std::vector<float> run(StepRunner& steps, const Shape& shape, const Fn& fn) {
    std::vector<float> values(static_cast<size_t>(shape.elements()));
    steps.run(
        [&](const BufferRef& memory) {
          fn(Tensor(memory, 0, shape, DType::F32, simt_.backend->device()));
        },
        std::as_writable_bytes(std::span(values)));
    return values;
  }

  ThreadPool pool_{1};
  CountedSimt simt_{pool_};
  std::unique_ptr<StepRunner> steps_ = simt_.backend->make_step_runner();
};

TEST_F(StepRunnerTest, LaunchesThenCapturesThenRunsTheGraphAlone) {
  simt_.processor->take_calls();
  EXPECT_THAT(twice_the_sum({1, 2}, {10, 20}), ElementsAre(22, 44));
  const Calls first = simt_.processor->take_calls();
  EXPECT_EQ(first.launches, 3);
  EXPECT_EQ(first.captures, 0);
  EXPECT_EQ(first.downloads, 1);
  EXPECT_THAT(twice_the_sum({3, 4}, {30, 40}), ElementsAre(66, 88));
  EXPECT_EQ(simt_.processor->take_calls(),
            (Calls{.uploads = 1, .downloads = 1, .captures = 1, .replays = 1, .graphs = 1}));
  for (float x = 5; x < 10; ++x) {
    EXPECT_THAT(twice_the_sum({x, 0}, {1, x}), ElementsAre(2 * x + 2, 2 * x));
    EXPECT_EQ(simt_.processor->take_calls(),
              (Calls{.uploads = 1, .downloads = 1, .replays = 1, .graphs = 1}));
  }
}

TEST_F(StepRunnerTest, OtherLaunchesAreAnotherStep) {
  for (int i = 0; i < 3; ++i) {
    EXPECT_THAT(twice_the_sum({1, 2}, {3, 4}), ElementsAre(8, 12));
  }
  simt_.processor->take_calls();
  EXPECT_THAT(twice_the_sum({1, 2, 3}, {4, 5, 6}), ElementsAre(10, 14, 18));
  EXPECT_EQ(simt_.processor->take_calls().launches, 3);
  // The first is known still.
  EXPECT_THAT(twice_the_sum({2, 2}, {3, 3}), ElementsAre(10, 10));
  EXPECT_EQ(simt_.processor->take_calls(),
            (Calls{.uploads = 1, .downloads = 1, .replays = 1, .graphs = 1}));
}

// Kernels are told addresses: of a tensor that is somewhere else now nothing old is run.
TEST_F(StepRunnerTest, MemoryThatMovedIsAnotherStep) {
  Backend& b = *simt_.backend;
  const auto doubled = [&](const Tensor& x) {
    return run(*steps_, x.shape(),
               [&](const Tensor& out) { ops::copy_into(b, ops::add(b, x, x), out); });
  };
  const Tensor here = ops::from_host(b, std::vector<float>{1, 2}, {2});
  const Tensor there = ops::from_host(b, std::vector<float>{3, 4}, {2});
  for (int i = 0; i < 3; ++i) {
    EXPECT_THAT(doubled(here), ElementsAre(2, 4));
    EXPECT_THAT(doubled(there), ElementsAre(6, 8));
  }
  EXPECT_EQ(simt_.processor->take_calls().graphs, 2);
}

TEST_F(StepRunnerTest, LaunchesOneByOneWhereThereAreNoGraphs) {
  simt_.processor->refuse_captures();
  EXPECT_THAT(twice_the_sum({1}, {2}), ElementsAre(6));
  simt_.processor->take_calls();
  EXPECT_THAT(twice_the_sum({3}, {4}), ElementsAre(14));
  EXPECT_EQ(simt_.processor->take_calls(),
            (Calls{.uploads = 1, .downloads = 1, .launches = 3, .captures = 1}));
  EXPECT_THAT(twice_the_sum({5}, {6}), ElementsAre(22));
  EXPECT_EQ(simt_.processor->take_calls(), (Calls{.uploads = 1, .downloads = 1, .launches = 3}));
}

TEST_F(StepRunnerTest, ValuesBeyondTheFirstGuessTravelTogetherFromTheNextStepOn) {
  const std::vector<float> many(9000, 1.5F);
  for (int i = 0; i < 4; ++i) {
    EXPECT_THAT(twice_the_sum(many, many), Each(FloatEq(6)));
  }
  EXPECT_EQ(simt_.processor->take_calls().replays, 2);
  EXPECT_THAT(twice_the_sum(many, many), Each(FloatEq(6)));
  EXPECT_EQ(simt_.processor->take_calls(),
            (Calls{.uploads = 1, .downloads = 1, .replays = 1, .graphs = 1}));
}

TEST_F(StepRunnerTest, AnUploadWithinAStepTravelsWithTheOthers) {
  Backend& b = *simt_.backend;
  for (float value = 1; value < 5; ++value) {
    const std::array<float, 2> uploaded{value, -value};
    simt_.processor->take_calls();
    EXPECT_THAT(run(*steps_, {2},
                    [&](const Tensor& out) {
                      const Tensor x = ops::empty(b, {2});
                      b.upload(uploaded.data(), x);
                      ops::copy_into(b, ops::add(b, x, ops::zeros(b, {2})), out);
                    }),
                ElementsAre(value, -value));
    EXPECT_LE(simt_.processor->take_calls().uploads, value == 1 ? 2 : 1);
  }
}

TEST_F(StepRunnerTest, TakesNoMemoryAfterItsFirstStep) {
  (void)twice_the_sum({1, 2}, {3, 4});
  const size_t held = simt_.backend->memory_held();
  simt_.processor->take_calls();
  for (int i = 0; i < 5; ++i) {
    (void)twice_the_sum({1, 2}, {3, 4});
  }
  EXPECT_EQ(simt_.processor->take_calls().allocations, 0);
  EXPECT_EQ(simt_.backend->memory_held(), held);
}

TEST_F(StepRunnerTest, ForgetsWhatWasNotWantedForLong) {
  constexpr int64_t kMore = 70;  // than are remembered
  for (int64_t length = 1; length <= kMore; ++length) {
    const std::vector<float> ones(static_cast<size_t>(length), 1);
    (void)twice_the_sum(ones, ones);
    (void)twice_the_sum(ones, ones);
  }
  const Calls calls = simt_.processor->take_calls();
  EXPECT_EQ(calls.captures, kMore);
  EXPECT_EQ(calls.graphs, 64);
  EXPECT_THAT(twice_the_sum({1}, {1}), ElementsAre(4));
  EXPECT_EQ(simt_.processor->take_calls().launches, 3);
}

TEST_F(StepRunnerTest, TakesItsGraphsAndMemoryWithIt) {
  (void)twice_the_sum({1}, {2});
  (void)twice_the_sum({1}, {2});
  EXPECT_EQ(simt_.processor->take_calls().graphs, 1);
  steps_.reset();
  EXPECT_EQ(simt_.processor->take_calls().graphs, 0);
  // All blocks came back: none of them is needed from the device again.
  const auto again = simt_.backend->make_step_runner();
  EXPECT_THAT(twice_the_sum(*again, {1}, {2}), ElementsAre(6));
  EXPECT_EQ(simt_.processor->take_calls().allocations, 0);
}

TEST_F(StepRunnerTest, AFailedReplayIsTheDevicesErrorAndNothingOfItIsUsedAgain) {
  (void)twice_the_sum({1}, {2});
  (void)twice_the_sum({1}, {2});
  simt_.processor->fail_next_replay();
  EXPECT_THROW((void)twice_the_sum({1}, {2}), DeviceError);
  EXPECT_EQ(simt_.processor->take_calls().graphs, 0);
  EXPECT_THAT(twice_the_sum({3}, {4}), ElementsAre(14));
}

TEST_F(StepRunnerTest, WhatAStepThrowsLeavesTheNextOneAlone) {
  Backend& b = *simt_.backend;
  const auto failing = [&](const Tensor&) {
    const Tensor x = ops::from_host(b, std::vector<float>{1}, {1});
    const Tensor y = ops::add(b, x, x);
    throw DeviceError({.code = ErrorCode::Device, .message = "within a step"});
  };
  EXPECT_THROW((void)run(*steps_, {1}, failing), DeviceError);
  EXPECT_THAT(twice_the_sum({3}, {4}), ElementsAre(14));
  EXPECT_THAT(ops::to_host(b, ops::from_host(b, std::vector<float>{1}, {1})), ElementsAre(1));
}

TEST_F(StepRunnerTest, CallersBesideEachOtherHaveMemoryOfTheirOwn) {
  const auto call = [this](float first) {
    for (float x = first; x < first + 20; ++x) {
      EXPECT_THAT(twice_the_sum({x, -x}, {1, 1}), ElementsAre(2 * x + 2, 2 - 2 * x));
    }
  };
  std::thread other(call, 100.0F);
  call(1.0F);
  other.join();
}

using StepRunnerDeathTest = StepRunnerTest;

TEST_F(StepRunnerDeathTest, AWrongRowNumberWithinAStepEndsTheProcess) {
  Backend& b = *simt_.backend;
  const Tensor table = ops::from_host(b, std::vector<float>{1, 2, 3}, {3, 1});
  const auto row = [&](int32_t number) {
    return run(*steps_, {1, 1}, [&](const Tensor& out) {
      const Tensor numbers = ops::from_host(b, std::vector{number}, {1});
      ops::copy_into(b, ops::gather_rows(b, table, numbers), out);
    });
  };
  EXPECT_THAT(row(2), ElementsAre(3));
  EXPECT_THAT(row(1), ElementsAre(2));
  EXPECT_DEATH((void)row(3), "\\[gather_rows\\] row 3, which");  // the graph
}

TEST_F(StepRunnerDeathTest, ATensorThatOutlivesItsStepEndsTheProcess) {
  Backend& b = *simt_.backend;
  Tensor kept;
  EXPECT_DEATH((void)run(*steps_, {1}, [&](const Tensor&) { kept = ops::empty(b, {1}); }),
               "a tensor outlives the step that made it");
  EXPECT_DEATH((void)run(*steps_, {1}, [&](const Tensor& out) { kept = out; }),
               "a tensor outlives the step that made it");
}

TEST_F(StepRunnerDeathTest, ADownloadWithinAStepEndsTheProcess) {
  Backend& b = *simt_.backend;
  EXPECT_DEATH((void)run(*steps_, {1}, [&](const Tensor& out) { (void)ops::to_host(b, out); }),
               "\\[download\\] within a step");
}

}  // namespace
}  // namespace mynah::cuda
