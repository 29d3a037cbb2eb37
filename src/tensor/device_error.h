// The one exception of mynah: a device that failed in the middle of a computation.
#pragma once

#include <exception>

#include "base/result.h"

namespace mynah {

// Thrown only by backends and by tensor allocation; caught only where a session runs a step
// (speech/), which returns it as a Result.
class DeviceError : public std::exception {
 public:
  explicit DeviceError(Error error) : error_(std::move(error)) {}

  [[nodiscard]] const Error& error() const { return error_; }

  [[nodiscard]] const char* what() const noexcept override { return error_.message.c_str(); }

 private:
  Error error_;
};

}  // namespace mynah
