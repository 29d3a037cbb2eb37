// DriverAsker: NVIDIA's driver and NVML, asked in a process of their own. Starting a driver that is
// stuck in the kernel may never come back, and mynah has to.
#pragma once

#include <chrono>
#include <expected>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "gpu/absence.h"
#include "gpu/nvml.h"
#include "place/workers/driver_answer.h"

namespace mynah::place {

class WorkerLane;

// How long a driver may take to start: one that has to wake several cards, each without
// nvidia-persistenced, takes some seconds a card.
inline constexpr std::chrono::milliseconds kDriverStarts{30000};

class DriverAsker {
 public:
  // `worker_program` is mynah itself; "": asks in this process.
  explicit DriverAsker(std::string worker_program) : program_(std::move(worker_program)) {}

  // Starts the driver (cuInit) and lists its devices, or says why there is none.
  [[nodiscard]] std::expected<DriverAnswer, gpu::Absence> devices(const gpu::GpuSearch& search);

  // What NVML knows of the cards at these addresses. Environment where it cannot be asked.
  [[nodiscard]] Result<gpu::NvmlFacts> cards(const gpu::NvmlSearch& search,
                                             std::span<const std::string> addresses);

 private:
  Result<std::shared_ptr<WorkerLane>> worker();

  std::string program_;
  std::shared_ptr<WorkerLane> worker_;  // once it was needed
};

// The same in the process that calls.
[[nodiscard]] std::expected<DriverAnswer, gpu::Absence> ask_driver(const gpu::GpuSearch& search);
[[nodiscard]] Result<gpu::NvmlFacts> ask_nvml(const gpu::NvmlSearch& search,
                                              std::span<const std::string> addresses);

}  // namespace mynah::place
