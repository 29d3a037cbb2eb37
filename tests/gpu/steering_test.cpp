// What the environment may say of a driver that is a file.
#include "gpu/fake_driver/steering.h"

#include <map>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace mynah::gpu::fake {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

Result<Steering> read(const std::map<std::string, std::string>& environment) {
  return read_steering([&](const char* name) {
    const auto found = environment.find(name);
    return found == environment.end() ? nullptr : found->second.c_str();
  });
}

TEST(Steering, NothingSaidIsOneCardAndNoFailure) {
  const std::map<std::string, std::string> empty = {{"MYNAH_FAKE_CARDS", ""},
                                                    {"MYNAH_FAKE_FAILURES", ""},
                                                    {"MYNAH_FAKE_VERSION", ""},
                                                    {"MYNAH_FAKE_MEMORY_FILE", ""}};
  for (const auto& environment : {std::map<std::string, std::string>(), empty}) {
    const auto steering = read(environment);
    ASSERT_TRUE(steering) << steering.error().message;
    ASSERT_EQ(steering->machine.cards.size(), 1U);
    EXPECT_EQ(steering->machine.cards[0].name, FakeCard().name);
    EXPECT_EQ(steering->machine.cards[0].memory_bytes, FakeCard().memory_bytes);
    EXPECT_EQ(steering->machine.version, 0);
    EXPECT_EQ(steering->machine.memory_file, "");
    EXPECT_TRUE(steering->failures.empty());
  }
}

TEST(Steering, CardsAreWhatIsSaidOfThem) {
  const auto steering = read({{"MYNAH_FAKE_CARDS",
                               "name=Fake RTX 4060,cc=8.9,memory=8192;"
                               "cc=6.1,memory=12288,free=100,uuid=0xa1;uuid=7"}});
  ASSERT_TRUE(steering) << steering.error().message;
  const auto& cards = steering->machine.cards;
  ASSERT_EQ(cards.size(), 3U);
  EXPECT_EQ(cards[0].name, "Fake RTX 4060");
  EXPECT_EQ(cards[0].compute_major, 8);
  EXPECT_EQ(cards[0].compute_minor, 9);
  EXPECT_EQ(cards[0].memory_bytes, uint64_t{8192} << 20);
  EXPECT_EQ(cards[0].held_bytes, 0U);
  EXPECT_FALSE(cards[0].uuid.has_value());
  EXPECT_EQ(cards[1].name, FakeCard().name);
  EXPECT_EQ(cards[1].compute_major, 6);
  EXPECT_EQ(cards[1].compute_minor, 1);
  EXPECT_EQ(cards[1].memory_bytes - cards[1].held_bytes, uint64_t{100} << 20);
  EXPECT_EQ(cards[1].uuid, 0xA1);
  EXPECT_EQ(cards[2].uuid, 7);
}

TEST(Steering, NoneIsNoCard) {
  const auto steering = read({{"MYNAH_FAKE_CARDS", "none"}});
  ASSERT_TRUE(steering) << steering.error().message;
  EXPECT_TRUE(steering->machine.cards.empty());
}

TEST(Steering, FailuresAreWhatIsSaidOfThem) {
  const auto steering =
      read({{"MYNAH_FAKE_FAILURES",
             "cuLaunchKernel:719@200:kills,cuMemAllocAsync:2@10,cuStreamSynchronize:hang@5,"
             "cuInit:crash@1,cuMemcpyDtoHAsync:nan@3,cuMemcpyDtoHAsync:wrong@7"}});
  ASSERT_TRUE(steering) << steering.error().message;
  std::map<std::string, FakeFailure> by_name;
  for (const FakeFailure& failure : steering->failures) {
    by_name.insert_or_assign(failure.function, failure);
  }
  ASSERT_EQ(by_name.size(), 5U);
  EXPECT_EQ(by_name["cuLaunchKernel"].result, CUDA_ERROR_LAUNCH_FAILED);
  EXPECT_EQ(by_name["cuLaunchKernel"].nth, 200);
  EXPECT_TRUE(by_name["cuLaunchKernel"].kills_context);
  EXPECT_EQ(by_name["cuMemAllocAsync"].result, CUDA_ERROR_OUT_OF_MEMORY);
  EXPECT_FALSE(by_name["cuMemAllocAsync"].kills_context);
  EXPECT_EQ(by_name["cuMemAllocAsync"].fault, FakeFault::Result);
  EXPECT_EQ(by_name["cuStreamSynchronize"].fault, FakeFault::Hang);
  EXPECT_EQ(by_name["cuStreamSynchronize"].nth, 5);
  EXPECT_EQ(by_name["cuInit"].fault, FakeFault::Crash);
  EXPECT_EQ(by_name["cuMemcpyDtoHAsync"].fault, FakeFault::Wrong);
}

TEST(Steering, TheVersionAndTheMemoryFile) {
  const auto steering =
      read({{"MYNAH_FAKE_VERSION", "12040"}, {"MYNAH_FAKE_MEMORY_FILE", "/tmp/memory"}});
  ASSERT_TRUE(steering) << steering.error().message;
  EXPECT_EQ(steering->machine.version, 12040);
  EXPECT_EQ(steering->machine.memory_file, "/tmp/memory");
}

struct BadText {
  std::string name;
  std::string text;
  std::string wanted;
};

class BadSteering : public ::testing::TestWithParam<BadText> {};

TEST_P(BadSteering, IsRefusedAndSaysWhatWouldDo) {
  const auto steering = read({{GetParam().name, GetParam().text}});
  ASSERT_FALSE(steering) << GetParam().text;
  EXPECT_EQ(steering.error().code, ErrorCode::InvalidInput);
  EXPECT_THAT(steering.error().message, StartsWith(GetParam().name + ": \""));
  EXPECT_THAT(steering.error().message, HasSubstr(": wanted " + GetParam().wanted));
}

INSTANTIATE_TEST_SUITE_P(
    Texts, BadSteering,
    ::testing::Values(
        BadText{"MYNAH_FAKE_CARDS", "fast", "NAME=VALUE"},
        BadText{"MYNAH_FAKE_CARDS", "cc=8.9;", "NAME=VALUE"},
        BadText{"MYNAH_FAKE_CARDS", "speed=9", "name, cc, memory, free, uuid or mode"},
        BadText{"MYNAH_FAKE_CARDS", "mode=default", "mode=exclusive"},
        BadText{"MYNAH_FAKE_CARDS", "cc=8", "a compute capability"},
        BadText{"MYNAH_FAKE_CARDS", "cc=8.x", "a compute capability"},
        BadText{"MYNAH_FAKE_CARDS", "cc=8.10", "a compute capability"},
        BadText{"MYNAH_FAKE_CARDS", "memory=8GB", "MiB"},
        BadText{"MYNAH_FAKE_CARDS", "memory=0", "MiB"},
        BadText{"MYNAH_FAKE_CARDS", "memory=99999999999", "MiB"},
        BadText{"MYNAH_FAKE_CARDS", "memory=100,free=101", "no more free than the card's 100 MiB"},
        BadText{"MYNAH_FAKE_CARDS", "free=-1", "MiB"},
        BadText{"MYNAH_FAKE_CARDS", "uuid=256", "a byte"},
        BadText{"MYNAH_FAKE_CARDS", "uuid=0xfff", "a byte"},
        BadText{"MYNAH_FAKE_FAILURES", "cuLaunchKernel", "FUNCTION:WHAT@N"},
        BadText{"MYNAH_FAKE_FAILURES", "cuLaunchKernel:719", "FUNCTION:WHAT@N"},
        BadText{"MYNAH_FAKE_FAILURES", "cuInit:1@1,", "FUNCTION:WHAT@N"},
        BadText{"MYNAH_FAKE_FAILURES", "cuLaunch:719@1", "a function of the driver"},
        BadText{"MYNAH_FAKE_FAILURES", "cuMemAlloc_v2:2@1", "a function of the driver"},
        BadText{"MYNAH_FAKE_FAILURES", "cuGetErrorName:1@1", "a function of the driver"},
        BadText{"MYNAH_FAKE_FAILURES", "cuInit:0@1", "the number of a result"},
        BadText{"MYNAH_FAKE_FAILURES", "cuInit:1000@1", "the number of a result"},
        BadText{"MYNAH_FAKE_FAILURES", "cuInit:explode@1", "the number of a result"},
        BadText{"MYNAH_FAKE_FAILURES", "cuMemcpyHtoDAsync:nan@1", "that of cuMemcpyDtoHAsync"},
        BadText{"MYNAH_FAKE_FAILURES", "cuInit:1@0", "which call it is"},
        BadText{"MYNAH_FAKE_FAILURES", "cuInit:1@one", "which call it is"},
        BadText{"MYNAH_FAKE_FAILURES", "cuInit:hang@1:kills", "which call it is"},
        BadText{"MYNAH_FAKE_FAILURES", "cuInit:1@2,cuInit:2@2", "one failure of a call"},
        BadText{"MYNAH_FAKE_VERSION", "CUDA 12", "a version as cuDriverGetVersion counts"},
        BadText{"MYNAH_FAKE_VERSION", "12", "a version as cuDriverGetVersion counts"}));

}  // namespace
}  // namespace mynah::gpu::fake
