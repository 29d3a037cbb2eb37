// The names of errors' codes, as JSON and the documents have them, and which are the user's slips,
// and what a run ends with in which some recordings failed.
#pragma once

#include <algorithm>
#include <array>
#include <span>
#include <string_view>

#include "base/result.h"
#include "tensor/device_failure.h"

namespace mynah::cli {

struct ErrorName {
  ErrorCode code;
  std::string_view name;
  std::string_view meaning;  // for the documents
};

inline constexpr std::array kErrorNames = {
    ErrorName{ErrorCode::InvalidInput, "invalid_input",
              "A file, a model or a value is not what it should be."},
    ErrorName{ErrorCode::NotFound, "not_found", "A path or a name does not exist."},
    ErrorName{ErrorCode::Unsupported, "unsupported",
              "What is asked for makes sense, but mynah does not do it."},
    ErrorName{ErrorCode::OutOfMemory, "out_of_memory", "Memory of the machine or of a card."},
    ErrorName{ErrorCode::Device, "device", "A processor is not there, cannot be used, or failed."},
    ErrorName{ErrorCode::Io, "io", "Reading or writing failed."},
    ErrorName{ErrorCode::Cancelled, "cancelled", "Stopped by a signal or a deadline."},
    ErrorName{ErrorCode::Busy, "busy", "Too much is being done already."},
    ErrorName{ErrorCode::Environment, "environment",
              "Something that should be installed, pulled or reachable is not."},
    ErrorName{ErrorCode::Usage, "usage", "The command line or the configuration."}};

[[nodiscard]] constexpr std::string_view error_code_name(ErrorCode code) {
  for (const ErrorName& row : kErrorNames) {
    if (row.code == code) {
      return row.name;
    }
  }
  return "error";
}

// An error of a value that the user gave, which is a slip of the command line: a voice that is not
// there, a number out of range.
[[nodiscard]] inline Error as_usage(Error error) {
  if (error.code == ErrorCode::NotFound || error.code == ErrorCode::InvalidInput) {
    error.code = ErrorCode::Usage;
  }
  return error;
}

// The exit code of a run of so many recordings, of which these failed: of one that error's; of
// several 1, but 3 where a device was the cause, since another one may do all that is missing.
[[nodiscard]] constexpr int exit_code_of(std::span<const ErrorCode> failures, size_t recordings) {
  if (failures.empty()) {
    return 0;
  }
  if (recordings == 1) {
    return exit_code(failures.front());
  }
  return std::ranges::any_of(failures, is_of_device) ? exit_code(ErrorCode::Device) : 1;
}

}  // namespace mynah::cli
