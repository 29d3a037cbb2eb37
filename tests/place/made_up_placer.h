// Options of a placer on a made-up machine: no card but the simulated one, and a test's workers.
#pragma once

#include <string>
#include <utility>

#include "place/kinds/kinds.h"
#include "place/made_up_machine.h"
#include "place/state/placement_state.h"

namespace mynah::place::test {

inline PlacerOptions placer_options(const mynah::test::MadeUpMachine& machine,
                                    const std::string& devices) {
  PlacerOptions options;
  options.request = parse_device_request(devices).value();
  options.discovery.gpus.root = machine.root.path();
  options.discovery.gpus.driver = {.file = {}, .places = {machine.root / "libcuda.so.1"}};
  options.discovery.nvml = {.file = {}, .places = {machine.root / "libnvidia-ml.so.1"}};
  options.discovery.build = "test";
  options.worker_program = MYNAH_TEST_WORKER;
  options.cache_folder = machine.root / "cache";
  return options;
}

// Keeps that a device was right with a Whisper, and quick, though nobody tried it. `bytes`: what
// each of its stages takes there.
inline void keep_proof(PlacementState& state, const WindowsFile& file, const StageDevice& where,
                       uint64_t bytes = 1) {
  Proof proof{.measurements = {}, .made_at = 1, .last_failure = 0};
  for (const Stage stage : {kSttEncoder, kSttDecoder}) {
    Measurement measured;
    measured.stage = stage;
    measured.device = where.device;
    measured.storage = where.storage;
    measured.passed = true;
    measured.ms_per_unit = 1e-6;
    measured.bytes = bytes;
    proof.measurements.push_back(std::move(measured));
  }
  state.context().prover().store().keep(state.context().identity(where.device), file, where.storage,
                                        proof);
}

}  // namespace mynah::place::test
