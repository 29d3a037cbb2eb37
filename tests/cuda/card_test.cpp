// mynah's whole way to a card and back, behind a fake driver whose kernels the simulation runs.
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backend/cuda/cuda_backend.h"
#include "cuda/simulated_card.h"
#include "ops/close.h"
#include "ops/op_case.h"
#include "ops/ops.h"
#include "temporary_folder.h"
#include "tensor/device_error.h"

namespace mynah {
namespace {

using cases::OpCase;
using gpu::fake::FakeCard;
using test::SimulatedCard;
using test::TemporaryFolder;
using testing::AllOf;
using testing::HasSubstr;

// Of each operation of the table every so many of the rows that the backend takes.
std::vector<OpCase> some_rows(int apart, const Backend& backend) {
  std::vector<OpCase> rows;
  std::map<std::string, int> seen;
  for (OpCase& c : cases::op_cases()) {
    const bool taken = !c.weight || backend.supports_weight(*c.weight);
    if (taken && !c.large && seen[c.op]++ % apart == 0) {
      rows.push_back(std::move(c));
    }
  }
  return rows;
}

// The same programs at the same level: the same bits, whichever way they were told.
void expect_same_as_simulation(Backend& backend, int level, int apart) {
  ThreadPool pool(2);
  const auto simulation = make_simt_backend(pool, {.level = level, .check_shared = false});
  for (const OpCase& c : some_rows(apart, backend)) {
    const auto wanted = cases::read(*simulation, c.prepare(*simulation)());
    EXPECT_EQ(cases::disagreement(cases::read(backend, c.prepare(backend)()), wanted,
                                  cases::exact_bounds(wanted)),
              "")
        << c.title();
  }
}

std::vector<float> four(Backend& backend) {
  const std::vector<float> two{2.0F, 2.0F};
  const Tensor x = ops::from_host(backend, std::span<const float>(two), {1, 2});
  return ops::to_host(backend, ops::add(backend, x, x));
}

const std::vector<float> kFour{4.0F, 4.0F};

TEST(Card, ComputesWhatTheSimulationDoes) {
  SimulatedCard card;
  const auto backend = card.open();
  ASSERT_TRUE(backend.has_value()) << backend.error().message;
  expect_same_as_simulation(**backend, 80, 5);
}

// No memory pools before CUDA 11.2; other functions came and went.
TEST(Card, ComputesTheSameBehindEveryDriver) {
  for (const int version : {11000, 11020, 12000}) {
    SimulatedCard card(version);
    const auto backend = card.open();
    ASSERT_TRUE(backend.has_value()) << backend.error().message;
    expect_same_as_simulation(**backend, 80, 25);
  }
}

TEST(Card, OfEachLevelRunsItsOwnPrograms) {
  for (const auto& [major, minor, level] :
       {std::tuple{6, 0, 60}, std::tuple{6, 1, 61}, std::tuple{7, 5, 75}, std::tuple{8, 9, 80}}) {
    if (!SimulatedCard::has_level(level)) {
      continue;
    }
    SimulatedCard card(13000,
                       {.cards = {FakeCard{.compute_major = major, .compute_minor = minor}}});
    const auto backend = card.open();
    ASSERT_TRUE(backend.has_value()) << backend.error().message;
    expect_same_as_simulation(**backend, level, 12);
  }
}

// Warpgroups and bulk copies: through large tiles, small ones and the kernel for few rows.
TEST(Card, OfHoppersKindRunsItsOwnLevel) {
  if (!SimulatedCard::has_level(90)) {
    GTEST_SKIP() << "this build does not simulate level 90";
  }
  SimulatedCard card(13000, {.cards = {FakeCard{.compute_major = 9, .compute_minor = 0}}});
  const auto backend = card.open();
  ASSERT_TRUE(backend.has_value()) << backend.error().message;
  EXPECT_THAT((*backend)->description(), HasSubstr("programs of level 90"));
  ThreadPool pool(2);
  const auto simulation = make_simt_backend(pool, {.level = 90, .check_shared = false});
  for (const int64_t rows : {3, 40, 260}) {
    const OpCase c = cases::timed_linear_case(rows, 96, 4160, DType::F16, Precision::Fast);
    const auto wanted = cases::read(*simulation, c.prepare(*simulation)());
    EXPECT_EQ(cases::disagreement(cases::read(**backend, c.prepare(**backend)()), wanted,
                                  cases::exact_bounds(wanted)),
              "")
        << rows << " rows";
  }
  int bulk = 0;
  for (const auto& call : card.fake()->calls()) {
    bulk += call.function == "cuLaunchKernel" &&
                    call.detail.find("units_linear_f16_128") != std::string::npos
                ? 1
                : 0;
  }
  EXPECT_EQ(bulk, 1);
}

TEST(Card, WithoutTheLevelThatIsAskedForIsRefused) {
  const auto refusal = [](int version, int major, int minor, int level) {
    SimulatedCard card(
        version,
        {.cards = {FakeCard{.name = "It", .compute_major = major, .compute_minor = minor}}});
    const auto backend = card.open(0, "", level);
    EXPECT_FALSE(backend.has_value());
    return backend ? "" : backend.error().message;
  };
  EXPECT_EQ(
      refusal(13000, 12, 0, 90),
      "cuda:0 (It) has compute capability 12.0 and runs programs of level 60, 61, 75, 80, not "
      "of 90");
  EXPECT_EQ(refusal(13000, 8, 9, 70),
            "cuda:0 (It) has compute capability 8.9 and runs programs of level 60, 61, 75, 80, not "
            "of 70");
  EXPECT_THAT(refusal(11020, 9, 0, 90),
              AllOf(HasSubstr("cuda:0 (It): programs of level 90: mynah needs driver"),
                    HasSubstr("CUDA 12.0"), HasSubstr("CUDA 11.2")));
}

// Each has a context, programs and images of its own.
TEST(Card, TwoOfDifferentAgeInOneMachine) {
  if (!SimulatedCard::has_level(61)) {
    GTEST_SKIP() << "this build does not simulate level 61";
  }
  const TemporaryFolder images;
  SimulatedCard card(13000,
                     {.cards = {FakeCard{.name = "Old", .compute_major = 6, .compute_minor = 1},
                                FakeCard{.name = "New"}}});
  const auto old_card = card.open(0, images.path());
  const auto new_card = card.open(1, images.path());
  ASSERT_TRUE(old_card.has_value() && new_card.has_value());
  EXPECT_THAT((*old_card)->description(), AllOf(HasSubstr("Old"), HasSubstr("level 61")));
  EXPECT_THAT((*new_card)->description(), AllOf(HasSubstr("New"), HasSubstr("level 80")));
  EXPECT_EQ((*old_card)->device().str(), "cuda:0");
  EXPECT_EQ((*new_card)->device().str(), "cuda:1");
  for (int round = 0; round < 2; ++round) {
    card.run_at(61);
    EXPECT_EQ(four(**old_card), kFour);
    card.run_at(80);
    EXPECT_EQ(four(**new_card), kFour);
  }
}

TEST(Card, ASliceOfOneIsADeviceLikeAnother) {
  SimulatedCard card(13000, {.cards = {FakeCard{.name = "NVIDIA A100 MIG 1g.10gb",
                                                .compute_major = 8,
                                                .compute_minor = 0,
                                                .memory_bytes = uint64_t{10} << 30,
                                                .slice_uuid = 0x42}}});
  const auto backend = card.open();
  ASSERT_TRUE(backend.has_value()) << backend.error().message;
  EXPECT_THAT((*backend)->description(), HasSubstr("MIG 1g.10gb"));
  EXPECT_EQ(four(**backend), kFour);
}

// From the first call on that fails every call says the same, and nothing is left behind.
TEST(Card, ThatFallsOffTheBusStaysAway) {
  for (const char* function : {"cuLaunchKernel", "cuStreamSynchronize", "cuMemcpyHtoDAsync"}) {
    SimulatedCard card;
    auto backend = card.open();
    ASSERT_TRUE(backend.has_value());
    EXPECT_EQ(four(**backend), kFour);
    card.fake()->fail({.function = function,
                       .result = gpu::CUDA_ERROR_LAUNCH_FAILED,
                       .nth = 1,
                       .kills_context = true});
    std::string first;
    for (int i = 0; i < 3; ++i) {
      try {
        (void)four(**backend);
        ADD_FAILURE() << function << ": nothing was said";
      } catch (const DeviceError& error) {
        first = i == 0 ? error.error().message : first;
        EXPECT_EQ(error.error().message, first) << function;
        EXPECT_EQ(error.error().code, ErrorCode::Device);
      }
    }
    EXPECT_THAT(first, AllOf(HasSubstr("cuda:0"), HasSubstr("CUDA_ERROR_LAUNCH_FAILED")));
  }
}

// Wherever memory runs out, it is said, and what was there goes on.
TEST(Card, RunsOutOfMemoryAtAnyAllocation) {
  for (int nth = 1; nth <= 3; ++nth) {
    SimulatedCard card;
    auto backend = card.open();
    ASSERT_TRUE(backend.has_value());
    card.fake()->fail(
        {.function = "cuMemAllocAsync", .result = gpu::CUDA_ERROR_OUT_OF_MEMORY, .nth = nth});
    bool told = false;
    std::vector<Tensor> held;
    for (int i = 0; i < 4; ++i) {
      try {
        // Too large to come out of what is held.
        held.push_back(ops::empty(**backend, {int64_t{1} << (20 + i)}));
      } catch (const DeviceError& error) {
        EXPECT_EQ(error.error().code, ErrorCode::OutOfMemory);
        told = true;
      }
    }
    EXPECT_TRUE(told) << nth;
    EXPECT_EQ(held.size(), 3U);
    EXPECT_EQ(four(**backend), kFour);
  }
}

}  // namespace
}  // namespace mynah
