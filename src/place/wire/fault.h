// Faults on purpose: MYNAH_FAULT, for tests of what happens when a device fails.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "place/terms/stage.h"
#include "tensor/fault_watch.h"

namespace mynah::place {

// The n-th time that a stage is called in a worker process (a batch of windows, a clause, a piece
// of a recording), it fails so.
struct Fault {
  Stage stage;
  FaultKind kind = FaultKind::Crash;
  uint64_t call = 1;

  bool operator==(const Fault&) const = default;
};

// "STAGE:KIND@N", several with commas between them; "": none. Usage for anything else.
[[nodiscard]] Result<std::vector<Fault>> parse_faults(std::string_view text);

}  // namespace mynah::place
