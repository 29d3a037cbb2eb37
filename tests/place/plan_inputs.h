// Inputs of plans, written shortly.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "place/kinds/kinds.h"
#include "place/plans/plan.h"

namespace mynah::place::test {

inline constexpr uint64_t kMegabyte = 1'000'000;

inline constexpr Stage kEncoder = kSttEncoder;
inline constexpr Stage kDecoder = kSttDecoder;

inline Measurement took(Stage stage, std::string device, std::optional<DType> storage, double ms,
                        uint64_t megabytes) {
  Measurement measurement;
  measurement.stage = stage;
  measurement.device = std::move(device);
  measurement.storage = storage;
  measurement.passed = true;
  measurement.ms_per_unit = ms;
  measurement.bytes = megabytes * kMegabyte;
  return measurement;
}

inline Measurement failed(Stage stage, std::string device, std::string failure) {
  Measurement measurement;
  measurement.stage = stage;
  measurement.device = std::move(device);
  measurement.failure = std::move(failure);
  return measurement;
}

inline DeviceMemory memory(std::string device, uint64_t free_megabytes) {
  return {.device = std::move(device),
          .total_bytes = 2 * free_megabytes * kMegabyte,
          .free_bytes = free_megabytes * kMegabyte,
          .headroom_bytes = 0};
}

inline DeviceRequest request(std::string_view text) {
  return parse_device_request(text).value();
}

inline std::vector<StageWish> wishes(const std::vector<Stage>& stages) {
  std::vector<StageWish> all;
  for (const Stage stage : stages) {
    all.push_back({.stage = stage, .storage = std::nullopt});
  }
  return all;
}

// A card and a processor, of which the card is several times as fast.
inline PlanInput card_and_cpu(std::string_view devices = "auto") {
  PlanInput input;
  input.request = request(devices);
  input.stages = wishes({kSttEncoder, kSttDecoder});
  input.devices = {memory("cpu", 8000), memory("cuda:0", 4000)};
  input.measurements = {took(kSttEncoder, "cpu", DType::I8, 30, 400),
                        took(kSttDecoder, "cpu", DType::I8, 22, 300),
                        took(kSttEncoder, "cuda:0", DType::F16, 2, 900),
                        took(kSttDecoder, "cuda:0", DType::F16, 4, 700)};
  return input;
}

inline Plan planned(const PlanInput& input) {
  auto plan = make_plan(input);
  EXPECT_TRUE(plan.has_value()) << plan.error().message;
  return plan ? *plan : Plan{.stages = {}, .batch = 0};
}

// "stt.encoder on cuda:0 as f16".
inline std::vector<std::string> placed(const Plan& plan) {
  std::vector<std::string> lines;
  for (const StagePlan& stage : plan.stages) {
    lines.push_back(std::string(stage_name(stage.stage)) + " on " + stage.device +
                    (stage.storage ? " as " + std::string(name(*stage.storage)) : ""));
  }
  return lines;
}

inline std::string refusal(const PlanInput& input) {
  const auto plan = make_plan(input);
  EXPECT_FALSE(plan.has_value());
  EXPECT_EQ(plan ? ErrorCode::Io : plan.error().code, ErrorCode::Device);
  return plan ? std::string() : plan.error().message;
}

inline std::string why_not(const StagePlan& stage, std::string_view device) {
  const auto other = std::ranges::find(stage.others, device, &OtherDevice::device);
  return other == stage.others.end() ? "" : other->why;
}

}  // namespace mynah::place::test
