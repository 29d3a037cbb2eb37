// The fields of what is asked of a driver in another process (place/wire/wire.h).
#pragma once

#include "gpu/absence.h"
#include "gpu/devices.h"
#include "gpu/nvml.h"
#include "place/wire/wire_types.h"
#include "place/workers/driver_answer.h"

namespace mynah::place {

template <>
inline constexpr size_t kWireValues<gpu::CUcomputemode> =
    static_cast<size_t>(gpu::CU_COMPUTEMODE_EXCLUSIVE_PROCESS) + 1;
// NVIDIA counts on to 999, which is "unknown"; newer versions may have more between.
template <>
inline constexpr size_t kWireValues<gpu::NvmlResult> = 1000;

// What asking a driver gives: one of the two.
struct DriverOutcome {
  std::optional<DriverAnswer> answer;
  gpu::Absence absence;
};

template <class Archive>
void wire(Archive& a, gpu::DriverSearch& v) {
  a(v.file, v.places);
}

template <class Archive>
void wire(Archive& a, gpu::GpuSearch& v) {
  a(v.driver, v.visible_devices, v.root);
}

template <class Archive>
void wire(Archive& a, gpu::NvmlSearch& v) {
  a(v.file, v.places);
}

template <class Archive>
void wire(Archive& a, gpu::GpuDevice& v) {
  a(v.handle, v.index, v.name, v.uuid, v.pci_bus_id, v.compute_major, v.compute_minor,
    v.multiprocessors, v.memory_bytes, v.shared_bytes_per_block, v.shared_bytes_per_multiprocessor,
    v.l2_bytes, v.memory_clock_khz, v.memory_bus_bits, v.integrated, v.mig, v.memory_pools,
    v.launch_timeout, v.compute_mode);
}

template <class Archive>
void wire(Archive& a, DriverAnswer& v) {
  a(v.version, v.release, v.path, v.devices);
}

template <class Archive>
void wire(Archive& a, gpu::Absence& v) {
  a(v.reason, v.remedy, v.code);
}

template <class Archive>
void wire(Archive& a, DriverOutcome& v) {
  a(v.answer, v.absence);
}

template <class Archive>
void wire(Archive& a, gpu::NvmlMemory& v) {
  a(v.total, v.free, v.used);
}

template <class Archive>
void wire(Archive& a, gpu::NvmlProcess& v) {
  a(v.pid, v.bytes);
}

template <class Archive>
void wire(Archive& a, gpu::NvmlSlice& v) {
  a(v.uuid, v.memory);
}

template <class Archive>
void wire(Archive& a, gpu::NvmlCard& v) {
  a(v.pci_bus_id, v.uuid, v.name, v.failure, v.memory, v.compute_major, v.compute_minor,
    v.compute_mode, v.divided, v.slices, v.processes);
}

template <class Archive>
void wire(Archive& a, gpu::NvmlFacts& v) {
  a(v.driver_release, v.cuda_version, v.cards);
}

}  // namespace mynah::place
