// Options of a placer on a made-up machine: no card but the simulated one, and a test's workers.
#pragma once

#include <string>

#include "place/made_up_machine.h"
#include "place/placement_state.h"

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

}  // namespace mynah::place::test
