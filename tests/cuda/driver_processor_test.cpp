// A card behind a driver that fails on command: order, leaks, errors at every call, old drivers.
#include "backend/cuda/driver/driver_processor.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <numeric>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backend/cuda/device_pool.h"
#include "backend/cuda/programs/programs.h"
#include "cuda/driver_session.h"
#include "gpu/driver_errors.h"
#include "temporary_folder.h"
#include "tensor/device_error.h"

namespace mynah::cuda {
namespace {

using gpu::fake::FakeCard;
using gpu::fake::FakeLaunch;
using gpu::fake::LoadedFake;
using test::TemporaryFolder;
using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;

TEST(DriverProcessor, BringsBytesThereAndBackByWayOfAKernel) {
  const LoadedFake fake;
  fake->on_launch("mynah_copy_1", run_copy);
  const auto processor = opened(fake);
  EXPECT_EQ(processor->device().str(), "cuda:0");
  EXPECT_EQ(processor->level(), 80);
  EXPECT_EQ(processor->description(),
            "Fake RTX, compute capability 8.9, programs of level 80, driver R580 (CUDA 13.0)");
  // One byte, whole and broken parts of what is staged at once.
  for (const size_t count : {1UL, 1000UL, 1UL << 20, (1UL << 20) + 1, (7UL << 19) + 5}) {
    const std::vector<std::byte> bytes = numbered(count);
    EXPECT_EQ(round_trip(*processor, bytes), bytes) << count;
  }
}

// The source may change as soon as upload() is back, however late the card copies.
TEST(DriverProcessor, KeepsWhatWasUploaded) {
  const LoadedFake fake;
  const auto processor = opened(fake);
  constexpr size_t kPart = 3000;
  constexpr size_t kParts = 2000;  // several times what is staged
  std::byte* const memory = processor->allocate(kPart * kParts);
  std::vector<std::byte> wanted;
  for (size_t i = 0; i < kParts; ++i) {
    std::vector<std::byte> part(kPart, static_cast<std::byte>(i));
    wanted.insert(wanted.end(), part.begin(), part.end());
    processor->upload(part.data(), memory + i * kPart, kPart);
    std::ranges::fill(part, std::byte{0xEE});
  }
  std::vector<std::byte> back(wanted.size());
  processor->download(memory, back.data(), back.size());
  EXPECT_EQ(back, wanted);
  processor->free(memory);
}

TEST(DriverProcessor, LaunchesWhatItIsTold) {
  const LoadedFake fake;
  std::vector<FakeLaunch> launches;
  fake->on_launch("mynah_layer_norm",
                  [&launches](const FakeLaunch& launch) { launches.push_back(launch); });
  const auto processor = opened(fake);
  const simt::NormArgs args{.x = {.data = nullptr, .stride = 5},
                            .gamma = nullptr,
                            .beta = nullptr,
                            .out = {.data = nullptr, .stride = 6},
                            .columns = 7,
                            .epsilon = 0.5F};
  processor->launch({.kernel = KernelId::layer_norm,
                     .grid = {.x = 3, .y = 2, .z = 4},
                     .threads = 64,
                     .shared_bytes = 60 << 10,
                     .args = &args,
                     .args_bytes = sizeof(args)});
  processor->synchronize();
  ASSERT_EQ(launches.size(), 1U);
  EXPECT_EQ(launches[0].grid, (std::array<unsigned, 3>{3, 2, 4}));
  EXPECT_EQ(launches[0].block, (std::array<unsigned, 3>{64, 1, 1}));
  EXPECT_EQ(launches[0].dynamic_shared_bytes, 60U << 10);
  const auto given = launches[0].parameter<simt::NormArgs>(0);
  EXPECT_EQ(given.x.stride, 5);
  EXPECT_EQ(given.out.stride, 6);
  EXPECT_EQ(given.columns, 7);
  EXPECT_EQ(given.epsilon, 0.5F);
}

// Every call of a session fails in turn: an error with the driver's own name for it, and nothing
// is left behind.
TEST(DriverProcessor, SurvivesAFailureOfEachCall) {
  for (const gpu::CUresult result :
       {gpu::CUDA_ERROR_OUT_OF_MEMORY, gpu::CUDA_ERROR_ILLEGAL_ADDRESS, gpu::CUDA_ERROR_UNKNOWN}) {
    std::vector<std::string> sequence;
    {
      const LoadedFake fake;
      fake->on_launch("mynah_copy_1", run_copy);
      const auto processor = opened(fake);
      fake->clear_calls();
      round_trip(*processor, numbered(3 << 20));
      sequence = functions(fake);
    }
    ASSERT_GT(sequence.size(), 12U);
    std::map<std::string, int> seen;
    for (const std::string& function : sequence) {
      const int nth = ++seen[function];
      if (nth > 3 || function.starts_with("cuMemFree") || function == "cuLinkDestroy") {
        continue;  // what frees has nobody to tell
      }
      const LoadedFake fake;
      fake->on_launch("mynah_copy_1", run_copy);
      auto processor = opened(fake);
      fake->fail({.function = function, .result = result, .nth = nth});
      try {
        round_trip(*processor, numbered(3 << 20));
        ADD_FAILURE() << function << ", call " << nth << ": went unnoticed";
      } catch (const DeviceError& error) {
        EXPECT_THAT(error.error().message,
                    AllOf(HasSubstr(std::string(gpu::explain(result).name)), HasSubstr("cuda:0")))
            << function;
      }
      processor.reset();
      // What a dead context had is gone with it.
      if (gpu::explain(result).scope != gpu::ErrorScope::Call) {
        [[maybe_unused]] const auto gone = fake->take_problems();
      }
    }
  }
}

TEST(DriverProcessor, RefusesToOpenWhereACallFails) {
  std::vector<std::string> sequence;
  {
    const LoadedFake fake;
    const auto processor = opened(fake);
    sequence = functions(fake);
  }
  const auto first = std::ranges::find(sequence, "cuDevicePrimaryCtxRetain");
  ASSERT_NE(first, sequence.end());
  std::map<std::string, int> seen;
  for (auto at = first; at != sequence.end(); ++at) {
    const int nth = ++seen[*at];
    const LoadedFake fake;
    fake->fail({.function = *at, .result = gpu::CUDA_ERROR_OUT_OF_MEMORY, .nth = nth});
    const auto processor = open(fake);
    ASSERT_FALSE(processor.has_value()) << *at;
    EXPECT_EQ(processor.error().code, ErrorCode::OutOfMemory);
  }
}

TEST(DriverProcessor, SaysTheSameAgainOnceTheContextIsDead) {
  const LoadedFake fake;
  auto processor = opened(fake);
  std::byte* const memory = processor->allocate(256);
  const simt::CopyArgs args = copy_of(memory, memory, 256);
  fake->fail({.function = "cuLaunchKernel", .result = gpu::CUDA_ERROR_ILLEGAL_ADDRESS});
  std::string first;
  try {
    processor->launch(launch_of(args));
  } catch (const DeviceError& error) {
    first = error.error().message;
  }
  EXPECT_THAT(first, HasSubstr("CUDA_ERROR_ILLEGAL_ADDRESS (700)"));
  fake->clear_calls();
  const auto expect_dead = [&first](const auto& call) {
    try {
      call();
      ADD_FAILURE() << "a dead context answered";
    } catch (const DeviceError& error) {
      EXPECT_EQ(error.error().message, first);
    }
  };
  int number = 0;
  expect_dead([&] { processor->allocate(256); });
  expect_dead([&] { processor->upload(&number, memory, sizeof(number)); });
  expect_dead([&] { processor->download(memory, &number, sizeof(number)); });
  expect_dead([&] { processor->launch(launch_of(args)); });
  expect_dead([&] { processor->synchronize(); });
  processor->free(memory);
  EXPECT_THAT(functions(fake), testing::IsEmpty());
  processor.reset();
  [[maybe_unused]] const auto gone = fake->take_problems();  // the memory, with the context
}

TEST(DriverProcessor, UsesAnOldDriversPlainMemory) {
  for (const int version : {11000, 11020}) {
    const LoadedFake fake(version);
    fake->on_launch("mynah_copy_1", run_copy);
    {
      const auto processor = opened(fake);
      EXPECT_EQ(round_trip(*processor, numbered(1000)), numbered(1000));
    }
    const bool pools = version >= 11020;
    EXPECT_EQ(std::ranges::count(functions(fake), "cuMemAllocAsync") > 0, pools) << version;
    EXPECT_EQ(std::ranges::count(functions(fake), "cuMemAlloc") > 0, !pools) << version;
  }
}

TEST(DriverProcessor, RefusesACardThatIsTooOld) {
  const LoadedFake fake(
      13000,
      {.cards = {FakeCard{.name = "GeForce GTX 980", .compute_major = 5, .compute_minor = 2}}});
  const auto processor = open(fake);
  ASSERT_FALSE(processor.has_value());
  EXPECT_EQ(processor.error().code, ErrorCode::Device);
  EXPECT_THAT(processor.error().message,
              HasSubstr("cuda:0 (GeForce GTX 980) has compute capability 5.2: mynah's kernels need "
                        "6.0 or newer (Pascal)"));
}

TEST(DriverProcessor, RunsTheProgramsOfTheCardsLevel) {
  const auto level_of = [](int major, int minor) {
    const LoadedFake fake(13000,
                          {.cards = {FakeCard{.compute_major = major, .compute_minor = minor}}});
    return opened(fake)->level();
  };
  EXPECT_EQ(level_of(6, 0), 60);
  EXPECT_EQ(level_of(6, 1), 61);
  EXPECT_EQ(level_of(7, 0), 61);
  EXPECT_EQ(level_of(7, 5), 75);
  EXPECT_EQ(level_of(12, 0), 80);
}

// Opens, launches once, and says whether the driver had to compile.
bool compiles(const LoadedFake& fake, const std::string& images) {
  fake->on_launch("mynah_copy_1", run_copy);
  const auto processor = opened(fake, images);
  fake->clear_calls();
  EXPECT_EQ(round_trip(*processor, numbered(100)), numbered(100));
  return std::ranges::count(functions(fake), "cuLinkComplete") > 0;
}

TEST(ImageCache, SparesTheDriverItsCompilerFromTheSecondRunOn) {
  const TemporaryFolder folder;
  const std::string images = folder / "images";
  EXPECT_TRUE(compiles(LoadedFake(), images));
  EXPECT_FALSE(compiles(LoadedFake(), images));
  // Another driver, another card: other images.
  EXPECT_TRUE(compiles(LoadedFake(12000), images));
  EXPECT_TRUE(compiles(LoadedFake(13000, {.cards = {FakeCard{.name = "Fake", .compute_major = 8}}}),
                       images));
  EXPECT_FALSE(compiles(LoadedFake(), images));
  EXPECT_TRUE(compiles(LoadedFake(), ""));
}

TEST(ImageCache, PassesOverWhatIsDamaged) {
  const TemporaryFolder folder;
  const std::string images = folder / "images";
  EXPECT_TRUE(compiles(LoadedFake(), images));
  const std::string path = std::filesystem::directory_iterator(images)->path();
  std::ifstream file(path, std::ios::binary);
  const std::string whole{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  const auto write = [&path](const std::string& bytes) {
    std::ofstream(path, std::ios::binary) << bytes;
  };
  for (const size_t at : {size_t{0}, size_t{9}, whole.size() / 2, whole.size() - 1}) {
    std::string damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ 1);
    write(damaged);
    EXPECT_TRUE(compiles(LoadedFake(), images)) << at;
    EXPECT_FALSE(compiles(LoadedFake(), images)) << at;  // and mends it
  }
  for (const size_t length : {size_t{0}, size_t{1}, whole.size() / 2, whole.size() - 1}) {
    write(whole.substr(0, length));
    EXPECT_TRUE(compiles(LoadedFake(), images)) << length;
  }
}

TEST(ImageCache, IsDoneWithoutWhereItCannotBeWritten) {
  const TemporaryFolder folder;
  std::ofstream(folder / "file") << "not a folder";
  EXPECT_TRUE(compiles(LoadedFake(), folder / "file"));
  EXPECT_TRUE(compiles(LoadedFake(), folder / "file"));
}

TEST(DevicePool, HandsOutAgainWhatCameBack) {
  const LoadedFake fake;
  const auto processor = opened(fake);
  DevicePool pool(*processor);
  {
    const BufferRef first = pool.allocate(1000);
  }
  const size_t held = pool.bytes_held();
  fake->clear_calls();
  for (int i = 0; i < 10; ++i) {
    const BufferRef again = pool.allocate(990);
    EXPECT_GE(again.get()->size(), 990U);
  }
  EXPECT_EQ(pool.bytes_held(), held);
  EXPECT_THAT(functions(fake), Not(Contains("cuMemAllocAsync")));
}

// Steps that are told addresses once (graph_step_runner.h) find them again.
TEST(DevicePool, HandsOutTheSameAddressesInWhateverOrderTheyCameBack) {
  const LoadedFake fake;
  const auto processor = opened(fake);
  DevicePool pool(*processor);
  constexpr size_t kBlocks = 5;
  const auto take = [&pool] {
    std::vector<BufferRef> blocks;
    blocks.reserve(kBlocks);
    for (size_t i = 0; i < kBlocks; ++i) {
      blocks.push_back(pool.allocate(1000));
    }
    return blocks;
  };
  const auto addresses = [](const std::vector<BufferRef>& blocks) {
    std::vector<const std::byte*> all;
    all.reserve(blocks.size());
    for (const BufferRef& block : blocks) {
      all.push_back(block.get()->data());
    }
    return all;
  };
  {
    const std::vector<BufferRef> first = take();
  }
  std::vector<BufferRef> blocks = take();
  const std::vector<const std::byte*> wanted = addresses(blocks);
  std::vector<size_t> order = {0, 1, 2, 3, 4};
  do {
    for (const size_t number : order) {
      blocks[number] = {};
    }
    blocks = take();
    ASSERT_EQ(addresses(blocks), wanted);
  } while (std::ranges::next_permutation(order).found);
}

TEST(DevicePool, KeepsAsMuchIdleAsItIsAllowed) {
  const LoadedFake fake;
  const auto processor = opened(fake);
  DevicePool pool(*processor);
  constexpr size_t kSize = 1 << 20;
  const BufferRef used = pool.allocate(4 * kSize);
  {
    const BufferRef first = pool.allocate(kSize);
  }
  const size_t held = pool.bytes_held();
  fake->clear_calls();
  pool.trim(kSize);
  EXPECT_EQ(pool.bytes_held(), held);
  EXPECT_THAT(functions(fake), testing::IsEmpty());
  pool.trim(kSize - 1);
  EXPECT_EQ(pool.bytes_held(), held - kSize);
  EXPECT_THAT(functions(fake), Contains("cuMemPoolTrimTo"));
}

TEST(DevicePool, GivesBackWhatIsIdleBeforeItSaysThatThereIsNoMore) {
  const LoadedFake fake(13000, {.cards = {FakeCard{.memory_bytes = 64 << 20}}});
  const auto processor = opened(fake);
  DevicePool pool(*processor);
  {
    const BufferRef first = pool.allocate(40 << 20);
  }
  {
    const BufferRef larger = pool.allocate(50 << 20);
  }
  const BufferRef kept = pool.allocate(40 << 20);
  try {
    const BufferRef too_much = pool.allocate(50 << 20);
    ADD_FAILURE() << "more memory than there is";
  } catch (const DeviceError& error) {
    EXPECT_EQ(error.error().code, ErrorCode::OutOfMemory);
  }
}

}  // namespace
}  // namespace mynah::cuda
