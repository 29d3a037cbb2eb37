// What the numbers mean that the CUDA driver answers, and what then still works.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "gpu/driver_types.h"

namespace mynah::gpu {

// How much a failed call takes with it.
enum class ErrorScope {
  Call,     // nothing else: what was there before goes on working
  Context,  // the context: every later call fails likewise, and its memory is lost
  Device,   // the device: it is gone or cannot be used by this process
};

// "call", "context", "device".
[[nodiscard]] std::string_view name(ErrorScope scope);

// One result explained.
struct DriverError {
  CUresult result = CUDA_SUCCESS;
  std::string_view name;     // "CUDA_ERROR_OUT_OF_MEMORY"; empty: a number that mynah does not know
  std::string_view meaning;  // a clause: "the device has not enough free memory"
  std::string_view remedy;   // what helps, as an imperative; never empty
  ErrorScope scope = ErrorScope::Call;
  ErrorCode code = ErrorCode::Device;
};

// Never fails: a number that is not in the table, as a newer driver may answer, is taken for the
// death of the context, since that is what is safe to assume.
[[nodiscard]] DriverError explain(CUresult result);

// The message of driver_failure() without the remedy.
[[nodiscard]] std::string failure_reason(CUresult result, std::string_view attempted,
                                         int driver_version);

// The Error for a failed call. `attempted` says what was being done; `driver_version` is
// Driver::version(), 0 where it is not known. "copying 4096 bytes to cuda:0:
// CUDA_ERROR_ILLEGAL_ADDRESS (700) of driver R550 (CUDA 12.4): MEANING; REMEDY".
[[nodiscard]] Error driver_failure(CUresult result, std::string_view attempted, int driver_version);

}  // namespace mynah::gpu
