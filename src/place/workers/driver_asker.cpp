#include "place/workers/driver_asker.h"

#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "place/workers/driver_wire.h"
#include "place/workers/worker_lane.h"

namespace mynah::place {
namespace {

constexpr std::chrono::milliseconds kNvmlAnswers{15000};

gpu::Absence stuck(const Error& error) {
  return {.reason =
              fmt::format("NVIDIA's driver did not answer when it was started: {}", error.message),
          .remedy = "look for NVRM and Xid in the kernel's log (dmesg), and restart the machine",
          .code = ErrorCode::Environment};
}

}  // namespace

bool is_possible(const DriverAnswer& answer) {
  constexpr size_t kMostDevices = 256;
  const auto is_device = [](const gpu::GpuDevice& device) {
    const int least =
        std::min({device.index, device.compute_major, device.compute_minor, device.multiprocessors,
                  device.shared_bytes_per_block, device.shared_bytes_per_multiprocessor,
                  device.l2_bytes, device.memory_clock_khz, device.memory_bus_bits});
    return least >= 0 && static_cast<size_t>(device.index) < kMostDevices;
  };
  return answer.version >= 0 && !answer.devices.empty() && answer.devices.size() <= kMostDevices &&
         std::ranges::all_of(answer.devices, is_device);
}

std::expected<DriverAnswer, gpu::Absence> ask_driver(const gpu::GpuSearch& search) {
  auto gpus = gpu::look_for_gpus(search);
  if (!gpus) {
    return std::unexpected(std::move(gpus).error());
  }
  return DriverAnswer{.version = gpus->driver->version(),
                      .release = gpus->driver->release(),
                      .path = gpus->driver->path(),
                      .devices = std::move(gpus->devices)};
}

Result<gpu::NvmlFacts> ask_nvml(const gpu::NvmlSearch& search,
                                std::span<const std::string> addresses) {
  MYNAH_TRY(const auto nvml, gpu::Nvml::open(search));
  return nvml->read(addresses);
}

Result<std::shared_ptr<WorkerLane>> DriverAsker::worker() {
  if (worker_ == nullptr) {
    MYNAH_TRY(worker_,
              WorkerLane::start(
                  {.program = program_, .device = "the driver", .settings = {}, .faults = {}}));
  }
  return worker_;
}

std::expected<DriverAnswer, gpu::Absence> DriverAsker::devices(const gpu::GpuSearch& search) {
  if (program_.empty()) {
    return ask_driver(search);
  }
  try {
    const auto asked = worker();
    if (!asked) {
      return std::unexpected(
          gpu::Absence{.reason = asked.error().message, .remedy = {}, .code = asked.error().code});
    }
    auto outcome = (*asked)->ask_for<DriverOutcome>(Ask::Driver, kDriverStarts, {}, search);
    if (!outcome) {
      return std::unexpected(stuck(outcome.error()));
    }
    if (!outcome->answer) {
      return std::unexpected(std::move(outcome->absence));
    }
    if (!is_possible(*outcome->answer)) {
      (*asked)->refuse_answer();
    }
    return *std::move(outcome->answer);
  } catch (const DeviceError& error) {
    worker_.reset();
    return std::unexpected(stuck(error.error()));
  }
}

Result<gpu::NvmlFacts> DriverAsker::cards(const gpu::NvmlSearch& search,
                                          std::span<const std::string> addresses) {
  if (program_.empty()) {
    return ask_nvml(search, addresses);
  }
  try {
    MYNAH_TRY(const auto asked, worker());
    return asked->ask_for<gpu::NvmlFacts>(
        Ask::Cards, kNvmlAnswers, {}, search,
        std::vector<std::string>(addresses.begin(), addresses.end()));
  } catch (const DeviceError& error) {
    worker_.reset();
    return fail(ErrorCode::Environment, "NVML did not answer: " + error.error().message);
  }
}

}  // namespace mynah::place
