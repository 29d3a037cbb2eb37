// Inputs of plans, written shortly.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "place/plans/plan.h"

namespace mynah::place::test {

inline constexpr uint64_t kMegabyte = 1'000'000;

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

}  // namespace mynah::place::test
