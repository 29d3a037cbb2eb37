// What the environment says of a fake driver that no test can reach: one that is a file, opened in
// a program and in those that it starts (tests/cuda/simulated_driver).
#pragma once

#include <functional>
#include <vector>

#include "base/result.h"
#include "fake_cuda.h"

namespace mynah::gpu::fake {

struct Steering {
  FakeMachine machine;
  std::vector<FakeFailure> failures;  // in the order in which to give them to FakeCuda::fail
};

// Reads what `value` answers for these names (null: not set; empty is as good):
// - MYNAH_FAKE_CARDS: cards with ';' between, fields of a card with ',' between: name=TEXT,
//   cc=8.9 (compute capability), memory=MIB, free=MIB (others hold the rest), uuid=BYTE (0 to 255,
//   or 0x and two digits), mode=exclusive (one process at a time). What is not named is as FakeCard
//   has it. "none": there is no card.
// - MYNAH_FAKE_FAILURES: failures with ',' between: FUNCTION:WHAT@N, of the Nth call of the
//   function from the start, by its name without suffix. WHAT: the result's number, with ":kills"
//   at the end where the context is lost by it; or hang, crash, nan, wrong (FakeFault), of which
//   the last two are cuMemcpyDtoHAsync's.
// - MYNAH_FAKE_VERSION: what cuDriverGetVersion says. The library's functions stay as they are.
// - MYNAH_FAKE_MEMORY_FILE: FakeMachine::memory_file.
// Errors: InvalidInput, with the name, what is wrong and what would do.
[[nodiscard]] Result<Steering> read_steering(
    const std::function<const char*(const char* name)>& value);

}  // namespace mynah::gpu::fake
