// What a worker makes of requests that nobody should send.
#include "place/workers/stage_host.h"

#include <cstddef>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "place/made_up_values.h"

namespace mynah::place {
namespace {

std::vector<std::byte> settings_with(const std::string& driver) {
  DeviceSettings settings;
  settings.cuda_driver = driver;
  return test::wire_bytes(settings, std::vector<Fault>());
}

TEST(StageHost, SettingsThatCannotBeReadLeaveThoseThatWere) {
  Pulse pulse;
  DeviceThreads threads;
  StageHost host(pulse, threads);
  RequestStops stops;
  ASSERT_TRUE(host.handle(Ask::Settings, settings_with("/first/libcuda.so.1"), stops));
  std::vector<std::byte> damaged = settings_with("/second/libcuda.so.1");
  damaged.push_back({});
  EXPECT_FALSE(host.handle(Ask::Settings, damaged, stops));
  const auto answer = host.handle(Ask::Check, test::wire_bytes(std::string("cuda:0")), stops);
  ASSERT_FALSE(answer);
  EXPECT_THAT(answer.error().message, ::testing::HasSubstr("/first/libcuda.so.1"));
}

}  // namespace
}  // namespace mynah::place
