// DriverProcessor: a card behind NVIDIA's driver.
#pragma once

#include <memory>

#include "backend/cuda/cuda_backend.h"
#include "backend/cuda/processor.h"
#include "base/result.h"
#include "gpu/devices.h"

namespace mynah::cuda {

// Opens a card: its primary context, which it shares with whoever else uses the card in this
// process, and a stream. An error names the driver's number, what it means and what helps.
//
// After an error that kills the context or the card every call throws that error again, and
// nothing reaches the driver any more but what frees.
Result<std::unique_ptr<Processor>> open_driver_processor(std::shared_ptr<const gpu::Driver> driver,
                                                         const gpu::GpuDevice& card,
                                                         const CudaOptions& options);

}  // namespace mynah::cuda
