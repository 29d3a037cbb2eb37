// What cards have free, as a process that goes on sees it.
#include <algorithm>
#include <chrono>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include "gpu/fake_driver/loaded_fake.h"
#include "gpu/fake_nvml/loaded_nvml.h"
#include "place/kinds/kinds.h"
#include "place/made_up_machine.h"
#include "place/state/placement_state.h"

namespace mynah::place {
namespace {

using gpu::fake::LoadedFake;
using gpu::fake::LoadedNvml;

constexpr uint64_t kGigabyte = uint64_t{1} << 30;

class FreeMemory : public ::testing::Test {
 protected:
  FreeMemory() {
    machine_.add_card("0000:01:00.0", "GPU-10101010-1010-1010-1010-101010101010");
    ::unsetenv("MYNAH_WORKER_MANNER");
  }

  [[nodiscard]] PlacerOptions options() const {
    PlacerOptions options;
    options.discovery.gpus.root = machine_.root.path();
    options.discovery.gpus.driver = driver_.search();
    options.discovery.nvml = nvml_.search();
    options.worker_program = MYNAH_TEST_WORKER;
    return options;
  }

  static uint64_t free_bytes(PlacementState& state) {
    const auto all = state.planner().memory(true);
    const auto card = std::ranges::find(all, "cuda:0", &DeviceMemory::device);
    return card == all.end() ? 0 : card->free_bytes;
  }

  // Whether that is what is free, within a minute: it is not asked for all the time.
  static bool becomes(PlacementState& state, uint64_t bytes) {
    const auto until = std::chrono::steady_clock::now() + std::chrono::minutes(1);
    while (free_bytes(state) != bytes && std::chrono::steady_clock::now() < until) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    return free_bytes(state) == bytes;
  }

  test::MadeUpMachine machine_;
  LoadedFake driver_{12000};
  LoadedNvml nvml_;
};

TEST_F(FreeMemory, IsThatOfNowAndNotOfTheStart) {
  PlacementState state(options());
  EXPECT_EQ(free_bytes(state), 7 * kGigabyte);
  nvml_->cards[0].memory.free = 2 * kGigabyte;
  EXPECT_TRUE(becomes(state, 2 * kGigabyte));
  nvml_->cards[0].memory.free = 6 * kGigabyte;
  EXPECT_TRUE(becomes(state, 6 * kGigabyte));
  // A card that does not answer any more is not forgotten.
  nvml_->failures["nvmlInit_v2"] = gpu::NVML_ERROR_DRIVER_NOT_LOADED;
  nvml_->cards[0].memory.free = kGigabyte;
  std::this_thread::sleep_for(std::chrono::milliseconds(1100));
  EXPECT_EQ(free_bytes(state), 6 * kGigabyte);
}

TEST_F(FreeMemory, WhatOurOwnWorkersHoldIsOurs) {
  PlacementState state(options());
  const auto worker = state.openings().worker_for(
      {.group = kVadGroup}, {{kVadStage, {.device = "cuda:0", .storage = {}}}});
  ASSERT_TRUE(worker) << worker.error().message;
  EXPECT_EQ(free_bytes(state), 7 * kGigabyte);
  nvml_->cards[0].memory.free = 2 * kGigabyte;
  nvml_->cards[0].processes = {
      {.pid = static_cast<unsigned>((*worker)->pid()), .bytes = 3 * kGigabyte},
      {.pid = 1, .bytes = kGigabyte}};
  EXPECT_TRUE(becomes(state, 5 * kGigabyte));
}

}  // namespace
}  // namespace mynah::place
